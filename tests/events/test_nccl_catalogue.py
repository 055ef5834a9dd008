"""Every WARN format of NCCL 2.3.5 to 2.30.7 and its plugins is tokenised with its call site (fixtures/catalogue)."""

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.events.dialects.nccl import read
from nccl_logscan.events.model import CallSite, Event, NcclWarn
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Instant, Origin, Position

CATALOGUE = Path(__file__).parents[2] / "fixtures" / "catalogue" / "nccl_formats.jsonl.gz"
CONVERSION = re.compile(
    r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|t|j)?(?P<type>[diouxXeEfgGcspm%])|\{\w+\}"
)
SIGNATURE = "virtual int nccl_net_ofi_rdma_ep_t::post_rx_buffs(std::vector<nccl_net_ofi_req *> &, int)"


@dataclass(frozen=True)
class Format:
    id: str
    level: str
    format: str
    file: str
    first: str
    last: str
    scope: str


FORMATS = [Format(**json.loads(row)) for row in gzip.decompress(CATALOGUE.read_bytes()).decode().splitlines()]
WARNS = [row for row in FORMATS if row.level == "WARN"]
INFOS = [row for row in FORMATS if row.level == "INFO"]


def version(text: str) -> tuple[int, ...]:
    return (99,) if text.startswith("HEAD") else tuple(int(part) for part in text.split("."))


ORIGIN = Origin(host="gpu-node-17", pid=4012, tid=4377, device=3)


@dataclass(frozen=True)
class Header:
    """A header as some versions print it: its text before the site and after it, and the versions."""

    name: str
    since: str
    until: str
    before: str
    after: str = ""
    function: str | None = None
    origin: Origin = ORIGIN
    when: Instant | None = None

    def prints(self, row: Format) -> bool:
        # A plugin's line looks as the NCCL that loads it prints lines: any version.
        if row.scope != "libnccl":
            return self.function is None
        return version(row.first) <= version(self.until) and version(row.last) >= version(self.since)


PROCESS = "gpu-node-17:4012:4377 [3] "
NOON = Instant(datetime(2026, 1, 2, 12, 4, 5), "gpu-node-17")
HEADERS = [
    Header("bare", "2.3.5", "2.25.1", PROCESS),
    Header(
        "garbage-device",
        "2.3.5",
        "2.22.3",
        "gpu-node-17:4012:4377 [-1431655766] ",
        origin=Origin(host="gpu-node-17", pid=4012, tid=4377),
    ),
    Header("stamped", "2.26.2", "99", "[2026-01-02 12:04:05] " + PROCESS, when=NOON),
    Header("stamp-off", "2.26.2", "99", PROCESS),
    Header("own-stamp", "2.26.3", "99", "2026/01/02 12:04:05.000 " + PROCESS, when=NOON),
    Header(
        "function", "2.30.7", "99", "[2026-01-02 12:04:05] " + PROCESS, " (ncclSocketInit)", "ncclSocketInit", when=NOON
    ),
    Header("operator", "2.30.7", "99", PROCESS, " (operator())", "operator()"),
]

Fill = Callable[[str], str]
PLAIN = {"s": "mlx5_0", "p": "0x7f3c5a000000", "c": "A", "m": "No such file or directory", "%": "%"}
FLOATS = frozenset("eEfgG")


def plain(kind: str) -> str:
    return PLAIN.get(kind) or ("1.500000" if kind in FLOATS else "17")


def saying(text: str, number: str = "0") -> Fill:
    return lambda kind: text if kind in "s{" else PLAIN.get(kind, number)


FILLS: dict[str, Fill] = {
    "plain": plain,
    "empty": saying("", "-1"),
    "trail": saying("init.cc:12 -> 6 [Async thread]", "18446744073709551615"),
    "header": saying("other-host:1:2 [0] net.cc:9", "-2147483648"),
    "peer": saying("fe80::5054:ff:fe12:3456%eth0<40211>"),
    "brackets": saying("] (x) [rank3]: ) ("),
    "words": saying("NCCL_DEBUG set to WARN: NCCL, comm 0x0 rank 1 - Init COMPLETE"),
    "unicode": saying("ошибка 漢字 \u00a0 \x7f"),
    "long": saying("x" * 5000),
}


def filled(row: Format, fill: Fill) -> str:
    """The first line of what the format prints: continuation lines of a message carry no header."""
    text = CONVERSION.sub(lambda found: fill(found["type"] or "{"), row.format)
    return text.lstrip("\n").partition("\n")[0]


def site_of(row: Format) -> str:
    if row.scope == "aws-ofi-nccl":
        return SIGNATURE
    return row.file.rpartition(":")[2].removeprefix("src/")


def event_of(text: str) -> Event | None:
    return read(LogLine(at=Position("rank-0.log", 1, 0), text=text))


def printed(row: Format, header: Header, message: str) -> tuple[str, CallSite]:
    site = CallSite(site_of(row), 1298, header.function)
    return f"{header.before}{site.file}:{site.line}{header.after} NCCL WARN {message}", site


def test_the_catalogue_is_whole():
    assert len(WARNS) > 1800
    assert len(INFOS) > 1500
    assert {row.scope for row in WARNS} >= {"libnccl", "aws-ofi-nccl", "nccl-rdma-sharp-plugins"}


def test_each_warn_is_printed_behind_some_header():
    assert [row.id for row in WARNS if not any(header.prints(row) for header in HEADERS)] == []


@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
def test_every_warn_is_an_event_with_its_call_site(header, fill):
    wrong = []
    for row in filter(header.prints, WARNS):
        message = filled(row, fill)
        text, site = printed(row, header, message)
        event = event_of(text)
        expected = NcclWarn(
            at=Position("rank-0.log", 1, 0), origin=header.origin, when=header.when, message=message, site=site
        )
        if event != expected:
            wrong.append((row.id, text, event))
    assert wrong == []


@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
@pytest.mark.parametrize("stamp", ["", "[2026-01-02 12:04:05] "], ids=["bare", "stamped"])
def test_no_info_is_lost_or_taken_for_a_warn(stamp, fill):
    wrong = []
    for row in INFOS:
        message = filled(row, fill)
        event = event_of(f"{stamp}{PROCESS}NCCL INFO {message}")
        if event is None or isinstance(event, NcclWarn) or event.message != message or event.origin.pid != 4012:
            wrong.append((row.id, message, event))
    assert wrong == []


def test_a_message_whose_last_blank_was_trimmed_is_still_a_warn():
    assert event_of(f"{PROCESS}init.cc:12 NCCL WARN").message == ""


@given(
    st.sampled_from(WARNS),
    st.sampled_from(HEADERS),
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n")),
)
def test_no_value_in_a_message_moves_its_call_site(row, header, value):
    message = filled(row, saying(value))
    text, site = printed(row, header, message)
    event = event_of(text)
    assert isinstance(event, NcclWarn)
    assert (event.site, event.message, event.origin) == (site, message, header.origin)
