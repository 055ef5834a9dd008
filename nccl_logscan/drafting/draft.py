"""One rule file for one group of lines that no rule knows, as far as the log alone tells what to write."""

from __future__ import annotations

import string
from collections.abc import Collection, Iterator, Mapping, Sequence

from nccl_logscan.diagnosis.excerpts import TEXT_LIMIT
from nccl_logscan.diagnosis.verdict import UnclaimedGroup
from nccl_logscan.drafting.wording import Worded, worded
from nccl_logscan.drafting.yaml_text import block, expression_scalar, quoted
from nccl_logscan.position import Position
from nccl_logscan.records import dataclass
from nccl_logscan.report.redact import redact
from nccl_logscan.report.visible import visible
from nccl_logscan.sources import STDIN
from nccl_logscan.taxonomy import Action, Category, Role, Severity

UNSORTED = "unsorted"
_SLUG = 60
_TITLE = 100
_INDENT = " " * 8
_IN_SECRETS = string.ascii_letters + string.digits + "+/_.~=-"


@dataclass(frozen=True, slots=True)
class Line:
    """A line for an example, secrets taken out, and where it is from."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A rule as far as it is known.

    `category`, `what`, `why` and `reference` (title and address) are None until a person says them; `also` are other
    rules that fire on the hit. `fires`: whether the rule fires on its hit, read alone.
    """

    slug: str
    category: Category | None
    kind: str
    count: int
    worded: Worded
    hit: Line
    miss: Line | None = None
    also: tuple[str, ...] = ()
    fires: bool = True
    what: str | None = None
    why: str | None = None
    reference: tuple[str, str] | None = None

    @property
    def id(self) -> str:
        """The rule's id, which is also its file's path: `unsorted/...` while the category is not known."""
        return f"{self.category or UNSORTED}/{self.slug}"


def draft(group: UnclaimedGroup, category: Category | None, taken: Collection[str] = ()) -> Draft | None:
    """Return a draft of the rule for a group, under a name that is not `taken`; None if its lines hold no words.

    Its near miss and what else fires on its hit are found out by scanning (`nccl_logscan/drafting/suggest.py`).
    """
    wording = worded(group.sample)
    if wording is None:
        return None
    return Draft(
        slug=_free(_slug(wording.words) or group.kind.replace(".", "-"), taken),
        category=category,
        kind=group.kind,
        count=group.count,
        worded=wording,
        hit=line_of(group),
    )


def line_of(group: UnclaimedGroup) -> Line:
    """Return a group's first line as an example shows it: the message alone where the line is not known any more."""
    return example_line(group.line or group.sample, group.first)


def example_line(text: str, at: Position) -> Line:
    """Return a line of a log as an example shows it."""
    name = "standard input" if at.source == STDIN else redact(visible(at.source))
    return Line(redact(_without_half_word(text)), f"from {name}, line {at.line}")


def _without_half_word(text: str) -> str:
    """Return a line without the word in which it may have been cut: half of a secret is not known for one."""
    return text.rstrip(_IN_SECRETS) or text if len(text) >= TEXT_LIMIT else text


def _slug(words: Sequence[str]) -> str:
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word[:_SLUG]
        if len(longer) > _SLUG:
            break
        slug = longer
    return slug


def _free(slug: str, taken: Collection[str]) -> str:
    name, number = slug, 1
    while name in taken:
        number += 1
        end = f"-{number}"
        name = slug[: _SLUG - len(end)].rstrip("-") + end
    return name


# --- as a file -----------------------------------------------------------------------------------------------


def as_yaml(draft: Draft) -> str:
    """Return the draft as a rule file: `# say:` marks what a person must say, `# check:` what is a guess."""
    return "\n".join((*_head(draft), "", *_match(draft), "", *_prose(draft), "", *_examples(draft), ""))


def _head(draft: Draft) -> Iterator[str]:
    harmless = draft.category is Category.NONE
    lines = f"{draft.count:,} line{'s' if draft.count != 1 else ''}"
    yield f"# Drafted by `nccl-logscan rules suggest` for {lines} that no rule knows. Complete what is marked `say`."
    yield f"id: {draft.id}" + (
        f"  # say: the category in place of {UNSORTED}, and move the file into the folder of that name"
        if draft.category is None
        else "  # check: whether this is the category"
    )
    yield f"title: {quoted(_title(draft))}  # check: the failure in one line, without names from a log"
    yield f"role: {Role.BENIGN if harmless else Role.SYMPTOM}  # check: {' | '.join(Role)}"
    yield f"severity: {Severity.NOTICE if harmless else Severity.FATAL}  # check: {' | '.join(Severity)}"
    yield "strength: 20  # check: 0..100, how conclusively the words alone point to the category (rules/README.md)"
    yield f"action: {Action.NONE if harmless else Action.INSPECT}  # check: {' | '.join(Action)}"


def _title(draft: Draft) -> str:
    words = " ".join(draft.worded.words)
    return f"A line of kind {draft.kind}: {words[:_TITLE].strip() or 'see the example'}"


def _match(draft: Draft) -> Iterator[str]:
    yield "match:"
    yield f"  event: {draft.kind}"
    yield "  wordings:"
    yield f"    - message: {expression_scalar(draft.worded.expression)}"


def _prose(draft: Draft) -> Iterator[str]:
    yield f"summary: {quoted(_title(draft))}  # check: the headline; {{captures}}, {{host}} and {{rank}} are filled in"
    yield _to_say("what", draft.what, "what happened, in a few sentences")
    yield _to_say("why", draft.why, "what usually causes it, and where to look first")
    if draft.reference is None:
        yield "references: []  # say: where that is from, at least one {title: ..., url: ...}"
    else:
        title, url = draft.reference
        yield f"references: [{{title: {quoted(title)}, url: {quoted(url)}}}]"


def _to_say(key: str, said: str | None, wanted: str) -> str:
    return f"{key}:  # say: {wanted}" if said is None else f"{key}: {quoted(said)}"


def _examples(draft: Draft) -> Iterator[str]:
    yield "examples:"
    yield "  hit:"
    yield "    - name: as it stood in the log  # check: hosts, addresses, users and paths replaced"
    yield from _example(draft.hit)
    if not draft.fires:
        yield f"      # say: the whole line and those around it; this alone is read as no event of kind {draft.kind}"
    if draft.worded.captures:
        yield f"      captures: {_flow(draft.worded.captures)}"
    if draft.also:
        yield f"      also: [{', '.join(draft.also)}]  # check: whether these are right as well"
    if draft.miss is not None:
        yield "  miss:"
        yield "    - name: another line  # check: or the one that someone will one day mistake for this failure"
        yield from _example(draft.miss)


def _example(line: Line) -> Iterator[str]:
    yield f"      source: {quoted(line.source)}"
    yield f"      log: {block(line.text, _INDENT)}"


def _flow(captures: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name}: {quoted(value)}" for name, value in captures.items()) + "}"
