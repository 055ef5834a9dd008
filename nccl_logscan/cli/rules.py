"""`nccl-logscan rules`: what the rules are, and whether they hold."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from nccl_logscan.cli import completing
from nccl_logscan.cli.options import NamedPath, own_rules
from nccl_logscan.cli.rule_text import described, listed
from nccl_logscan.cli.stdout import printing
from nccl_logscan.cli.suggest import suggest_command
from nccl_logscan.diagnosis.detectors import DETECTOR_NAMES
from nccl_logscan.errors import OutputError, Problem, RulebookError
from nccl_logscan.report.json import json_document
from nccl_logscan.rulebook.compiled import COMPILED, text_of
from nccl_logscan.rulebook.docs import MADE_BY, pages
from nccl_logscan.rulebook.document import closest
from nccl_logscan.rulebook.find import Folder
from nccl_logscan.rulebook.lint import lint
from nccl_logscan.rulebook.load import load_rulebook
from nccl_logscan.rulebook.read import Reading, RuleFile, read_folders
from nccl_logscan.rulebook.rule import Rule
from nccl_logscan.rulebook.schema import SCHEMA, schema_text
from nccl_logscan.rulebook.where import builtin_rules
from nccl_logscan.selfcheck import healthy_logs, prove, prove_healthy
from nccl_logscan.taxonomy import Category


class _PrintingGroup(click.Group):
    """Commands that do nothing but print, or write the files that they name."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with printing():
            return super().invoke(ctx)


@click.group(
    "rules",
    cls=_PrintingGroup,
    epilog="""\b
Examples:
  nccl-logscan rules list --category infiniband
  nccl-logscan rules show infiniband/retry-exceeded
  nccl-logscan rules suggest logs/ -o site-rules     drafts of rules for what none knows
  nccl-logscan rules check --rules site-rules        whether rules of your own hold""",
)
def rules_command() -> None:
    """List, show, check and draft rules."""


rules_command.add_command(suggest_command)


@rules_command.command("check")
@click.argument("ids", nargs=-1, metavar="[ID...]", shell_complete=completing.rules)
@own_rules
def check(ids: tuple[str, ...], folders: tuple[Path, ...]) -> None:
    """Prove every rule: its shape, its references and its examples.

    With ids or globs of ids (`infiniband/*`), say only what is wrong with these.
    """
    reading = _read(folders)
    chosen = [file for file in reading.files if _is_chosen(file, ids)]
    problems = [
        *_of(reading.problems, ids),
        *lint(chosen, ids=reading.ids, groups=reading.groups, detectors=DETECTOR_NAMES),
    ]
    if ids and not chosen and not problems:
        raise click.BadParameter(
            f"no rule is called {' or '.join(ids)}; a folder is given with --rules", param_hint="ID"
        )
    for file in chosen:
        problems.extend(prove(file, reading.rulebook))
    problems.extend(_healthy(reading) if not ids else ())
    if problems:
        raise RulebookError(_in_file_order(problems))
    examples = sum(len(file.rule.hits) + len(file.rule.misses) for file in chosen)
    click.echo(f"{_counted(len(chosen), 'rule')} and {_counted(examples, 'example')} hold")


@rules_command.command("list")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to write the list.")
@click.option("--category", type=click.Choice([category.value for category in Category]), help="Only this category.")
@own_rules
def list_rules(form: str, category: str | None, folders: tuple[Path, ...]) -> None:
    """List the rules."""
    rules = [rule for rule in _written(folders).values() if category in {None, rule.category}]
    if form == "text":
        click.echo(listed(rules))
        return
    click.echo(json_document([_facts(rule) for rule in rules]), nl=False)


def _facts(rule: Rule) -> dict[str, str | int]:
    return {
        "id": rule.id,
        "title": rule.title,
        "category": rule.category,
        "family": rule.category.family,
        "role": rule.role,
        "severity": rule.severity,
        "strength": rule.strength,
        "action": rule.action,
    }


@rules_command.command("show")
@click.argument("rule_id", metavar="ID", shell_complete=completing.rules)
@own_rules
def show(rule_id: str, folders: tuple[Path, ...]) -> None:
    """Show all that one rule says."""
    rules = _written(folders)
    rule = rules.get(rule_id) or next((rule for rule in rules.values() if rule_id in rule.formerly), None)
    if rule is None:
        raise click.BadParameter(f"there is no rule '{rule_id}'{closest(rule_id, rules)}", param_hint="ID")
    click.echo(described(rule))


# --- what is made from the rules -----------------------------------------------------------------------------

_CHECK = click.option("--check", "only_check", is_flag=True, help="Write nothing; say whether it is fresh.")


@rules_command.command("docs", short_help="Write a page for each category, and an index.")
@click.argument("folder", metavar="[DIR]", default="docs/rules", type=NamedPath(file_okay=False))
@_CHECK
def docs(folder: Path, *, only_check: bool) -> None:
    """Write a page for each category, and an index, into DIR (docs/rules)."""
    wanted = {folder / name: text for name, text in pages(_written(()).values()).items()}
    made = {page: page.read_text("utf-8", "replace").startswith(MADE_BY) for page in sorted(folder.glob("*.md"))}
    foreign = [page for page in wanted if not made.get(page, True)]
    if foreign:
        raise OutputError(f"{foreign[0]} was not made by this command", hint="name a folder for the pages alone")
    stale = [page for page, is_ours in made.items() if is_ours and page not in wanted]
    _bring_up_to_date(wanted, stale, "nccl-logscan rules docs", only_check=only_check)


@rules_command.command("schema", short_help="Write the schema by which an editor completes rules.")
@_CHECK
def schema(*, only_check: bool) -> None:
    """Write rules/rule.schema.json, which gives completion in an editor."""
    path = Path(str(builtin_rules())) / SCHEMA
    _bring_up_to_date({path: schema_text()}, (), "nccl-logscan rules schema", only_check=only_check)


@rules_command.command("compile", short_help="Write the file from which a scan loads the rules it needs.")
@_CHECK
def compile_rules(*, only_check: bool) -> None:
    """Write rules/whole.jsonl, from which a scan loads the rules that it needs."""
    path = Path(str(builtin_rules())) / COMPILED
    _bring_up_to_date(
        {path: text_of(load_rulebook([builtin_rules()]))}, (), "nccl-logscan rules compile", only_check=only_check
    )


def _bring_up_to_date(wanted: Mapping[Path, str], stale: Sequence[Path], command: str, *, only_check: bool) -> None:
    changed = [path for path, text in wanted.items() if not path.is_file() or path.read_text("utf-8") != text]
    if only_check:
        if changed or stale:
            names = ", ".join(str(path) for path in (*changed, *stale))
            raise OutputError(f"out of date: {names}", hint=f"run {command}")
        click.echo(f"{_counted(len(wanted), 'file')} up to date")
        return
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], "utf-8")
    for path in stale:
        path.unlink()
    click.echo(f"{len(changed)} of {len(wanted)} written, {len(stale)} removed")


# --- reading -------------------------------------------------------------------------------------------------


def _written(folders: tuple[Path, ...]) -> Mapping[str, Rule]:
    reading = _read(folders)
    if reading.problems:
        raise RulebookError(reading.problems)
    return reading.written


def _read(folders: tuple[Path, ...]) -> Reading:
    everything: list[Folder] = [builtin_rules(), *folders]
    return read_folders(everything)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def _is_chosen(file: RuleFile, ids: Sequence[str]) -> bool:
    return not ids or any(fnmatch.fnmatchcase(file.rule.id, glob) for glob in ids)


def _of(problems: Sequence[Problem], ids: Sequence[str]) -> list[Problem]:
    return [
        problem
        for problem in problems
        if not ids or any(fnmatch.fnmatchcase(problem.file, f"*{glob}.yaml") for glob in ids)
    ]


def _in_file_order(problems: Sequence[Problem]) -> list[Problem]:
    return sorted(problems, key=lambda problem: (problem.file, problem.line, problem.column))


def _healthy(reading: Reading) -> list[Problem]:
    """Scan the healthy logs that lie beside a checkout's rules; a wheel has none."""
    fixtures = Path(str(builtin_rules())).parent / "fixtures" / "cases"
    return list(prove_healthy(healthy_logs(fixtures), reading.rulebook))
