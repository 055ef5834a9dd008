"""The shape of one rule file: the only place that knows it. The JSON Schema is made from these models.

`read_document` gives a checked document, or every complaint with the path of the value that earned it.
"""

from __future__ import annotations

import difflib
import re
import types
import typing
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import ErrorDetails, PydanticCustomError, core_schema

from nccl_logscan.events.model import EVENT_TYPES
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass
from nccl_logscan.rulebook.expression import fault_of
from nccl_logscan.rulebook.located import Path
from nccl_logscan.rulebook.placeholders import braces_fault
from nccl_logscan.rulebook.rule import GROUP
from nccl_logscan.taxonomy import Action, Role, Severity

_ID = deferred(r"[a-z0-9_]+/[a-z0-9]+(?:-[a-z0-9]+)*")
_GLOB = deferred(r"[a-z0-9_*?-]+/[a-z0-9*?-]+")
_GROUP = deferred(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_VERSIONS = deferred(r"(?:>=|<=|==|<|>)\d+(?:\.\d+)*(?:\s*,\s*(?:>=|<=|==|<|>)\d+(?:\.\d+)*)*")
_URL = deferred(r"https?://[^\s]+")


def closest(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the known word most like `word`, or "" if none is like it."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{found[0]}'?" if found else ""


def _complain(message: str, **context: Any) -> PydanticCustomError:
    return PydanticCustomError("rule", "{text}", {"text": message, **context})


def _check_kind(value: str) -> str:
    if value not in EVENT_TYPES:
        raise _complain(f"'{value}' is no kind of event{closest(value, EVENT_TYPES)} (nccl_logscan/events/model.py)")
    return value


def _check_id(value: str) -> str:
    if not _ID.fullmatch(value):
        raise _complain(f"'{value}' is no id; an id is category/what-failed in small letters, digits and hyphens")
    return value


def _check_glob(value: str) -> str:
    if not _GLOB.fullmatch(value):
        raise _complain(f"'{value}' is neither an id (category/what-failed) nor a glob of ids (category/*)")
    return value


def _check_group(value: str) -> str:
    if not _GROUP.fullmatch(value):
        raise _complain(f"'{value}' is no name of a group; write small letters, digits and hyphens")
    return value


def _check_effect(value: str) -> str:
    if value.startswith(GROUP):
        _check_group(value.removeprefix(GROUP))
        return value
    return _check_glob(value)


def _check_expression(value: str) -> str:
    fault = fault_of(value)
    if fault is not None:
        raise _complain(fault.message, offset=fault.offset)
    return value


def _check_versions(value: str) -> str:
    if not _VERSIONS.fullmatch(value):
        raise _complain(f"'{value}' is no range of versions; write for instance \">=2.10, <2.18\"")
    return value


def _check_url(value: str) -> str:
    if not _URL.fullmatch(value):
        raise _complain(f"'{value}' is no address; it should begin with https://")
    return value


def _check_filled(value: str) -> str:
    if not value.strip():
        raise _complain("is empty")
    return value


def _check_braces(value: str) -> str:
    fault = braces_fault(value)
    if fault is not None:
        raise _complain(fault[0], offset=fault[1])
    return value


def _one_line(value: str) -> str:
    if "\n" in value.strip():
        raise _complain("should be one line")
    return value


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Words = Annotated[str, AfterValidator(_check_filled)]
Line = Annotated[Words, AfterValidator(_one_line)]
Template = Annotated[Words, AfterValidator(_check_braces)]
Headline = Annotated[Template, AfterValidator(_one_line)]
RuleId = Annotated[str, AfterValidator(_check_id), Field(json_schema_extra={"pattern": f"^{_ID.pattern}$"})]
IdOrGlob = Annotated[str, AfterValidator(_check_glob)]
GroupName = Annotated[str, AfterValidator(_check_group), Field(json_schema_extra={"pattern": f"^{_GROUP.pattern}$"})]
Effect = Annotated[str, AfterValidator(_check_effect)]
Expression = Annotated[str, AfterValidator(_check_expression), Field(json_schema_extra={"format": "regex"})]
Versions = Annotated[str, AfterValidator(_check_versions)]
Url = Annotated[str, AfterValidator(_check_url)]

Kind = Annotated[str, AfterValidator(_check_kind), Field(json_schema_extra={"enum": sorted(EVENT_TYPES)})]


class _OneOrMore:
    """A list that may be written as its only member."""

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        listed = handler(schema)
        return {"anyOf": [listed["items"], listed]}


Kinds = Annotated[list[Kind], Field(min_length=1), BeforeValidator(_listed), _OneOrMore()]
_SCALAR_SCHEMA: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
Scalar = str | int | float | bool | None


class _Strict(BaseModel):
    """Unknown keys are refused and nothing is converted: `to: 22` is a number, where text was meant."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=False)


class ConditionDocument(_Strict):
    """A condition on one field."""

    one_of: Annotated[list[Scalar], Field(min_length=1)] | None = Field(None, alias="in")
    at_least: int | float | None = None
    at_most: int | float | None = None


def _condition(value: Any) -> Any:
    return value if isinstance(value, dict) else {"in": value if isinstance(value, list) else [value]}


Condition = Annotated[
    ConditionDocument,
    BeforeValidator(_condition),
    WithJsonSchema(
        {
            "anyOf": [
                _SCALAR_SCHEMA,
                {
                    "type": "object",
                    "additionalProperties": False,
                    "minProperties": 1,
                    "properties": {
                        "in": {"type": "array", "items": _SCALAR_SCHEMA, "minItems": 1},
                        "at_least": {"type": "number"},
                        "at_most": {"type": "number"},
                    },
                },
            ]
        }
    ),
]


class WordingDocument(_Strict):
    """How one failure is worded, and by which versions."""

    nccl: Versions | None = Field(None, description='Versions of NCCL that word it so: ">=2.10, <2.18"')
    torch: Versions | None = Field(None, description='Versions of PyTorch that word it so: ">=2.1"')
    message: Expression = Field(description="Expression, searched in the event's message; named groups are captures")


class NearDocument(_Strict):
    """A second event close by."""

    event: Kinds
    message: Expression | None = Field(None, description="Expression that the other event's message must hold")
    within_lines: int = Field(ge=1, le=100_000, description="Lines of the same input, counted from the matched one")
    same: Literal["process", "rank", "host", "source", "any"] = Field("any", description="What both events must share")
    order: Literal["before", "after", "either"] = Field("either", description="Where the other event must stand")


class FollowDocument(_Strict):
    """An event that, when it follows, takes the match back."""

    event: Kinds
    message: Expression | None = Field(None, description="Expression that the other event's message must hold")
    within_lines: int = Field(ge=1, le=100_000, description="Lines of the same input, counted from the matched one")
    same: Literal["process", "rank", "host", "source", "any"] = Field("any", description="What both events must share")


Nears = Annotated[list[NearDocument], BeforeValidator(_listed), _OneOrMore()]
Follows = Annotated[list[FollowDocument], BeforeValidator(_listed), _OneOrMore()]


class MatchDocument(_Strict):
    """What the rule asks: events with wordings and conditions, or a detector's name."""

    event: Kinds | None = Field(None, description="A kind of event, or a list of kinds")
    wordings: list[WordingDocument] = Field([], description="Any one of them must be in the message")
    where: dict[str, Condition] = Field(default={}, description="Conditions on typed fields of the event")
    unless: list[Expression] = Field([], description="Expressions that take a match back")
    near: Nears = Field([], description="Events that must be close by")
    not_followed_by: Follows = Field([], description="Events that must not follow")
    fallback: bool = Field(default=False, description="Only where no other rule fires on the event")
    detector: Line | None = Field(None, description="A question over ranks that is answered in Python")


class StepDocument(_Strict):
    """One thing to look at or to do."""

    do: Words = Field(description="The step, as an instruction")
    run: Template | None = Field(None, description="A command; {captures} are filled in and quoted")
    owner: Literal["user", "cluster-admin", "vendor"] = "user"
    effect: Literal["inspect", "workaround", "fix"] = "inspect"
    on: Template | None = Field(None, description="Where to do it: peer, both ends, ...")
    kind: Literal["env", "cli_flag", "yaml_key", "json_key", "python_kwarg", "k8s_field", "host_command"] | None = (
        Field(None, description="What `setting` is")
    )
    setting: Line | None = Field(
        None, description="The name of what is to be set, as the catalogue has it; several are parted by a comma"
    )
    to: Template | None = Field(
        None,
        description="The value to set; quote numbers. `unset` takes it out; `half`, `double`, `three quarters`, "
        "`at least 22` and `at most 8` go by the present value; words that no file could hold describe it",
    )
    why: Words | None = None
    risk: Words | None = None
    do_not: bool = Field(default=False, description="A tempting step that harms or hides the failure")
    since: Line | None = Field(None, description="First version to which the step applies")
    until: Line | None = Field(None, description="Last version to which the step applies")
    source: Line | None = Field(None, description="Where the fact is from")
    given: list[Line] = Field(
        [],
        description="The step is for jobs seen to use one of these: a framework of the catalogue, ib, roce, efa, p2p",
    )
    along: dict[Line, Line] = Field(
        {}, description="Settings that have to change together with this one, and their values: one diff changes all"
    )


class ReferenceDocument(_Strict):
    """Where a fact of the rule is from."""

    title: Line
    url: Url


Log = Words | dict[Line, Words]


class HitDocument(_Strict):
    """A log on which the rule must fire."""

    name: Line
    source: Words = Field(description="Where the log is from, or the format string it was written from")
    log: Log = Field(description="The lines as a program prints them, prefixes and all; of several files, by name")
    captures: dict[str, str] = Field(default={}, description="What the rule must capture, exactly; quote numbers")
    also: list[IdOrGlob] = Field([], description="Other rules that may fire on this log")


class MissDocument(_Strict):
    """A log on which the rule must stay silent: the line that someone will one day mistake for this failure."""

    name: Line
    source: Words | None = Field(None, description="Where the log is from")
    log: Log = Field(description="The lines as a program prints them, prefixes and all; of several files, by name")


class ExamplesDocument(_Strict):
    """The rule's proof."""

    hit: list[HitDocument] = Field([])
    miss: list[MissDocument] = Field([])


class RuleDocument(_Strict):
    """One failure, or one harmless line, and all that is known of it. See rules/README.md."""

    id: RuleId = Field(description="category/what-failed: the file's path below rules/, without .yaml")
    title: Line = Field(description="The failure in one line, without names from a log")
    role: Role = Field(strict=False, description="What the line is in the course of a failure")
    severity: Severity = Field(strict=False, description="How bad it is")
    strength: int = Field(ge=0, le=100, description="How conclusively the words alone point to the category")
    action: Action = Field(strict=False, description="What to do about the job as a whole")
    match: MatchDocument
    same_failure: list[Line] = Field([], description="Captures whose values tell two failures of this rule apart")
    blames: Literal["observer", "captured", "peer", "none"] = Field("observer", description="Whose rank the culprit is")
    groups: list[GroupName] = Field([], description="Groups it belongs to, which other rules' `explains` may name")
    explains: list[Effect] = Field([], description="Ids, globs of ids or `group:name` of what follows from this")
    summary: Headline = Field(description="The headline; {captures}, {host}, {rank}, {pid} and {device} are filled in")
    what: Words = Field(description="What happened, in a few sentences")
    why: Words = Field(description="What usually causes it, and where to look first")
    confirm: list[StepDocument] = Field([], description="How to make sure")
    remediation: list[StepDocument] = Field([], description="What to do, best first")
    references: list[ReferenceDocument] = Field([], description="Where the facts are from")
    examples: ExamplesDocument
    formerly: list[RuleId] = Field([], description="Ids that this rule had before")


@dataclass(frozen=True, slots=True)
class Complaint:
    """A mistake in a document: where (a path into the data) and what. `offset` is a character inside the value."""

    path: Path
    message: str
    at_key: bool = False
    offset: int | None = None


def read_document(data: Any) -> RuleDocument | tuple[Complaint, ...]:
    """Return the checked document, or all complaints about it."""
    if not isinstance(data, dict):
        return (Complaint((), "a rule file should hold keys and values, such as `id: ...`"),)
    try:
        return RuleDocument.model_validate(data)
    except ValidationError as error:
        return tuple(_complaint(details, data) for details in error.errors(include_url=False))


def _complaint(details: ErrorDetails, data: Any) -> Complaint:
    path = _as_written(details["loc"], data)
    kind, context = details["type"], details.get("ctx", {})
    if kind == "extra_forbidden":
        known = _keys_at(path[:-1])
        return Complaint(path, f"is not a known key here{closest(str(path[-1]), known)}", at_key=True)
    if kind == "rule":
        return Complaint(path, context["text"], offset=context.get("offset"))
    if kind == "missing":
        return Complaint(path, "is missing")
    return Complaint(path, _in_words(kind, context, details["input"]))


def _in_words(kind: str, context: Mapping[str, Any], given: Any) -> str:
    if kind in {"enum", "literal_error"}:
        known = re.findall(r"'([^']*)'", context["expected"])
        hint = closest(given, known) if isinstance(given, str) else ""
        return f"should be {_either(known)}, not {_shown(given)}{hint}"
    if kind == "string_type" and isinstance(given, int | float):
        return f'should be text; put it in quotes: "{_shown(given)}"'
    if kind in _BOUNDS:
        words, name = _BOUNDS[kind]
        return f"should be {words} {context[name]}, not {_shown(given)}"
    if kind == "too_short":
        return "should not be empty"
    return f"should be {_WANTED.get(kind, 'something else')}, not {_shown(given)}"


_BOUNDS = {"greater_than_equal": ("at least", "ge"), "less_than_equal": ("at most", "le")}
_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "keys and values",
    "model_type": "keys and values",
}


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "keys and values"
    if isinstance(value, list):
        return "a list"
    return repr(value) if isinstance(value, str) else str(value)


def _as_written(location: tuple[int | str, ...], data: Any) -> Path:
    """Return a pydantic location as a path into the file: without the steps that no file has, which come from a
    single value read as a list of one and from the branches of a union.
    """
    path: list[int | str] = []
    for number, part in enumerate(location):
        if isinstance(data, dict) and (part in data or number == len(location) - 1):
            path.append(part)
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            path.append(part)
            data = data[part]
    return tuple(path)


def _keys_at(path: Path) -> tuple[str, ...]:
    """Return the keys that a rule file may have at `path`."""
    model: Any = RuleDocument
    for part in path:
        if isinstance(part, str) and part in model.model_fields:
            model = _model_in(model.model_fields[part].annotation) or model
        elif isinstance(part, str):
            model = ConditionDocument
    return tuple(field.alias or name for name, field in model.model_fields.items())


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model that an annotation is, lists, or may be."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return None
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is not None:
        for argument in typing.get_args(annotation):
            found = _model_in(argument)
            if found is not None:
                return found
    return None
