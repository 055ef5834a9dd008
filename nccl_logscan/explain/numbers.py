"""Codes explained: from `12`, `0x81`, `Xid 79`, `exitcode -9`, `SIGKILL` or `cudaErrorIllegalAddress`."""

from __future__ import annotations

from collections.abc import Iterator

from nccl_logscan.catalogue.codes import Code, CodeKind, codes
from nccl_logscan.catalogue.versions import version
from nccl_logscan.explain.mentions import mention, rules_firing, rules_naming
from nccl_logscan.explain.model import Doing, Explanation, Fact, Mention
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass
from nccl_logscan.rulebook.rule import Rulebook

_HEADINGS = {
    CodeKind.NCCL_RESULT: "return code of NCCL",
    CodeKind.IBV_WC_STATUS: "completion status of InfiniBand verbs",
    CodeKind.IBV_EVENT: "asynchronous event of InfiniBand verbs",
    CodeKind.MLX5_SYNDROME: "syndrome of the mlx5 driver",
    CodeKind.MLX5_VENDOR_ERROR: "vendor error code of mlx5 adapters",
    CodeKind.XID: "Xid of the NVIDIA driver",
    CodeKind.SIGNAL: "signal",
    CodeKind.EXIT_CODE: "exit code",
    CodeKind.CUDA_ERROR: "error of the CUDA runtime",
}
_WORDS = {
    "xid": (CodeKind.XID,),
    "signal": (CodeKind.SIGNAL,),
    "sig": (CodeKind.SIGNAL,),
    "exit": (CodeKind.EXIT_CODE,),
    "exitcode": (CodeKind.EXIT_CODE,),
    "exit_code": (CodeKind.EXIT_CODE,),
    "cuda": (CodeKind.CUDA_ERROR,),
    "status": (CodeKind.IBV_WC_STATUS,),
    "vendor": (CodeKind.MLX5_VENDOR_ERROR,),
    "vendor_err": (CodeKind.MLX5_VENDOR_ERROR,),
    "syndrome": (CodeKind.MLX5_SYNDROME,),
    "nccl": (CodeKind.NCCL_RESULT,),
    "event": (CodeKind.IBV_EVENT,),
}
_NUMBER = deferred(
    r"(?:(?P<word>[A-Za-z_]{2,12})(?:[ _](?:error|failure|code|status|err|event|result)){0,2}[ :=(]{0,3})?"
    r"(?P<number>-?(?:0[xX][0-9a-fA-F]{1,8}|\d{1,9}))\)?"
)
_LINES = {
    CodeKind.IBV_WC_STATUS: (
        "node-1:2311:2401 [3] transport/net_ib.cc:1861 NCCL WARN NET/IB : Got completion from peer 10.0.0.3<40211> "
        "with status={number} opcode=0 len=0 vendor err 0 (Send)"
    ),
    CodeKind.IBV_EVENT: (
        "node-1:2311:2401 [3] transport/net_ib.cc:201 NCCL WARN NET/IB : mlx5_2:1 async fatal event: {text}"
    ),
    CodeKind.XID: "NVRM: Xid (PCI:0000:3b:00): {number}, pid=1, name=python",
    CodeKind.CUDA_ERROR: "node-1:2311:2401 [3] enqueue.cc:1 NCCL WARN Cuda failure {number} '{text}'",
}
"""A line of a log that holds the code: the rules that it fires are those that speak of it."""

_FIELDS = {CodeKind.XID: "xid", CodeKind.SIGNAL: "signal", CodeKind.EXIT_CODE: "exit_code"}
_SHELL = "https://www.gnu.org/software/bash/manual/html_node/Exit-Status.html"
_POPEN = "https://docs.python.org/3/library/subprocess.html#subprocess.Popen.returncode"


@dataclass(frozen=True, slots=True)
class _Asked:
    number: int
    kinds: tuple[CodeKind, ...]


def explain_codes(name: str, rulebook: Rulebook, nccl: str | None) -> tuple[Explanation, ...]:
    """Return each meaning of a code's name, of its text, or of a number with or without its kind before it."""
    named = [code for code in codes() if name.casefold() in {code.name.casefold(), (code.text or "").casefold()}]
    if named:
        return tuple(_explained(code, rulebook, nccl) for code in named)
    asked = _asked(name)
    return tuple(_of_number(asked, rulebook, nccl)) if asked else ()


def _asked(name: str) -> _Asked | None:
    match = _NUMBER.fullmatch(name.strip())
    if match is None:
        return None
    word = match["word"]
    if word is None:
        return _Asked(int(match["number"], 0), tuple(CodeKind)) if _is_number(match["number"]) else None
    kinds = tuple(CodeKind) if word.casefold() == "error" else _WORDS.get(word.casefold())
    return _Asked(int(match["number"], 0), kinds) if kinds and _is_number(match["number"]) else None


def _is_number(text: str) -> bool:
    """Whether `int(text, 0)` takes it: it refuses 007."""
    digits = text.lstrip("-")
    return digits == "0" or not digits.startswith("0") or digits[:2].lower() == "0x"


def _of_number(asked: _Asked, rulebook: Rulebook, nccl: str | None) -> Iterator[Explanation]:
    for code in codes():
        if code.number == asked.number and code.kind in asked.kinds:
            yield _explained(code, rulebook, nccl)
    if CodeKind.EXIT_CODE in asked.kinds or CodeKind.SIGNAL in asked.kinds:
        yield from _ended_by_signal(asked.number, rulebook, nccl)


def _ended_by_signal(number: int, rulebook: Rulebook, nccl: str | None) -> Iterator[Explanation]:
    """Exit codes that stand for a signal: 128 + N of shells and containers, -N of Python and torchrun."""
    signal = number - 128 if number > 128 else -number
    for code in codes():
        if code.kind is CodeKind.SIGNAL and code.number == signal:
            told = (
                f"128 + {signal}, as shells and containers tell it"
                if number > 128
                else "as Python and torchrun tell it"
            )
            under = _explained(code, rulebook, nccl)
            yield Explanation(
                kind=CodeKind.EXIT_CODE,
                name=str(number),
                heading=f"exit code: ended by signal {signal} ({code.name}); {told}",
                meaning=under.meaning,
                doing=under.doing,
                mentions=under.mentions,
                sources=(_SHELL if number > 128 else _POPEN, code.source),
            )


def _explained(code: Code, rulebook: Rulebook, nccl: str | None) -> Explanation:
    return Explanation(
        kind=code.kind,
        name=code.name,
        heading=f"{_HEADINGS[code.kind]}, number {code.number}",
        meaning=code.meaning,
        facts=tuple(_facts(code, nccl)),
        doing=(Doing(code.advice),) if code.advice else (),
        mentions=_mentions(code, rulebook),
        sources=(code.source,),
    )


def _facts(code: Code, nccl: str | None) -> Iterator[Fact]:
    if code.text:
        yield Fact("Printed as", code.text)
    if code.since:
        yield Fact("Since", f"NCCL {code.since}")
        if nccl is not None and version(nccl) < version(code.since):
            yield Fact(f"In NCCL {nccl}", "does not exist yet")


def _mentions(code: Code, rulebook: Rulebook) -> tuple[Mention, ...]:
    line = _LINES.get(code.kind, "").format(number=code.number, text=code.text or "")
    fired = [rule for rule in rules_firing(rulebook, line) if not rule.match.fallback and not rule.match.detector]
    field = _FIELDS.get(code.kind)
    asking = [
        rule
        for rule in rulebook.rules.values()
        if field and (test := rule.match.where.get(field)) and code.number in test.values
    ]
    found = [*map(mention, (*fired, *asking)), *rules_naming(rulebook, [code.name])]
    return tuple(dict.fromkeys(found))
