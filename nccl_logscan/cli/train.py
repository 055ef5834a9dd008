"""`nccl-logscan train`: a model anew, with a site's own cases if there are any, and whether these helped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import yaml

from nccl_logscan.classifier.data import Message, read_messages, shipped_messages
from nccl_logscan.classifier.model import SHIPPED
from nccl_logscan.cli.stdout import printing
from nccl_logscan.errors import InputError, OutputError
from nccl_logscan.pipeline import scan
from nccl_logscan.taxonomy import Category


@click.command("train")
@click.option(
    "--cases",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Cases of your own: below it a folder for each, with its logs and a case.yaml that says `category:`.",
)
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="FILE", help="Other labelled messages than the shipped."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Where to write the model.")
@click.option(
    "--card", "card_path", type=click.Path(path_type=Path), metavar="FILE", help="Where to write its MODEL.md."
)
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
    messages = read_messages(data) if data is not None else shipped_messages()
    own = [message for folder in folders for message in _messages_of(folder)]
    with printing():
        training = Training(messages, own)
        for line in training.told():
            click.echo(line)
        for path, text in ((output, training.text), (card_path, training.card)):
            if path is not None:
                _write(path, text)


def _messages_of(folder: Path) -> Sequence[Message]:
    """Return what no rule claims in the logs of each case, with the case's category."""
    labels = sorted(folder.rglob("case.yaml"))
    if not labels:
        raise InputError(f"{folder} has no case.yaml below it", hint="one folder a case: its logs, and a case.yaml")
    messages = []
    for label in labels:
        category = _category(label)
        logs = sorted(path for path in label.parent.rglob("*") if path.is_file() and path != label)
        if not logs:
            raise InputError(f"{label.parent} has no logs beside its case.yaml")
        scenario = f"site:{label.parent.relative_to(folder)}"
        groups = scan(logs).unclaimed
        messages += [Message(group.template, category, (scenario,), "site") for group in groups]
    return messages


def _category(label: Path) -> Category:
    try:
        plain = yaml.safe_load(label.read_text("utf-8"))
        return Category(plain["category"])
    except (OSError, ValueError, TypeError, KeyError, yaml.YAMLError) as error:
        known = ", ".join(one.value for one in Category)
        raise InputError(f"{label} does not say a category: {error}", hint=f"category: one of {known}") from error


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror}") from error
    click.echo(f"wrote {path}{' (the shipped model)' if path.resolve() == SHIPPED else ''}", err=True)
