"""Chromium without a window, driven by its DevTools protocol over a pipe: no driver, no port, no library."""

from __future__ import annotations

import fcntl
import json
import os
import select
import subprocess
import time
from contextlib import contextmanager

_SECONDS = 60
_FIRST_FREE = 10  # descriptors 3 and 4 are the protocol's; ours lie above them, so that none is written over


class Page:
    """One tab. `problems` are console errors and exceptions, `requests` the addresses it asked for."""

    def __init__(self, chromium, session):
        self._chromium = chromium
        self._session = session
        self.problems = []
        self.requests = []
        self._loaded = False

    def call(self, method, **parameters):
        return self._chromium.call(method, session=self._session, **parameters)

    def resize(self, width, height=900):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def open(self, address):
        """Go to an address and wait until all of it is loaded."""
        self.problems.clear()
        self.requests.clear()
        self._loaded = False
        self.call("Page.navigate", url=address)
        self._chromium.listen_until(lambda: self._loaded)

    def evaluate(self, expression):
        """Return a JavaScript expression's value; the page's own content policy does not bind it."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return told["result"].get("value")

    def hear(self, method, parameters):
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(parameters["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in {"error", "assert", "warning"}:
            self.problems.append(str(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in {"error", "warning"}:
            self.problems.append(parameters["entry"]["text"])


class Chromium:
    """A running browser."""

    def __init__(self, commands, answers):
        self._commands = commands
        self._answers = answers
        self._buffer = b""
        self._number = 0
        self._results = {}
        self._pages = {}

    def new_page(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        return page

    def call(self, method, *, session=None, **parameters):
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        self.listen_until(lambda: number in self._results)
        told = self._results.pop(number)
        assert "error" not in told, told
        return told["result"]

    def listen_until(self, is_done):
        end = time.monotonic() + _SECONDS
        while not is_done():
            self._take(self._next(end))

    def _next(self, end):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(self._answers, 1 << 20) if ready else b""
            if not piece:
                raise TimeoutError("Chromium said nothing more")
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _take(self, message):
        if "id" in message:
            self._results[message["id"]] = message
        elif message.get("sessionId") in self._pages:
            self._pages[message["sessionId"]].hear(message["method"], message["params"])


@contextmanager
def chromium(program, profile):
    """Start the browser with a profile of its own; end it afterwards."""
    command_end, commands = map(_above, os.pipe())
    answers, answer_end = map(_above, os.pipe())
    # Root, as which CI runs, gets no sandbox; the pages are our own.
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    options += ["--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe"]
    script = f'exec "$@" 3<&{command_end} 4>&{answer_end}'
    words = ["bash", "-c", script, "bash", program, *options, f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(
        words, pass_fds=(command_end, answer_end), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(command_end)
    os.close(answer_end)
    try:
        yield Chromium(commands, answers)
    finally:
        process.terminate()
        process.wait(timeout=_SECONDS)
        os.close(commands)
        os.close(answers)


def _above(descriptor):
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD, _FIRST_FREE)
    os.close(descriptor)
    return moved
