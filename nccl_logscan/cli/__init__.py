"""The command line: `nccl-logscan LOG...` scans; `events` makes a table, `rules` is of rules, `explain` of names."""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from nccl_logscan.cli.signals import Ended, ended_by_signals
from nccl_logscan.errors import LogscanError, Problem, RulebookError
from nccl_logscan.kept import save
from nccl_logscan.records import replace
from nccl_logscan.report.visible import harmless_to_runners, visible
from nccl_logscan.report.write import placed
from nccl_logscan.version import __version__

_DEFECT = 70
_NO_MEMORY = 71
_LITTLE = 1 << 30
"""Of a limit on the memory so few bytes make an error that is not understood one of memory."""
_PLACES = 5
"""Of what was written before an interrupt so many are named."""
_INTERRUPTS: dict[int, str] = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "ended by SIGTERM",
    signal.SIGHUP: "ended by SIGHUP",
}

# Imported when they are run: `rules` needs PyYAML and pydantic, and `--version` neither.
COMMANDS = {
    "scan": "nccl_logscan.cli.scan",
    "events": "nccl_logscan.cli.events",
    "lint": "nccl_logscan.cli.lint",
    "advise": "nccl_logscan.cli.advise",
    "explain": "nccl_logscan.cli.explain",
    "show": "nccl_logscan.cli.show",
    "demo": "nccl_logscan.cli.demo",
    "rules": "nccl_logscan.cli.rules",
    "train": "nccl_logscan.cli.train",
    "completion": "nccl_logscan.cli.completion",
}
COMPLETION = "_NCCL_LOGSCAN_COMPLETE"
"""The variable by which a shell asks Click for the words that may come next."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 healthy, 1 failure found, 2 usage, 3 input unreadable or nothing to judge, 4 rules, 5 output, 70 a defect of ours,
    71 too little memory, 128 and a signal's number where that ended it.
    """
    _print_anything()
    words = list(sys.argv[1:] if arguments is None else arguments)
    before = len(placed())
    try:
        with ended_by_signals():
            return _run(words)
    except KeyboardInterrupt as interrupt:
        number = interrupt.number if isinstance(interrupt, Ended) else signal.SIGINT
        tell(f"{_INTERRUPTS.get(number, 'ended')}; {_done(placed()[before:])}")
        return 128 + number
    except MemoryError:
        return _without_memory(placed()[before:])
    except LogscanError as error:
        for problem in error.problems if isinstance(error, RulebookError) else ():
            say(*_harmless(problem).render().split("\n"))
        tell(str(error), error.hint)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the one place that says a defect is ours
        if _has_little_memory():
            # Libraries that cannot allocate raise anything.
            return _without_memory(placed()[before:])
        return _defect(error)


def _run(words: list[str]) -> int:
    if words and words[0] not in COMMANDS and COMPLETION not in os.environ:
        from nccl_logscan.cli.plain import plain_scan  # noqa: PLC0415 - `--version` does not need it

        scan = plain_scan(words)
        if scan is not None:
            from nccl_logscan.cli.scanning import run_scan  # noqa: PLC0415 - nor do other commands need this

            return run_scan(
                scan.logs, outputs=scan.outputs, exit_zero=scan.exit_zero, verbose=scan.verbose, quiet=scan.quiet
            )
    from nccl_logscan.cli.commands import run_command  # noqa: PLC0415 - Click is dear

    return run_command(words)


def _print_anything() -> None:
    """Have characters that the terminal's encoding lacks replaced: a log may hold any."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def tell(message: str, hint: str | None = None) -> None:
    """Say what happened in one line and what to do in another; a name in them may hold anything."""
    say(f"error: {message}")
    if hint:
        say(f" help: {hint}")


def warn(message: str) -> None:
    """Say in one line what went wrong beside what was asked for, which was done."""
    say(f"warning: {message}")


def say(*lines: str) -> None:
    """Print lines on standard error; whatever they name, each stays one, and no terminal or CI runner obeys it."""
    if sys.stderr is not None:
        sys.stderr.write("".join(f"{harmless_to_runners(visible(line))}\n" for line in lines))
        sys.stderr.flush()


def _harmless(problem: Problem) -> Problem:
    """Return a problem each of whose texts is on one line, so that none begins a line of what is said of it."""
    return replace(problem, file=visible(problem.file), message=visible(problem.message))


def _without_memory(places: Sequence[str]) -> int:
    tell(f"the memory did not suffice; {_done(places)}", "give it more (ulimit -v), or scan fewer files at once")
    return _NO_MEMORY


def _has_little_memory() -> bool:
    from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit  # noqa: PLC0415 - for what seldom happens

    limit = getrlimit(RLIMIT_AS)[0]
    return limit != RLIM_INFINITY and limit < _LITTLE and not os.environ.get("NCCL_LOGSCAN_TRACEBACK")


def _done(places: Sequence[str]) -> str:
    if not places:
        return "nothing was written"
    return f"written before that: {', '.join(places[:_PLACES])}{' and others' if len(places) > _PLACES else ''}"


def _defect(error: Exception) -> int:
    if os.environ.get("NCCL_LOGSCAN_TRACEBACK"):
        raise error
    message = f"nccl-logscan {__version__} has a defect: {type(error).__name__}: {error}"
    tell(message, "run again with NCCL_LOGSCAN_TRACEBACK=1 and report what it prints")
    return _DEFECT


def entry_point() -> Any:
    """Run as the console script."""
    # A run makes many records and few cycles: looking for these as often as usual costs a fourteenth of a small scan.
    gc.set_threshold(100_000, 50, 100)
    code = main()
    save()
    if _nothing_waits_for_the_end():
        # To take two hundred modules apart costs a small scan an eighth of its time.
        os._exit(code)
    sys.exit(code)


def _nothing_waits_for_the_end() -> bool:
    """Whether all is written, no thread is to end, and no library, profiler or debugger wants to have the last word."""
    threading = sys.modules.get("threading")
    # A daemon may wait for standard input: to take that apart under it is a fatal error.
    has_threads = threading is not None and sum(not one.daemon for one in threading.enumerate()) > 1
    if has_threads or atexit._ncallbacks() or sys.getprofile() or sys.gettrace():
        return False
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True
