"""`nccl-logscan train`: a model anew, with a site's own cases if there are any, and whether these helped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import yaml

from nccl_logscan.classifier.data import Message, read_messages, shipped_messages
from nccl_logscan.cli.options import NamedPath, must_replace_none_of
from nccl_logscan.cli.stdout import printing
from nccl_logscan.errors import InputError, OutputError
from nccl_logscan.pipeline import scan
from nccl_logscan.report.write import write_atomically
from nccl_logscan.taxonomy import Category


@click.command(
    "train",
    short_help="Train the classifier for messages that no rule knows.",
    epilog="""\b
Examples:
  nccl-logscan train                                 how good the shipped messages make it
  nccl-logscan train --cases our-cases/ -o our.model
  nccl-logscan trainer.log --model our.model         a scan that uses it""",
)
@click.option(
    "--cases",
    "folders",
    multiple=True,
    type=NamedPath(exists=True, file_okay=False),
    metavar="DIR",
    help="Cases of your own: below it a folder for each, with its logs and a case.yaml that says `category:`.",
)
@click.option("--data", type=NamedPath(), metavar="FILE", help="Other labelled messages than the shipped.")
@click.option("-o", "--output", type=NamedPath(), metavar="FILE", help="Where to write the model.")
@click.option("--card", "card_path", type=NamedPath(), metavar="FILE", help="Where to write its MODEL.md.")
def train_command(folders: tuple[Path, ...], data: Path | None, output: Path | None, card_path: Path | None) -> None:
    """Train the classifier, say how good it is on messages that it has not seen, and write it.

    With --cases it says how many of your messages it takes right with and without the others of your cases. Use a model
    by `nccl-logscan LOG --model FILE`. Needs nccl-logscan[train].
    """
    try:
        from nccl_logscan.classifier.training import Training  # noqa: PLC0415 - scikit-learn is an extra, and dear
    except ImportError as error:
        raise InputError(
            f"training needs scikit-learn, which cannot be imported: {error}",
            hint="pip install 'nccl-logscan[train]'",
        ) from error
    _must_be_apart(folders, data, output, card_path)
    messages = read_messages(data) if data is not None else shipped_messages()
    own = [message for folder in folders for message in _messages_of(folder)]
    training = Training(messages, own)
    with printing():
        for line in training.told():
            click.echo(line)
        if folders and not own:
            click.echo("of your cases rules claim all: there is nothing to learn from them")
    for path, text, what in ((output, training.text, "the model"), (card_path, training.card, "the card")):
        if path is not None:
            write_atomically(path, text, what=what)


def _must_be_apart(folders: tuple[Path, ...], data: Path | None, output: Path | None, card: Path | None) -> None:
    """Refuse, before a minute of work, to write over what is read, or into no folder: BadParameter, OutputError."""
    inputs = [str(file) for folder in folders for file in folder.rglob("*")] + ([] if data is None else [str(data)])
    for place, what in ((output, "the model"), (card, "the card")):
        if place is not None:
            must_replace_none_of(inputs, place, what)
            if not place.parent.is_dir():
                raise OutputError(
                    f"cannot write {what} to {place}: there is no folder {place.parent}", hint="create it first"
                )
    if output is not None and card is not None and output.resolve() == card.resolve():
        raise click.BadParameter(f"{card} is where the model goes", param_hint="--card")


def _messages_of(folder: Path) -> Sequence[Message]:
    """Return what no rule claims in the logs of each case, with the case's category."""
    labels = sorted(folder.rglob("case.yaml"))
    if not labels:
        raise InputError(f"{folder} has no case.yaml below it", hint="one folder a case: its logs, and a case.yaml")
    cases = {label.parent for label in labels}
    messages = []
    for label in labels:
        category = _category(label)
        files = (path for path in sorted(label.parent.rglob("*")) if path != label and path.is_file())
        logs = [path for path in files if next(one for one in path.parents if one in cases) == label.parent]
        if not logs:
            raise InputError(f"{label.parent} has no logs beside its case.yaml", hint="put the job's logs there")
        try:
            groups = scan(logs).unclaimed
        except InputError as error:
            raise InputError(
                f"case {label.parent}: {error}", hint="take it out, or put the job's logs there"
            ) from error
        scenario = f"site:{label.parent}"
        messages += [Message(group.template, category, (scenario,), "site", group.kind, group.file) for group in groups]
    return messages


def _category(label: Path) -> Category:
    known = [one.value for one in Category if one is not Category.UNKNOWN]
    try:
        plain = yaml.safe_load(label.read_text("utf-8")) if label.is_file() else None
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise InputError(f"{label} does not say a category: {str(error)[:200]}", hint="category: gpu_oom") from error
    category = plain.get("category") if isinstance(plain, dict) else None
    if not isinstance(category, str) or category not in known:
        raise InputError(f"{label} does not say a category", hint=f"category: one of {', '.join(known)}")
    return Category(category)
