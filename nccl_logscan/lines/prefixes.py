"""One small function per prefix that a launcher, a collector or a logging library puts before a line.

To add a launcher: write its function here, say with `@starts_with` which characters its prefix may begin with (the
peeler asks only those functions), and give an example of it in fixtures/lines/prefixes.yaml. Functions are asked in
the order they stand in. Prefixes that mean something only in the right company (`3: `, `node2: `) are in beliefs.py.

A logger's name goes into the prefix's name (`python-logging:trainer`) and out of the text; but a name or path of
torch's own (`torch.distributed.elastic...`) and a C++ file (`stall_inspector.cc:105] `) stay at the start of the
text, since whoever reads on tells by them who speaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from nccl_logscan.expressions import deferred
from nccl_logscan.lines.stamps import CTIME, STAMP, from_ctime, from_month_day, from_stamp, from_syslog
from nccl_logscan.position import NOBODY, Origin


class Peeled(NamedTuple):
    """What a prefix said. `end`: characters to take off. `is_collectors`: the time is that of whoever collected the
    line, not of the program that wrote it.
    """

    end: int
    name: str
    origin: Origin = NOBODY
    when: datetime | None = None
    level: str | None = None
    is_collectors: bool = False


Prefix = Callable[[str], Peeled | None]

DIGITS = "0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LETTERS = UPPER + UPPER.lower()

_REGISTERED: list[tuple[str, str | None, Prefix]] = []


def starts_with(first: str, then: str | None = None) -> Callable[[Prefix], Prefix]:
    """Register a prefix by the characters that its first and, if given, its second character may be."""

    def register(prefix: Prefix) -> Prefix:
        _REGISTERED.append((first, then, prefix))
        return prefix

    return register


@lru_cache(65536)
def prefixes_for(start: str) -> tuple[Prefix, ...]:
    """Return the prefixes to try on a line whose first two characters are `start`."""
    return tuple(
        prefix
        for first, then, prefix in _REGISTERED
        if start[:1] in first and (then is None or (start[1:] and start[1:] in then))
    )


ANOTHERS = (
    r"(?:\[\d{1,6},\d{1,6}\]<std|\[[a-z_]{2,40}\d{1,6}\]:|\([\w.]{1,60} (?:rank=\d{1,6} )?pid=\d"
    r"|(?:\d{1,6}: ?)?(?:\[[IWEF]\d{4} |Traceback \(most recent|[\w.\-]{1,64}:\d{1,10}:\d{1,10} \["
    r"|[A-Za-z_][\w.]{0,200}(?:Error|Exception)\b))"
)
"""How another program's line begins behind what a logging library put before it."""

_LEVELS = r"(?:DEBUG|INFO|NOTICE|SUCCESS|SUCC|WARNING|WARN|ERROR|ERR|CRITICAL|FATAL|EXCEPTION|TRACE)"
_LETTER_LEVELS = {
    "T": "TRACE", "V": "DEBUG", "D": "DEBUG", "I": "INFO", "W": "WARNING", "E": "ERROR", "F": "FATAL", "C": "CRITICAL",
}  # fmt: skip


def _named(kind: str, logger: str | None) -> str:
    return f"{kind}:{logger}" if logger else kind


# --- PyTorch ----------------------------------------------------------------------------------------------

_TEE = deferred(r"\[(?!rank\d)([A-Za-z_][\w-]{0,40}?)-?(\d{1,5})(?:\|(\d{1,6}))?\](?::| (?=\S))")


@starts_with("[", LETTERS + "_")
def torchrun_tee(text: str) -> Peeled | None:
    """`[default3]:text`: torchrun --tee; the role's name and the local rank (elastic/multiprocessing/tail_log.py).

    A template of TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE may write `[trainer-5] text`; only roles that no other
    program brackets like this are taken without the colon. `[trainer0|8]:` is a template with the global rank too.
    """
    if not (match := _TEE.match(text)):
        return None
    if not match.group().endswith(":") and match[1] not in {"trainer", "default", "worker"}:
        return None
    return _tee(match.group(), int(match[2]), None if match[3] is None else int(match[3]))


@lru_cache(4096)
def _tee(prefix: str, local_rank: int, rank: int | None = None) -> Peeled:
    return Peeled(len(prefix), "torchrun-tee", Origin(local_rank=local_rank, rank=rank))


_GLOG = deferred(
    r"([IWEFVC])(\d{1,2})(\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,9})?) +(?:(\d{1,20}) )?"
    r"(?=(?:\[\d+/\d+(?:_\d+)?\] )?[\w./<>-]+:\d+\] )"
)
_HIGHEST_PID = 1 << 22


@lru_cache(4096)
def _of_thread(number: int) -> Origin:
    return Origin(pid=number) if number <= _HIGHEST_PID else Origin(tid=number)


@starts_with("IWEFVC", DIGITS)
def glog(text: str) -> Peeled | None:
    """`W0408 19:10:22.410000 2240 torch/distributed/run.py:719] text`: torch's Python logging from 2.3 on, and glog.

    The number is a pid in newer releases and a thread's identity in older ones, which is far beyond any pid.
    """
    if not (text[1:2].isdecimal() and (match := _GLOG.match(text))):
        return None
    number = int(match[5]) if match[5] else None
    origin = _of_thread(number) if number is not None else NOBODY
    when = from_month_day(match[2], match[3], match[4])
    return Peeled(match.end(), "glog", origin, when, _LETTER_LEVELS[match[1]])


# --- Ray --------------------------------------------------------------------------------------------------

_RAY = deferred(r"\((.{0,400}?) ?\bpid=(\d{1,10})(?:, ip=([\w.:\-]{1,64}))?(?:, [\w=]{1,80})?\)(?: |$)")
_RAY_DAEMON = deferred(
    r"\((raylet|gcs_server|autoscaler|monitor|dashboard|log_monitor|runtime_env_agent)"
    r"(?: [^),]{0,40})?(?:, ip=([\w.:\-]{1,64}))?\)(?: |$)"
)
_RANK_WORD = deferred(r"\brank=(\d{1,6})\b")


@starts_with("(")
def ray(text: str) -> Peeled | None:
    """`(WorkerDict pid=815, ip=10.0.0.12) text`; the name is an actor's repr. vLLM's own workers print the same."""
    if "pid=" not in text[:420]:
        return None
    match = _RAY.match(text)
    return _ray(match.group()) if match else None


@lru_cache(4096)
def _ray(prefix: str) -> Peeled:
    match = _RAY.match(prefix)
    assert match is not None
    name, pid, address = match.groups()
    rank = _RANK_WORD.search(name)
    origin = Origin(pid=int(pid), actor=name.strip() or None, address=address, rank=int(rank[1]) if rank else None)
    return Peeled(len(prefix), "ray", origin)


@starts_with("(")
def ray_daemon(text: str) -> Peeled | None:
    """`(raylet, ip=10.0.0.12) text`, `(autoscaler +1m2s) text`."""
    if not (match := _RAY_DAEMON.match(text)):
        return None
    return _ray_daemon(match.group(), match[1], match[2])


@lru_cache(4096)
def _ray_daemon(prefix: str, name: str, address: str | None) -> Peeled:
    return Peeled(len(prefix), "ray-daemon", Origin(actor=name, address=address))


# --- MPI --------------------------------------------------------------------------------------------------

# OpenMPI 5 puts a blank behind its tag and OpenMPI 4 none. Python indents by two, so of an odd number one is the tag's.
_OMPI = deferred(
    rf"(?P<ts>{CTIME})?\[(?P<job>[^\],\s]{{1,120}}),(?:mpirank:)?(?P<rank>\d{{1,7}})(?:,(?P<node>[^\]]{{1,80}}))?\]"
    r"(?:\[(?P<host>[^:\]\s]{1,120}):(?P<pid>\d{1,10})\])?<std(?:out|err|diag)>:(?: (?=(?:  )*(?! )))?"
)


@starts_with("[" + UPPER)
def openmpi(text: str) -> Peeled | None:
    """`[1,5]<stderr>:text` (OpenMPI 4), `[prterun-n1-88@1,5][n2:4242]<stderr>: text` (5) and
    `[1,mpirank:3,algo-1]<stdout>:` (SageMaker), each with a date of ctime in front where time stamps were asked for.
    """
    if ("]<std" not in text[:300]) or not (match := _OMPI.match(text)):
        return None
    when = from_ctime(match["ts"]) if match["ts"] else None
    known = _openmpi(match.group()[len(match["ts"] or "") :])
    return known._replace(end=match.end(), when=when, is_collectors=True) if when else known


@lru_cache(4096)
def _openmpi(prefix: str) -> Peeled:
    match = _OMPI.match(prefix)
    assert match is not None
    pid = int(match["pid"]) if match["pid"] else None
    origin = Origin(task=int(match["rank"]), host=match["host"] or match["node"], pid=pid)
    return Peeled(len(prefix), "openmpi", origin)


_OMPI_STAMP = deferred(rf"\[({CTIME})\]<std(?:out|err|diag)>: ?")


@starts_with("[", "MTWFS")
def openmpi_stamp(text: str) -> Peeled | None:
    """`[Tue Mar  3 10:20:30 2026]<stdout>: text`: OpenMPI 5 with --output timestamp; the daemon's time."""
    if text[25:30] != "]<std" or not (match := _OMPI_STAMP.match(text)):
        return None
    return Peeled(match.end(), "openmpi", when=from_ctime(match[1]), is_collectors=True)


_OMPI_XML = deferred(r'<std(?:out|err|diag) rank="(\d{1,7})">')


@starts_with("<", "s")
def openmpi_xml(text: str) -> Peeled | None:
    """`<stdout rank="5">text</stdout>`: OpenMPI with --xml; the closing mark stays, being no prefix."""
    if not text.startswith("<std") or not (match := _OMPI_XML.match(text)):
        return None
    return Peeled(match.end(), "openmpi", _of_task(int(match[1])))


@lru_cache(4096)
def _of_task(task: int) -> Origin:
    return Origin(task=task)


# --- Containers and Kubernetes ----------------------------------------------------------------------------

_KUBECTL = deferred(r"\[pod/([^/\]\s]{1,253})/[^\]\s]{1,253}\](?: |$)")


@starts_with("[", "p")
def kubectl(text: str) -> Peeled | None:
    """`[pod/job-worker-0/pytorch] text`: kubectl logs --prefix."""
    match = _KUBECTL.match(text) if text.startswith("[pod/") else None
    return _kubectl(match.group(), match[1]) if match else None


@lru_cache(4096)
def _kubectl(prefix: str, pod: str) -> Peeled:
    return Peeled(len(prefix), "kubectl", Origin(pod=pod))


_COMPOSE = deferred(r"([A-Za-z0-9][\w.-]{0,100}-(?:\d{1,4}|\w{4,10})) +\| ?")


@starts_with(LETTERS)
def compose(text: str) -> Peeled | None:
    """`worker-1  | text` (docker compose), `algo-1-xk2p3  | text` (SageMaker, local mode)."""
    if " | " not in text[:128] and not text.endswith(" |"):
        return None
    match = _COMPOSE.match(text)
    return _in_container(match.group(), match[1]) if match else None


@lru_cache(4096)
def _in_container(prefix: str, name: str) -> Peeled:
    return Peeled(len(prefix), "compose", Origin(pod=name))


_RFC3339 = deferred(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{1,9}))?(?:Z|[+-]\d\d:\d\d))(?:: |:$| |\t|$)(?:\d\d[OE]\+? ?(?=\S|$))?"
)


@starts_with(DIGITS, DIGITS)
def rfc3339(text: str) -> Peeled | None:
    """`2026-01-02T03:04:05.123456789Z text`: docker logs -t, kubectl --timestamps, GitHub Actions (seven digits),
    GitLab (`00O ` behind it), and collectors that put a colon behind it.
    """
    if text[10:11] != "T" or not (match := _RFC3339.match(text)):
        return None
    name = "github-actions" if len(match[2] or "") == 7 else "rfc3339"
    return Peeled(match.end(), name, when=from_stamp(match[1]), is_collectors=True)


# --- Collectors and continuous integration ----------------------------------------------------------------

_GH_RUN = deferred(r"[^\t]{1,200}\t[^\t]{1,200}\t\ufeff?(?=\d{4}-\d\d-\d\dT)")


@starts_with(LETTERS + DIGITS)
def gh_run(text: str) -> Peeled | None:
    """`job<TAB>step<TAB>2026-01-02T03:04:05.1234567Z text`: gh run view --log."""
    if "\t" not in text[:201] or not (match := _GH_RUN.match(text)):
        return None
    return Peeled(match.end(), "gh-run")


_GITHUB_MARK = deferred(r"##\[(error|warning|notice|debug|group|endgroup|section|command)\]")


@starts_with("#")
def github_mark(text: str) -> Peeled | None:
    """`##[error]text`: a mark of GitHub Actions' runner."""
    if not (match := _GITHUB_MARK.match(text)):
        return None
    level = match[1].upper() if match[1] in {"error", "warning", "notice", "debug"} else None
    return Peeled(match.end(), f"github-actions:{match[1]}", level=level)


_GITLAB_SECTION = deferred(r"section_(?:start|end):\d+:[\w.-]+(?:\[[^\]]*\])?(?:\r|$)")


@starts_with("s", "e")
def gitlab_section(text: str) -> Peeled | None:
    r"""`section_start:1700000000:script\r`: a mark of GitLab CI; what follows the carriage return is the line."""
    match = _GITLAB_SECTION.match(text) if text.startswith("section_") else None
    return Peeled(match.end(), "gitlab") if match else None


_JOURNAL = deferred(
    r"(?:(?P<short>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?)"
    r"|(?P<iso>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?:Z|[+-]\d\d:?\d\d)))"
    r" (?P<host>[\w.\-]{1,253}) (?P<ident>[^\[\]:\s]{1,80})(?:\[(?P<pid>\d{1,10})\])?:(?: |$)"
)


@starts_with("JFMASOND" + DIGITS, "aepuco" + DIGITS)
def journald(text: str) -> Peeled | None:
    """`Jan 02 03:04:05 n07 python[4242]: text`, short or short-iso, also syslog's; `journald:kernel` where the kernel
    speaks, `journald` else.
    """
    is_short = text[6:7] == " " and text[9:10] == ":" and text[12:13] == ":"
    if not (is_short or text[10:11] == "T") or not (match := _JOURNAL.match(text)):
        return None
    when = from_syslog(match["short"]) if match["short"] else from_stamp(match["iso"])
    pid = int(match["pid"]) if match["pid"] else None
    name = "journald:kernel" if match["ident"] == "kernel" else "journald"
    return Peeled(match.end(), name, _on_host(match["host"], pid), when)


@lru_cache(4096)
def _on_host(host: str, pid: int | None) -> Origin:
    return Origin(host=host, pid=pid)


_DMESG = deferred(rf"(?:<\d{{1,3}}>)?\[(?: *\+?\d+\.\d{{6}}|({CTIME})|[A-Z][a-z]{{2}} ?\d{{1,2}} \d\d:\d\d)\](?: |$)")


@starts_with("[<", " +" + DIGITS + UPPER)
def dmesg(text: str) -> Peeled | None:
    """`[  123.456789] text` (seconds since boot: no time of day), `[  +0.000298] text` (-e), and `[Fri Jan  2 03:04:05
    2026] text` (-T).
    """
    if not (match := _DMESG.match(text)):
        return None
    return Peeled(match.end(), "dmesg", when=from_ctime(match[1]) if match[1] else None)


# --- Logging libraries ------------------------------------------------------------------------------------

_SOURCE = r"[\w.<>/\-]{1,200}(?::[\w.<>\-]{1,80}){0,2}"


def _rank_field(group: str) -> str:
    return rf"(?:\[?(?:global[_ ])?[Rr](?:ank|ANK)[ :=_]{{0,2}}(?P<{group}>\d{{1,6}})\]? ?[|\-:] ?)?"


class _Tail(NamedTuple):
    """What may follow a date. `lead`: the characters it may begin with."""

    form: str
    lead: str
    pattern: re.Pattern[str]


def _after(form: str, lead: str, expression: str) -> _Tail:
    return _Tail(form, lead, deferred(expression))


_AFTER_STAMP = (
    # 2026-01-02 03:04:05.123456: W external/xla/x.cc:54] text (absl, XLA, TensorFlow)
    _after("absl", ":", r": (?P<letter>[IWEF]) (?=(?:\[[^\]]{0,40}\] )?[\w./\-]+:\d+\] )"),
    # 2026-01-02 03:04:05.678 | INFO     | train:main:12 - text (loguru); ... | rank7 | INFO | trainer:30 - ; fairseq
    _after(
        "python-logging",
        " |",
        rf" ?\| {_rank_field('rank')}(?P<level>{_LEVELS}) *\| {_rank_field('later_rank')}"
        rf"(?:(?P<source>{_SOURCE})(?: - | \| |: ))?",
    ),
    # 12/30/2021 21:40:02 - INFO - trainer -   text
    _after(
        "python-logging",
        " ",
        rf" - {_rank_field('rank')}(?P<level>{_LEVELS}) +- (?:(?P<source>[\w.]{{1,200}}) -(?: |$))?",
    ),
    # 2026-01-02 03:04:05,678 - root - INFO - text
    _after("python-logging", " ", rf" - {_rank_field('rank')}(?P<source>{_SOURCE}) - (?P<level>{_LEVELS}) +(?:- |-$)"),
    # 2023/08/14 21:30:11<TAB>INFO<TAB>torch.nn.parallel.distributed<TAB>text
    _after("python-logging", "\t", rf"\t(?P<level>{_LEVELS})\t(?P<source>{_SOURCE})\t"),
    # 2025-07-11 09:02:44,128<TAB>INFO usage_lib.py:472 -- text (Ray); 2026-01-02 03:04:05 [INFO] name: text
    _after(
        "python-logging",
        " \t",
        rf"[ \t]+\[?(?P<level>{_LEVELS})\]?:?(?:[ \t]+|$)"
        r"(?:\[?(?P<source>[\w./\-]{1,200}(?:\.py:\d+|:\d+)|\w+(?:\.\w+)+)\]?(?: -- | - |: |\] ?| (?=\[)))?",
    ),
    _after("stamp", " :|\t", r"(?:: | - | \| |[ \t])"),
)
_STAMPED = deferred(STAMP)


@starts_with(DIGITS, DIGITS)
def python_logging(text: str) -> Peeled | None:
    """A date, then a level, a logger and a rank in the forms that Python's logging, loguru, fairseq, transformers, Ray,
    absl and XLA are set up to print; or the date alone.
    """
    if text[4:5] not in "-/" and text[2:3] != "/":
        return None
    stamp = _STAMPED.match(text)
    return _with_tail(text, stamp, stamp.group(), _AFTER_STAMP) if stamp else None


def _with_tail(text: str, stamp: re.Match[str], date: str, tails: tuple[_Tail, ...]) -> Peeled | None:
    """Read what a logging library printed behind the date."""
    begin = stamp.end()
    following = text[begin : begin + 1]
    for form, lead, pattern in tails:
        if following in lead and (match := pattern.match(text, begin)):
            source_at = match.start("source") - begin if "source" in pattern.groupindex else 0
            tail = _tail(form, pattern, match.groups(), match.end() - begin, source_at)
            return Peeled(begin + tail.end, tail.name, tail.origin, from_stamp(date), tail.level)
    return None


@lru_cache(4096)
def _tail(form: str, pattern: re.Pattern[str], values: tuple[str | None, ...], length: int, source_at: int) -> Peeled:
    """Return what a tail said, without its date: the same few tails come with millions of dates."""
    fields = dict(zip(pattern.groupindex, values, strict=True))
    source, level, rank = fields.get("source"), fields.get("level"), fields.get("rank") or fields.get("later_rank")
    if letter := fields.get("letter"):
        level = _LETTER_LEVELS[letter]
    end = source_at if source and _is_torchs(source) else length
    return Peeled(end, _named(form, source), _of_rank(int(rank)) if rank else NOBODY, level=level)


def _is_torchs(source: str) -> bool:
    return source.startswith(("torch.", "torch/"))


@lru_cache(4096)
def _of_rank(rank: int, *, is_local: bool = False) -> Origin:
    return Origin(local_rank=rank) if is_local else Origin(rank=rank)


_BRACKETED = deferred(rf"\[({STAMP})")
_AFTER_BRACKET = (
    # [2026-01-02 03:04:05.123456: W horovod/common/stall_inspector.cc:105] text
    _after("horovod", ":", r": (?P<letter>[TDIWEF]) (?=[\w./\-]+:\d+\] )"),
    # [2026-01-02 03:04:05,678] [INFO] [engine.py:12:step] text (DeepSpeed)
    _after("deepspeed", "]", rf"\] \[(?P<level>{_LEVELS})\] \[(?P<source>[^\]\s]{{1,200}})\](?: |$)"),
    # [2024-03-02 12:30:11,774] torch.distributed.run: [WARNING] text (torch 2.1 and 2.2)
    _after("python-logging", "]", rf"\] (?:\[[\d/_]+\] )?(?P<source>[\w.]{{1,200}}): \[(?P<level>{_LEVELS})\](?: |$)"),
    # [2026-01-02 03:04:05,678][trainer][INFO] - text (hydra, the configuration library)
    _after("python-logging", "]", rf"\]\[(?P<source>[^\]\s]{{1,200}})\]\[(?P<level>{_LEVELS}) *\](?: - | |$)"),
    _after("python-logging", "]", rf"\] ?\[?(?P<level>{_LEVELS})\]?(?::| -)?(?: |$)"),
    _after("stamp", "]", r"\](?:: | - | |$)"),
)


@starts_with("[", DIGITS)
def bracketed_stamp(text: str) -> Peeled | None:
    """`[2026-01-02 03:04:05,678] [INFO] [engine.py:12:step] text` and the other forms with a date in brackets."""
    stamp = _BRACKETED.match(text)
    return _with_tail(text, stamp, stamp[1], _AFTER_BRACKET) if stamp else None


_LIGHTNING = deferred(r"\[rank: (\d{1,6})\](?: |$)")


@starts_with("[", "r")
def lightning(text: str) -> Peeled | None:
    """`[rank: 3] text`: Lightning's global rank; but where it received SIGTERM it prints the local one
    (signal_connector.py).
    """
    match = _LIGHTNING.match(text) if text.startswith("[rank: ") else None
    if match is None:
        return None
    is_local = text.startswith("Received SIGTERM", match.end())
    return Peeled(match.end(), "lightning", _of_rank(int(match[1]), is_local=is_local))


_TRANSFORMERS = deferred(rf"\[({_LEVELS})\|([\w./\-]{{1,200}}:\d+)\] ({STAMP}) >> ")


@starts_with("[", UPPER)
def transformers(text: str) -> Peeled | None:
    """`[WARNING|trainer.py:503] 2026-01-02 03:04:05,678 >> text`: transformers' own handler."""
    if "|" not in text[:12] or not (match := _TRANSFORMERS.match(text)):
        return None
    return Peeled(match.end(), f"python-logging:{match[2]}", when=from_stamp(match[3]), level=match[1])


_NEMO = deferred(rf"\[NeMo ([DIWEC]) ({STAMP}) ([\w./<>\-]{{1,200}}:\d+)\](?: |$)")


@starts_with("[", "N")
def nemo(text: str) -> Peeled | None:
    """`[NeMo W 2026-01-02 03:04:05 exp_manager:616] text`."""
    match = _NEMO.match(text) if text.startswith("[NeMo ") else None
    if match is None:
        return None
    return Peeled(match.end(), f"python-logging:{match[3]}", when=from_stamp(match[2]), level=_LETTER_LEVELS[match[1]])


_BASIC = deferred(rf"({_LEVELS}):([\w.\-/]{{1,200}}):(?! )")


@starts_with(UPPER, UPPER)
def basic_logging(text: str) -> Peeled | None:
    """`WARNING:root:text`: Python's logging as it is by default."""
    if ":" not in text[4:11] or not (match := _BASIC.match(text)):
        return None
    end = match.start(2) if _is_torchs(match[2]) else match.end()
    return Peeled(end, f"python-logging:{match[2]}", level=match[1])


_VLLM = deferred(rf"({_LEVELS}) +(\d\d)-(\d\d) (\d\d:\d\d:\d\d(?:[.,]\d{{1,6}})?) \[([\w./\-]{{1,200}}:\d+)\](?: |$)")


@starts_with(UPPER, UPPER)
def vllm(text: str) -> Peeled | None:
    """`ERROR 08-28 11:40:10 [core.py:700] text`: vLLM."""
    if "-" not in text[:12] or not (match := _VLLM.match(text)):
        return None
    when = from_month_day(match[2], match[3], match[4])
    return Peeled(match.end(), f"python-logging:{match[5]}", when=when, level=match[1])


_LEVELLED = deferred(
    rf"\[?(?P<level>{_LEVELS})\]?(?::| -)?[ \t]+(?:"
    rf"(?P<date>{STAMP})(?: -|:|,)?[ \t]+(?:\[?(?P<source>[\w./\-]{{1,200}}(?::[\w.<>]{{1,80}}){{0,2}})(?:\]:?|:| -) )?"
    rf"|(?=(?:\[?[a-z_][\w.\-/]{{0,60}}(?:\]:?|:| -)? +)?{ANOTHERS}))"
)


@starts_with("[" + UPPER, UPPER)
def levelled(text: str) -> Peeled | None:
    """`INFO 2026-01-02 03:04:05 trainer: text`, and a level with or without a logger's name before another's line:
    `[INFO] [rank3]: text`, `ERROR launcher: Traceback ...`.
    """
    if not (match := _LEVELLED.match(text)):
        return None
    date, source = match["date"], match["source"]
    end = match.start("source") if source and _is_torchs(source) else match.end()
    return Peeled(end, _named("python-logging", source), when=from_stamp(date) if date else None, level=match["level"])


_TIME_OF_DAY = deferred(rf"\d\d:\d\d:\d\d(?:[.,]\d{{1,6}})?[ \t]+(?:[|\-] )?(?=\[?{_LEVELS}\]?[ :\t]|{ANOTHERS})")


@starts_with(DIGITS, DIGITS)
def time_of_day(text: str) -> Peeled | None:
    """`03:04:05.678 INFO text`: a time without a date, which no other clock can be compared with."""
    if text[2:3] != ":" or not (match := _TIME_OF_DAY.match(text)):
        return None
    return Peeled(match.end(), "time-of-day")
