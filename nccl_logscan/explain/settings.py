"""Variables, settings and concepts of the catalogue, explained."""

from __future__ import annotations

from collections.abc import Iterator

from nccl_logscan.catalogue.concepts import CONCEPTS
from nccl_logscan.catalogue.domain import in_words
from nccl_logscan.catalogue.load import Catalogue
from nccl_logscan.catalogue.model import Condition, Default, Domain, Form, Option, Reader, Variable
from nccl_logscan.catalogue.model import Kind as Made
from nccl_logscan.catalogue.versions import version, within
from nccl_logscan.explain.mentions import doing, rules_naming, steps_setting
from nccl_logscan.explain.model import Explanation, Fact, Kind
from nccl_logscan.rulebook.rule import Rulebook

_READERS = {
    Reader.NCCL: "read by NCCL",
    Reader.PLUGIN: "read by a plugin of NCCL",
    Reader.TORCH: "read by PyTorch",
    Reader.NOBODY: "read by nothing",
    Reader.OTHER: "read by neither NCCL nor PyTorch",
}
_FORMS = {
    Form.CHOICE: "one of several words",
    Form.LIST: "a list with commas",
    Form.PATH: "a path",
    Form.TEXT: "a text",
}
_KINDS = {
    Made.ENV: "environment variable",
    Made.CLI_FLAG: "option of the command line",
    Made.YAML_KEY: "key in YAML",
    Made.JSON_KEY: "key in JSON",
    Made.PYTHON_KWARG: "argument in Python",
    Made.K8S_FIELD: "field of a manifest",
    Made.HOST_COMMAND: "command or setting of a host",
}
_STEPS = 6


def explain_variable(
    variable: Variable, option: Option | None, catalogue: Catalogue, rulebook: Rulebook, nccl: str | None
) -> Explanation:
    """Return what is known of a variable; with a version of NCCL, also how it is there.

    `option` is its entry among the settings, which adds what it is good for.
    """
    steps = steps_setting(rulebook, [variable.name])
    return Explanation(
        kind=Kind.VARIABLE,
        name=variable.name,
        heading=f"environment variable, {_READERS[variable.reader]}",
        meaning=variable.meaning,
        facts=(*_variable_facts(variable, nccl), *(_use_of(option, catalogue) if option else ())),
        cautions=tuple(_cautions(variable.name, catalogue, nccl)),
        doing=tuple(doing(step) for step in steps[:_STEPS]),
        mentions=rules_naming(rulebook, [variable.name]),
        sources=tuple(dict.fromkeys((variable.source, *((option.source,) if option else ())))),
    )


def explain_option(option: Option, catalogue: Catalogue, rulebook: Rulebook | None) -> Explanation:
    """Return what is known of a framework's setting; without what rules say of it where no rulebook is given."""
    advised = rulebook is not None and not (option.dead or option.harmful)
    steps = steps_setting(rulebook, option.names) if rulebook is not None else ()
    return Explanation(
        kind=Kind.SETTING,
        name=option.names[0],
        heading=f"{_KINDS[option.kind]}, {option.framework}",
        meaning=option.effect,
        facts=tuple(_option_facts(option, catalogue)),
        doing=tuple(doing(step) for step in steps[:_STEPS] if advised or step.do_not),
        mentions=rules_naming(rulebook, option.names) if rulebook is not None else (),
        sources=(option.source,),
    )


def explain_concept(concept: str, catalogue: Catalogue) -> Explanation:
    """Return how each framework calls one thing."""
    options = catalogue.of_concept(concept)
    return Explanation(
        kind=Kind.CONCEPT,
        name=concept,
        heading="what settings of different frameworks have in common",
        meaning=CONCEPTS[concept],
        facts=tuple(Fact(option.framework, _member(option)) for option in options),
    )


# --- facts ---------------------------------------------------------------------------------------------------


def _variable_facts(variable: Variable, nccl: str | None) -> Iterator[Fact]:
    reader = "NCCL " if variable.reader is Reader.NCCL else "PyTorch " if variable.reader is Reader.TORCH else ""
    if nccl is not None and variable.reader is Reader.NCCL:
        yield Fact(f"In NCCL {nccl}", _in_version(variable, nccl))
    for default in variable.defaults:
        yield Fact("Default", default.value + (f" since {reader}{default.since}" if default.since else ""))
    yield from _values(variable.domain)
    if variable.since:
        yield Fact("Since", reader + variable.since)
    if variable.deprecated_in:
        yield Fact("Deprecated", f"since {reader}{variable.deprecated_in}")
    if variable.removed_in:
        yield Fact("Removed", f"in {reader}{variable.removed_in}; nothing reads it from there on")
    elif variable.last_seen:
        yield Fact("Last seen", f"{reader}{variable.last_seen}, the newest that was searched")
    if variable.replaced_by:
        yield Fact("Instead", variable.replaced_by)
    if not variable.documented and variable.reader not in {Reader.NOBODY, Reader.OTHER}:
        yield Fact("Documented", "no: it may change without notice")
    if not variable.verified:
        yield Fact("Verified", "no: seen as a name only, so take no advice from this")
    if variable.note:
        yield Fact("Note", variable.note)


def _in_version(variable: Variable, nccl: str) -> str:
    if variable.since and version(nccl) < version(variable.since):
        return f"not read yet; it came with {variable.since}"
    if variable.removed_in and version(nccl) >= version(variable.removed_in):
        return f"no longer read; removed in {variable.removed_in}" + (
            f", use {variable.replaced_by}" if variable.replaced_by else ""
        )
    default = default_in(variable.defaults, nccl)
    return "read" + (f", default {default}" if default is not None else "")


def default_in(defaults: tuple[Default, ...], wanted: str) -> str | None:
    """Return the default of a version; None where none is known for it."""
    having = [each for each in defaults if not each.since or version(each.since) <= version(wanted)]
    return max(having, key=lambda each: version(each.since)).value if having else None


def _option_facts(option: Option, catalogue: Catalogue) -> Iterator[Fact]:
    if option.dead:
        yield Fact("Dead", "it is ignored or refused; never set it")
    if option.harmful:
        yield Fact("Advice", "do not set it: a relic of older versions, or right at one site only")
    if option.names[1:]:
        yield Fact("Also", ", ".join(option.names[1:]))
    if option.default is not None:
        yield Fact("Default", option.default)
    yield from _values(option.domain)
    if option.since:
        yield Fact("Since", f"{option.framework} {option.since}")
    if option.until:
        yield Fact("Until", f"{option.framework} {option.until}")
    if option.example:
        yield Fact("Example", option.example)
    if option.risk:
        yield Fact("Risk", option.risk)
    yield from _instead(option, catalogue)
    if not option.verified:
        yield Fact("Verified", "no: its source was not read, so take no advice from this")
    if option.note:
        yield Fact("Note", option.note)


def _use_of(option: Option, catalogue: Catalogue) -> Iterator[Fact]:
    yield Fact("Use", option.effect)
    if option.domain.unit:
        yield Fact("Unit", option.domain.unit)
    if option.example:
        yield Fact("Example", option.example)
    if option.risk:
        yield Fact("Risk", option.risk)
    yield from _instead(option, catalogue)


def _instead(option: Option, catalogue: Catalogue) -> Iterator[Fact]:
    """What does the same: in this framework where the option is dead, by its concept otherwise."""
    if option.concept is None:
        return
    if option.dead or option.harmful:
        for other in catalogue.of_concept(option.concept):
            if _replaces(other, option):
                yield Fact("Instead", _member(other))
    yield Fact("Concept", f"{option.concept}: {CONCEPTS[option.concept]}")


def _replaces(other: Option, option: Option) -> bool:
    """Whether `other` does in the same framework, in the versions in which `option` is dead, what that should do."""
    lives_on = not other.until or version(other.until) >= version(option.since)
    return other.framework == option.framework and other.verified and lives_on and not (other.dead or other.harmful)


def _member(option: Option) -> str:
    words = [option.names[0]]
    if option.domain.unit:
        words.append(f"[{option.domain.unit}]")
    if option.default is not None:
        words.append(f"(default {option.default})")
    if option.since or option.until:
        words.append(f"in {option.since or '...'} to {option.until or 'now'}")
    if option.dead or option.harmful or not option.verified:
        words.append("- " + ("dead" if option.dead else "not advised" if option.harmful else "not verified"))
    return " ".join(words)


def _values(domain: Domain) -> Iterator[Fact]:
    if domain != Domain():
        yield Fact("Values", values_of(domain))


def values_of(domain: Domain) -> str:
    """Return which values are taken, as a person reads it."""
    unit = f", in {domain.unit}" if domain.unit else ""
    return in_words(domain) or f"{_FORMS[domain.form]}{unit}"


def _cautions(name: str, catalogue: Catalogue, nccl: str | None) -> Iterator[str]:
    for practice in catalogue.practices:
        if any(condition.name == name for condition in practice.when) and (nccl is None or within(nccl, practice.nccl)):
            others = [_where(condition) for condition in practice.when if condition.name != name]
            yield (f"Where {' and '.join(others)}: " if others else "") + f"{practice.problem} {practice.advice}"


def _where(condition: Condition) -> str:
    if condition.missing:
        return f"{condition.name} is not set"
    return f"{condition.name} is {' or '.join(condition.equals)}" if condition.equals else f"{condition.name} is set so"
