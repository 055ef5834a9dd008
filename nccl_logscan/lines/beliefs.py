"""Prefixes that mean something only in company: `3: `, `node2: `, `[5] `, `pod container ` and `[rank0]:`.

Nothing in the prefix itself says that a launcher wrote it: `3: ` may be srun's label or an item of a list, `node2: `
may be pdsh's or any word. So each source has its own beliefs. A prefix is believed at once if what stands behind it
could not stand in the middle of a line; else when it recurs in the lines around it as a launcher's would.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable
from functools import lru_cache

from nccl_logscan.expressions import deferred
from nccl_logscan.lines.prefixes import ANOTHERS, Peeled
from nccl_logscan.lines.stamps import STAMP
from nccl_logscan.lines.tear import NCCL_HEAD, length_of_rest
from nccl_logscan.position import Origin

_VALUES = 4096
"""How many hosts or pods of one source are remembered."""
_SHAPES = 8

# What begins a line and nothing else: it proves the prefix before it.
_LINE_START = deferred(
    r"\[(?:rank|default)\d{1,6}\]:|\[[IWEF](?:\d{3,4} \d\d:\d\d:\d\d\.\d+)? ?[\w./\-]+\.(?:cpp|hpp|h):\d+\] "
    r"|Traceback \(most recent call last\):|[IWE]\d{4} \d\d:\d\d:\d\d\.\d{1,9} |\[" + STAMP + r"|" + STAMP + r"[ ,]"
)

_LABEL = deferred(r"(?:P\d{1,4} )? *(\d{1,7}):(?: |$)")
_HYDRA = deferred(r"\[(\d{1,6})\](?: |$)(?!\[|-?\d+/)")
_RANK_WORD = deferred(r"[\[(]?(?i:(?:global[ _-]?)?rank|r)[ _=:#-]?(\d{1,6})(?:[\])]:? |[:>] | \| ?| - )")
_HOST = deferred(r"((?:\d{1,3}\.){3}\d{1,3}|[A-Za-z][\w\-]{0,62}(?:\.[\w\-]{1,62}){0,6}):(?: |$)")
_ADDRESS = deferred(r"(?:\d{1,3}\.){3}\d{1,3}")
_LOGGER = deferred(r"\[?(?!rank|default\d)([a-z_][\w.\-/]{0,60}(?::\d{1,6})?)(?:\]:?|:| -|(?= [A-Z\[])) ?")
# A line that is indented behind a name is another's; a value behind blanks is the name's own: `loss:   2.31`.
_ANOTHERS = deferred(rf"  +(?![-+.\d\[({{]|(?i:nan|inf|none|true|false|tensor)\b)\S|{ANOTHERS}")
_LOGGERS = 64
_STERN = deferred(r"([a-z0-9](?:[a-z0-9.]|-(?=[a-z0-9])){2,120}) ([a-z][a-z0-9-]{1,62}) ")

# Words before a colon that look like hosts to the eye of this program and are none.
_NO_HOSTS = frozenset(
    ("gpu", "gpu-", "rank", "rank-", "epoch", "epoch-", "step", "step-", "stage", "stage-", "phase", "phase-",
     "layer", "loss", "cuda", "iter", "iteration", "mlx", "mlx#_", "eth", "ib", "fold", "task", "block", "group",
     "model", "lr", "hip", "bond", "lora", "top", "top-", "acc", "recall", "bleu", "bleu-", "rouge", "rouge-", "f",
     "prec", "nvlink", "pci", "pcie", "numa", "cpu", "batch", "chunk", "shard", "part", "version", "http", "https",
     "utf-", "py", "python", "libnccl", "v", "h", "s", "p", "r", "x", "n-gram", "end-to-end", "pre-training",
     "learning-rate", "gid", "link", "expert", "expert-")
)  # fmt: skip


def _stem(host: str) -> str:
    return re.sub(r"\d+", "#", host.lower())


class Beliefs:
    """What one source's lines have taught about its weak prefixes.

    `undecided` is set by `peel` when it met a prefix that may be one: the caller may hold the line back, ask
    `decide` once it has seen more, and peel it again.
    """

    def __init__(self) -> None:
        self.hosts: set[str] = set()
        self.undecided = False
        self._stems: dict[str, bool] = {}
        self._labels: bool | None = None
        self._ranks_in_brackets: bool | None = None
        self._pods: bool | None = None
        self._rank_words: set[str] = set()
        self._loggers: set[str] = set()
        self._seen: Counter[tuple[str, str]] = Counter()
        self._tee_lines = 0
        self._hook_lines = 0

    def summary(self) -> Hashable:
        """Return what tells beliefs about prefixes from others, the hosts of NCCL's lines left aside."""
        rank_tags = (self._hook_lines > self._tee_lines) - (self._hook_lines < self._tee_lines), self._hook_lines > 0
        decided = self._labels, self._ranks_in_brackets, self._pods, rank_tags
        return frozenset(self._stems.items()), frozenset(self._rank_words | self._loggers), decided

    def copy(self) -> Beliefs:
        """Return the same beliefs, to go on with apart; the hosts of NCCL's lines are left aside."""
        twin = Beliefs()
        twin._stems = dict(self._stems)
        twin._labels, twin._ranks_in_brackets, twin._pods = self._labels, self._ranks_in_brackets, self._pods
        twin._rank_words = set(self._rank_words)
        twin._loggers = set(self._loggers)
        # A line more changes what is believed of rank tags only where the two kinds of them are even.
        twin._tee_lines = 2 * (self._tee_lines > self._hook_lines) + (self._hook_lines > 0)
        twin._hook_lines = 2 * (self._hook_lines > self._tee_lines) + (self._hook_lines > 0)
        return twin

    # --- asked for every line that begins like one of these ---

    def peel(self, text: str) -> Peeled | None:
        """Take off a weak prefix that is believed; note one that may come to be."""
        first = text[0]
        if first in "[(rRgG" and (said := self._rank_word(text)):
            return said
        if first.isdecimal() or first in " P":
            return self._label(text) or (self._host(text) if first != " " else None)
        if first == "[":
            return self._hydra(text)
        return self._host(text) or self._stern(text)

    def learn_host(self, host: str) -> bool:
        """Take in a host that NCCL names at the start of its lines; False if a rest of another line hangs on it."""
        if host in self.hosts:
            return True
        if length_of_rest(host, self.hosts):
            return False
        if len(self.hosts) < _VALUES:
            self.hosts.add(host)
        return True

    def decide(self, held: int) -> None:
        """Judge what was undecided by the `held` lines since."""
        by_kind: dict[str, Counter[str]] = {}
        for (kind, value), count in self._seen.items():
            by_kind.setdefault(kind, Counter())[value] = count
        if self._labels is None and (labels := by_kind.get("label")):
            self._labels = _recur(labels, held, share=0.4)
        if self._ranks_in_brackets is None and (ranks := by_kind.get("hydra")):
            self._ranks_in_brackets = _recur(ranks, held, share=0.5)
        if self._pods is None and (pods := by_kind.get("pod")):
            self._pods = sum(pods.values()) >= max(4, 0.6 * held)
        hosts = by_kind.get("host", Counter())
        stems: Counter[str] = Counter()
        for host, count in hosts.items():
            stems[_stem(host)] += count
        for stem, count in stems.items():
            self._stems[stem] = self._stems.get(stem) or count >= max(3, 0.3 * held)
        self._seen.clear()
        self.undecided = False

    def _wait_for(self, kind: str, value: str) -> None:
        self._seen[kind, value] += 1
        self.undecided = True

    # --- srun --label and hydra ---

    def _label(self, text: str) -> Peeled | None:
        match = _LABEL.match(text)
        if match is None:
            return None
        if not self._labels:
            if _begins_line(text, match.end()):
                self._labels = True
            elif self._labels is None:
                self._wait_for("label", match[1])
                return None
            else:
                return None
        return _task(match.group(), "srun", int(match[1]))

    def _hydra(self, text: str) -> Peeled | None:
        match = _HYDRA.match(text)
        if match is None:
            return None
        if not self._ranks_in_brackets:
            if _begins_line(text, match.end()):
                self._ranks_in_brackets = True
            elif self._ranks_in_brackets is None:
                self._wait_for("hydra", match[1])
                return None
            else:
                return None
        return _task(match.group(), "hydra", int(match[1]))

    # --- a program's own logging: `rank 2: `, `[R2] `, `(rank=2) `, `Rank2 | ` ---

    def _rank_word(self, text: str) -> Peeled | None:
        match = _RANK_WORD.match(text)
        if match is None:
            return None
        shape = _stem(match.group())
        if shape not in self._rank_words:
            if not _begins_line(text, match.end()) or len(self._rank_words) >= _SHAPES:
                return None
            self._rank_words.add(shape)
        return _rank(match.group(), "rank-word", int(match[1]), is_global=True)

    # --- a logger's bare name behind a level: `INFO launcher: ` ---

    def logger(self, text: str) -> Peeled | None:
        """Take off the name that a logging library printed behind a level, once it stood before another's line."""
        match = _LOGGER.match(text)
        if match is None:
            return None
        name = match[1]
        if name not in self._loggers:
            if len(self._loggers) >= _LOGGERS or not _ANOTHERS.match(text, match.end()):
                return None
            self._loggers.add(name)
        return _of_logger(match.group(), name)

    # --- pdsh ---

    def _host(self, text: str) -> Peeled | None:
        if ": " not in text[:254] and not text.endswith(":"):
            return None
        match = _HOST.match(text)
        if match is None:
            return None
        host = match[1]
        stem = _stem(host)
        if host in self.hosts or self._stems.get(stem):
            return _from_host(match.group(), host)
        known = self._stems.get(stem)
        if stem.rstrip("#") in _NO_HOSTS or stem in _NO_HOSTS:
            return None
        looks_like_host = "#" in stem and ("-" in stem or "." in stem or len(stem) > 3)
        if NCCL_HEAD.match(text, match.end()) or (looks_like_host and _begins_line(text, match.end())):
            self._stems[stem] = True
            return _from_host(match.group(), host)
        if looks_like_host and known is None and len(self._stems) < _VALUES:
            self._wait_for("host", host)
        return None

    # --- stern ---

    def _stern(self, text: str) -> Peeled | None:
        if "-" not in text[:64] or self._pods is False:
            return None
        match = _STERN.match(text)
        if match is None or "-" not in match[1] or not match[1][-1].isalnum():
            return None
        if not self._pods:
            if not _begins_line(text, match.end()):
                self._wait_for("pod", match[1])
                return None
            self._pods = True
        return _in_pod(match.group(), match[1])

    # --- [rankN]: of torchrun's --role rank, or of torch's exception hook ---

    def rank_tag(self, match: re.Match[str], text: str) -> Peeled:
        """Tell torchrun's tag with role `rank` (a local rank, no blank) from torch's own (a global rank, a blank).

        c10's `[rank3]:[E1102 ...` is global and keeps its bracket. A tee line that is indented looks like the hook;
        then an even number of blanks is the tee's own (Python indents by two), and the votes of the other lines
        count.
        """
        end, number = match.end(), int(match[1])
        if _C10_HEAD.match(text, end):
            return _rank(text[:end], "c10", number, is_global=self._hook_lines >= self._tee_lines)
        blanks = len(text) - end - len(text[end:].lstrip(" ")) if text[end : end + 1] == " " else 0
        if not blanks and end < len(text):
            self._tee_lines += not text.startswith(("[rank", "[2"), end)
        elif blanks == 1:
            self._hook_lines += 1
        is_hook = blanks > 0 and (self._hook_lines >= self._tee_lines) and (blanks % 2 == 1 or self._hook_lines > 0)
        if is_hook:
            return _rank(text[: end + 1], "torch-hook", number, is_global=True)
        return _rank(text[:end], "torchrun-tee", number, is_global=False)


RANK_TAG = deferred(r"\[rank(\d{1,6})\]:")
_C10_HEAD = deferred(r"\[[IWEF](?:\d{3,4} \d\d:\d\d:\d\d\.\d{1,9})? ?[\w./\-]+:\d+\] |[IWEFVC]\d{4} \d\d:\d\d:\d\d\.")


def _begins_line(text: str, start: int) -> bool:
    return NCCL_HEAD.match(text, start) is not None or _LINE_START.match(text, start) is not None


def _recur(values: Counter[str], held: int, *, share: float) -> bool:
    """Tell a launcher's numbers: they fill the lines, and come again instead of only counting up as a list does."""
    total = values.total()
    if total < share * held or total < 3:
        return False
    return len(values) < total and (len(values) > 1 or total >= max(5, 0.6 * held))


@lru_cache(4096)
def _task(prefix: str, name: str, task: int) -> Peeled:
    return Peeled(len(prefix), name, Origin(task=task))


@lru_cache(4096)
def _of_logger(prefix: str, name: str) -> Peeled:
    return Peeled(len(prefix), f"python-logging:{name}")


@lru_cache(4096)
def _in_pod(prefix: str, pod: str) -> Peeled:
    return Peeled(len(prefix), "stern", Origin(pod=pod))


@lru_cache(4096)
def _from_host(prefix: str, host: str) -> Peeled:
    address = host if _ADDRESS.fullmatch(host) else None
    return Peeled(len(prefix), "pdsh", Origin(host=host, address=address))


@lru_cache(4096)
def _rank(prefix: str, name: str, number: int, *, is_global: bool) -> Peeled:
    return Peeled(len(prefix), name, Origin(rank=number) if is_global else Origin(local_rank=number))
