"""Reports: what a log, a file's name or a setting says, put into any place of a real report's view."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from fuzz.target import CASES, Target
from nccl_logscan.pipeline import scan
from nccl_logscan.report.compiled_templates import SCRIPT_DIGEST
from nccl_logscan.report.forms import render
from nccl_logscan.report.html import PARTS, render_html
from nccl_logscan.report.page import page_of
from nccl_logscan.report.view import _cleaned_text, build_view

_SEEN = ("lab/timeout-dataloader", "lab/ds-overflow", "field/net007", "lab/mix-2.18.3-2.21.5", "lab/healthy-bf16")
# Words of the program's own, and times, which it writes itself.
_OWN = frozenset(
    {"category", "family", "level", "basis", "action", "role", "severity", "kind", "time", "diff"}
    | {"from_time", "to_time", "start", "end", "edges"}
)
_OWN_PARTS = frozenset({"schema_version", "tool"})
_KEPT_WHOLE = frozenset({"activity", "training", "links", "machines"})
_TEMPLATES = (
    "verdict", "evidence", "ranks", "activity", "course", "training", "machines", "remedy", "settings", "job", "record",
)  # fmt: skip
_WHOLE_PAGE = 0xD7  # the part that stands for the whole page, which takes ten times as long
_TAG = re.compile(r"<(/?[a-zA-Z!?][^\s>/]*)((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>")
_ATTRIBUTE = re.compile(r"([^\s=\"'/]+)(?:=(\"[^\"]*\"|'[^']*'|[^\s\"']+))?")
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
_COMMAND = re.compile(r"(?m)^\s*::(?!error |warning |notice )[A-Za-z]|##\[")

Path = tuple[str | int, ...]


class _Base(NamedTuple):
    """A real report's view, and the places in it that others' words can reach."""

    view: dict[str, Any]
    places: tuple[Path, ...]


@cache
def _bases() -> tuple[_Base, ...]:
    views = [_shortened(build_view(scan([str(CASES / name)]))) for name in _SEEN]
    return tuple(_Base(view, tuple(_places_of_others(view))) for view in views)


def _places_of_others(view: dict[str, Any]) -> Iterator[Path]:
    for name, part in view.items():
        if name not in _OWN_PARTS:
            yield from _places(part, (name,))


def _shortened(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return a view with two entries a list at most, so that a fuzzer has many tries a second."""
    return {name: part if name in _KEPT_WHOLE else _first_of(part) for name, part in view.items()}


def _first_of(part: Any) -> Any:
    if isinstance(part, list):
        return [_first_of(entry) for entry in part[:2]]
    if isinstance(part, dict):
        return {name: _first_of(value) for name, value in part.items()}
    return part


def _places(part: Any, path: Path) -> Iterator[Path]:
    if isinstance(part, dict):
        for name, value in part.items():
            if name not in _OWN:
                yield from _places(value, (*path, name))
    elif isinstance(part, list):
        for at, value in enumerate(part[:3]):
            yield from _places(value, (*path, at))
    elif isinstance(part, str):
        yield path


def _put(part: Any, path: Path, text: str) -> Any:
    """Return a copy with a text at a place."""
    if not path:
        return text
    copy = part.copy()
    copy[path[0]] = _put(part[path[0]], path[1:], text)
    return copy


def _poisoned(data: bytes) -> tuple[int, dict[str, Any], list[str]]:
    """Return which part to draw, the view, and the texts in it: `data` names places by two bytes, then a text to a NUL.

    As `build_view` leaves a view, so are these texts: without secrets, cut, and encodable.
    """
    base = _bases()[data[0] % len(_SEEN) if data else 0]
    part, view, texts = data[1] if len(data) > 1 else 0, base.view, []
    for piece in data[2:].split(b"\0", 8)[:8]:
        path = base.places[int.from_bytes(piece[:2], "little") % len(base.places)]
        texts.append(_cleaned_text(piece[2:].decode("utf-8", "surrogateescape")))
        view = _put(view, path, texts[-1])
    return part, view, texts


# --- HTML --------------------------------------------------------------------------------------------------------


def _html(data: bytes) -> None:
    """A page has the elements and attributes of the templates and no others, and nothing in it acts."""
    part, view, _ = _poisoned(data)
    page = render_html(view) if part == _WHOLE_PAGE else _part_of(view, _TEMPLATES[part % len(_TEMPLATES)])
    page.encode()
    assert not (found := _ACTING.search(page)), found
    elements, attributes = _grammar()
    for name, written in _TAG.findall(_without_ours(page)):
        assert name.lower() in elements, name
        for attribute, value in _ATTRIBUTE.findall(written):
            assert attribute in attributes, (name, attribute)
            assert attribute not in {"href", "src"} or value.strip("\"'").startswith(("#", "https://", "data:")), value
    assert page.count(SCRIPT_DIGEST) == (part == _WHOLE_PAGE)


def _part_of(view: dict[str, Any], template: str) -> str:
    parts = _Parts(view)
    if template == "course":
        parts.get("graph")  # a template that another includes sees only what is there by then
    return page_of(f"{template}.html.j2", parts)


class _Parts(dict[str, Any]):
    """What a template sees, each made when it is asked for."""

    def __init__(self, view: dict[str, Any]) -> None:
        super().__init__(view=view)

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self and name in PARTS:
            self[name] = PARTS[name](self["view"])
        return super().get(name, default)


def _without_ours(page: str) -> str:
    """Return a page without its style and script, which no log can change: their digests are tested elsewhere."""
    return page.replace(str(PARTS["style"]({})), "").replace(str(PARTS["script"]({})), "")


@cache
def _grammar() -> tuple[frozenset[str], frozenset[str]]:
    """Return the elements and attributes that the pages of untouched reports have."""
    elements: set[str] = set()
    attributes: set[str] = set()
    for view in (base.view for base in _bases()):
        for name, written in _TAG.findall(_without_ours(render_html(view))):
            elements.add(name.lower())
            attributes.update(attribute for attribute, _ in _ATTRIBUTE.findall(written))
    return frozenset(elements), frozenset(attributes)


# --- SARIF -------------------------------------------------------------------------------------------------------


def _sarif(data: bytes) -> None:
    """SARIF is ASCII JSON; its places are paths or file URIs, its regions well-formed, its messages without acts."""
    _, view, _ = _poisoned(data)
    text = render(view, "sarif")
    assert text.isascii()
    (run,) = json.loads(text)["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    for result in run["results"]:
        assert result["ruleId"] in rules
        _walk(result)


def _walk(part: Any) -> None:
    if isinstance(part, list):
        for entry in part:
            _walk(entry)
    elif isinstance(part, dict):
        if "uri" in part:
            assert re.fullmatch(r"(?:file:///)?(?!/)[A-Za-z0-9._~%/\-]*", part["uri"]), part
            assert part["uri"].startswith("file:///") != ("uriBaseId" in part), part
        if "startLine" in part:
            assert 1 <= part["startLine"] <= part["endLine"], part
        for name, value in part.items():
            if isinstance(value, str):
                assert not _ACTING.search(value.replace("\n", "")), (name, value)
            _walk(value)


# --- the other forms ---------------------------------------------------------------------------------------------

_FORMS = ("markdown", "text", "junit", "github", "gitlab", "openmetrics", "json", "trace")


def _others(data: bytes) -> None:
    """Each other form is well-formed for its readers, and nothing in it acts on a terminal or a CI runner."""
    part, view, _ = _poisoned(data)
    form = _FORMS[part % len(_FORMS)]
    text = render(view, form)
    text.encode()
    if form in {"json", "gitlab", "trace"}:
        json.loads(text)
        return
    assert not (found := _ACTING.search(text)), (form, found)
    if form == "junit":
        ET.fromstring(text)  # noqa: S314 - our own, of which this asks whether it is XML
    if form == "github":
        assert all(_ANNOTATION.match(line) for line in text.splitlines()), text
    else:
        assert not (found := _COMMAND.search(text)), (form, found)
    if form == "openmetrics":
        assert all(line.startswith("#") or _SAMPLE.fullmatch(line) for line in text.splitlines()), text


_ANNOTATION = re.compile(r"::(?:error|notice) (?:file=[^,:]*,line=\d+,)?title=[^,:]*::")
_SAMPLE = re.compile(r'[a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*\})? -?[0-9.e+\-]+')

_NASTY = (
    '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onload='x", ']]></style><svg/onload=x>',
    'javascript:alert(1)', '{{7*7}}{% x %}', '\x1b[31m\x9b0m\x1b]8;;http://x\x07', '\u202ecba\u2066\u200b',
    '::error::x', '\n::add-mask::x', '##[error]x', '](http://x)', '![x](http://x)', '`x`', '|x|', '=1+1',
    'a\r\nb\u2028c', '../../etc/passwd', 'file:///etc/passwd', "a" * 300, '\ufffe\uffff', '&amp;&#60;', '<!--', '-->',
    'a\\"b\\nc', 'user@host #1 @org/x',
)  # fmt: skip


def _seeds() -> Iterator[bytes]:
    for part in (*range(len(_TEMPLATES)), _WHOLE_PAGE):
        for at, text in enumerate(_NASTY):
            places = [(at * 37 + part * 101 + number * 53).to_bytes(2, "little") for number in range(4)]
            yield bytes([part % len(_SEEN), part]) + b"\0".join(place + text.encode()[:90] for place in places)


TARGETS = (
    Target(
        "html",
        _html,
        _seeds,
        "the page has the templates' elements and attributes alone, its links lead to itself or to https, no character "
        "acts; each input draws one of the page's eleven parts, some the whole page",
        longest=400,
        words=lambda: _NASTY,
    ),
    Target(
        "sarif",
        _sarif,
        _seeds,
        "SARIF is JSON in ASCII; its places are relative paths or file URIs, its regions well-formed; nothing acts",
        longest=400,
        words=lambda: _NASTY,
    ),
    Target(
        "forms",
        _others,
        _seeds,
        "Markdown, text, JUnit, annotations, GitLab's JSON, metrics and JSON are well-formed; nothing in them acts",
        longest=400,
        words=lambda: _NASTY,
    ),
)
