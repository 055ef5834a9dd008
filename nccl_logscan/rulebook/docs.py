"""`docs/rules/*.md`: a page for each category with all that is known of each failure; made from the rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nccl_logscan.expressions import deferred
from nccl_logscan.rulebook.rule import GROUP, Matcher, Nearby, Rule, Step, Test, Wording, members_of
from nccl_logscan.taxonomy import Category, Role

MADE_BY = "<!-- Made by `nccl-logscan rules docs`; edit the rules instead. -->"

_MARKUP = deferred(r"[\\*\[\]<>&|#~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_BACKTICKS = deferred(r"`+")


def pages(rules: Iterable[Rule]) -> Mapping[str, str]:
    """Return the text of each page by its file name: `README.md` and one page a category that has rules."""
    by_category: dict[Category, list[Rule]] = {}
    for rule in sorted(rules, key=lambda rule: rule.id):
        by_category.setdefault(rule.category, []).append(rule)
    ordered = {category: by_category[category] for category in Category if category in by_category}
    groups = members_of(rule for held in ordered.values() for rule in held)
    written = {f"{category}.md": _text(_page(category, held)) for category, held in ordered.items()}
    return {"README.md": _text(_index(ordered, groups)), **written}


def _text(lines: Iterable[str]) -> str:
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"


def _index(by_category: Mapping[Category, Sequence[Rule]], groups: Mapping[str, Sequence[str]]) -> Iterator[str]:
    total = sum(len(rules) for rules in by_category.values())
    yield from (MADE_BY, "", "# Failures that nccl-logscan knows", "")
    yield from (f"{total} rules in {len(by_category)} categories.", "")
    yield from ("| family | category | the root cause is | rules |", "|---|---|---|---:|")
    for category, rules in by_category.items():
        meaning = prose(category.meaning)
        yield f"| {category.family} | [{category}]({category}.md) | {meaning} | {len(rules)} |"
    if groups:
        yield from ("", "## Groups", "", "Rules of a group are named together where another failure leads to them.", "")
    for name, ids in sorted(groups.items()):
        yield f'- <a id="{name}"></a>{code(name)}: {", ".join(_link(rule_id) for rule_id in ids)}'


def _page(category: Category, rules: Sequence[Rule]) -> Iterator[str]:
    yield from (MADE_BY, "", f"# {category}", "")
    yield from (
        f"The root cause is: {prose(category.meaning)}. Family: {category.family}. [All categories](README.md)",
        "",
    )
    for rule in rules:
        yield f"- [{prose(rule.title)}](#{_anchor(rule.id)})"
    for rule in rules:
        yield ""
        yield from _rule(rule)


def _rule(rule: Rule) -> Iterator[str]:
    yield from (f'<a id="{_anchor(rule.id)}"></a>', "", f"## {prose(rule.title)}", "")
    yield from (f"{code(rule.id)}: {_standing(rule)}", "")
    yield from (prose(rule.what), "")
    yield from (f"**Why.** {prose(rule.why)}", "")
    yield from _recognised(rule.match)
    if rule.groups:
        yield from (f"**In the groups** {', '.join(_link(GROUP + group) for group in rule.groups)}", "")
    if rule.explains:
        yield from ("**What follows from it:** " + ", ".join(_link(entry) for entry in rule.explains), "")
    yield from _steps("How to make sure", rule.confirm)
    yield from _steps("What to do", [step for step in rule.remediation if not step.do_not])
    yield from _steps("What not to do", [step for step in rule.remediation if step.do_not])
    if rule.references:
        yield from ("**Sources**", "")
        yield from (f"- [{prose(reference.title)}](<{reference.url}>)" for reference in rule.references)


def _standing(rule: Rule) -> str:
    parts = [f"{rule.role}, {rule.severity}"]
    if rule.role in {Role.CAUSE, Role.SYMPTOM}:
        parts.append(f"strength {rule.strength} of 100")
    parts.append(f"action {code(rule.action)}")
    return ", ".join(parts)


# --- how it is recognised ------------------------------------------------------------------------------------


def _recognised(match: Matcher) -> Iterator[str]:
    if match.detector is not None:
        yield from (f"**Recognised by** the detector {code(match.detector)}, which looks across lines and ranks.", "")
        return
    kinds = " or ".join(code(kind) for kind in match.events)
    yield from (f"**Recognised by** {kinds}{', worded' if match.wordings else ''}", "")
    if match.wordings:
        yield from (f"- {_versions(wording)}{code(wording.pattern.text)}" for wording in match.wordings)
        yield ""
    conditions = list(_conditions(match))
    if conditions:
        yield from (*(f"- {condition}" for condition in conditions), "")


def _versions(wording: Wording) -> str:
    said = [
        f"{name} {prose(range_)}" for name, range_ in (("NCCL", wording.nccl), ("PyTorch", wording.torch)) if range_
    ]
    return f"{', '.join(said)}: " if said else ""


def _conditions(match: Matcher) -> Iterator[str]:
    for name, test in match.where.items():
        yield f"only where {code(name)} is {_asked(test)}"
    for pattern in match.unless:
        yield f"not where the message holds {code(pattern.text)}"
    for near in match.near:
        where = {"before": "before", "after": "after"}.get(near.order, "around")
        yield f"only with {_nearby(near)} within {near.within_lines} lines {where}"
    for follower in match.not_followed_by:
        yield f"not where {_nearby(follower)} follows within {follower.within_lines} lines"
    if match.fallback:
        yield "only where no other rule speaks of the line"


def _asked(test: Test) -> str:
    if test.values:
        return " or ".join(code("nothing" if value is None else str(value)) for value in test.values)
    bounds = [f"at least {test.at_least:g}" if test.at_least is not None else ""]
    bounds.append(f"at most {test.at_most:g}" if test.at_most is not None else "")
    return " and ".join(bound for bound in bounds if bound)


def _nearby(nearby: Nearby) -> str:
    kinds = " or ".join(code(kind) for kind in nearby.events)
    worded = f" holding {code(nearby.pattern.text)}" if nearby.pattern is not None else ""
    same = "" if nearby.same == "any" else f" of the same {nearby.same}"
    return f"{kinds}{worded}{same}"


# --- steps ---------------------------------------------------------------------------------------------------


def _steps(heading: str, steps: Sequence[Step]) -> Iterator[str]:
    if not steps:
        return
    yield from (f"**{heading}**", "")
    for step in steps:
        yield f"- {_step(step)}"
        if step.run:
            yield from ("", *(f"  {line}" for line in _fenced(step.run)), "")
    yield ""


def _step(step: Step) -> str:
    sentences = [prose(step.do)]
    if step.setting:
        sentences.append(f"Set {code(step.setting)}" + (f" to {code(step.to)}." if step.to is not None else "."))
    sentences += [f"Along with it, set {code(name)} to {code(value)}." for name, value in step.along]
    sentences += [prose(step.why)] if step.why else []
    sentences += [f"Risk: {prose(step.risk)}"] if step.risk else []
    notes = [] if step.do_not else [step.owner, step.effect]
    notes += [f"on {prose(step.on)}"] if step.on else []
    notes += [f"for {prose(', '.join(step.given))}"] if step.given else []
    notes += [f"since {prose(step.since)}"] if step.since else []
    notes += [f"until {prose(step.until)}"] if step.until else []
    notes += [_source(step.source)] if step.source else []
    return " ".join(sentences) + (f" ({', '.join(notes)})" if notes else "")


def _source(source: str) -> str:
    return f"[source](<{source}>)" if re.fullmatch(r"https?://[^\s<>]+", source) else f"source: {prose(source)}"


# --- Markdown ------------------------------------------------------------------------------------------------


def prose(text: str) -> str:
    """Return a rule's text as Markdown on one line: backticks mark code as written, all else stands for itself."""
    pieces = " ".join(text.split()).split("`")
    if len(pieces) % 2 == 0:  # a backtick without a partner is a character
        return "\\`".join(_MARKUP.sub(_escaped, piece) for piece in pieces)
    return "".join(
        code(piece) if number % 2 else _MARKUP.sub(_escaped, piece) for number, piece in enumerate(pieces) if piece
    )


def code(text: str) -> str:
    """Return `text` as inline code, whatever backticks it holds."""
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _escaped(match: re.Match[str]) -> str:
    return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(match[0], f"\\{match[0]}")


def _fenced(text: str) -> Iterator[str]:
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    yield from (f"{fence}sh", *text.strip("\n").split("\n"), fence)


def _anchor(rule_id: str) -> str:
    return rule_id.partition("/")[2]


def _link(glob: str) -> str:
    if glob.startswith(GROUP):
        name = glob.removeprefix(GROUP)
        return f"[{code(name)}](README.md#{name})"
    category, _, name = glob.partition("/")
    if any(letter in glob for letter in "*?"):
        return f"[{code(glob)}]({category}.md)" if category in set(Category) else code(glob)
    return f"[{code(glob)}]({category}.md#{name})"
