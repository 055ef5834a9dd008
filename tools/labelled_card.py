"""The data card of the labelled messages: what they are, how they were labelled, what they must not be used for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from labelled_model import Conflict, Labelled

_ORIGINS = ("rule", "case", "healthy", "collected", "catalogue")

_HEAD = """\
<!-- written by: python tools/labelled.py -->
# Labelled messages

{count} masked messages (`messages.jsonl`), each with the category of the failure that it speaks of, or `none` where it
is harmless. From these the classifier is trained that suggests a category for a message which no rule knows.

| key | meaning |
|---|---|
| `template` | the message as `nccl_logscan.events.mask.template` masks it; unique |
| `category` | a value of `nccl_logscan.taxonomy.Category`, never `unknown` |
| `scenarios` | the rules, cases or source files that it is from; what shares one belongs on one side of a split |
| `kind` | the kind of event that the tokeniser makes of it |
| `origin` | `rule`, `case`, `healthy`, `collected` or `catalogue`, see below |
| `source` | where the text is from |
| `file` | the source file that writes it, as its line says; empty where it does not |

## How many
"""

_BODY = """\
## How they were labelled

- `rule`: the messages that a rule of `rules/` takes of its own examples, found by the pipeline itself, with the rule's
  category. Rules of role benign and context give `none`.
- `case`: the messages that rules take of the failed jobs in `fixtures/cases`, with the rule's category; a rule that
  fires only where no other does counts only where its category is the case's. Of messages that no rule takes, only
  those of which a row of `weak_labels.yaml` says the case's own category.
- `healthy`: what healthy jobs in `fixtures/cases` warn of, and Python's warnings in `fixtures/lines`: `none`.
- `collected`: texts of public programs in `collected/`, each group with its source and category. Where the source says
  `public code index`, the text was seen in an index of public code that does not name the repository.
- `catalogue`: message formats of NCCL and its plugins (`fixtures/catalogue`) and of PyTorch (`torch_formats.jsonl`),
  filled with plausible values. Their labels are weak: reviewed rows of `weak_labels.yaml` on words and source files,
  each with its reason, and `formats.yaml`, where each format was read one by one with its source file. What is not
  clear is left out.

Rules whose lines are symptoms or echoes are labelled only where `weak_labels.yaml` keeps them: an aborted communicator
or a closed connection follows from everything, so it is in no category.

Two readers (language models) then judged each of the first 2,067 messages by its text alone, without seeing what a
model made of it. Their corrections stand in `reviewed.yaml`, each with its reason, and hold over all sources. What was
collected later, and `formats.yaml`, was labelled by such readers as well; nobody has read all of it again.

## Conflicts

Where sources name a template differently, the surest holds: rule, then case or healthy, then collected, then catalogue.
Where two of the surest differ, the template is left out. Of {conflicts} such templates, {dropped} were left out:

{table}

## Licence

Message strings of public programs, quoted as facts with their source; no other text of those programs is in here. What
was read of the licences: NCCL's LICENSE.txt (of 2020) is a BSD text of three clauses, PyTorch's LICENSE is BSD-style,
aws-ofi-nccl's LICENSE is Apache 2.0; those of later versions and of the other programs were not looked at. Logs in
`fixtures/cases` are our own or rewritten with invented hosts, addresses and numbers (`case.yaml` says from where).

## What it must not be used for

- It says nothing of how often failures occur: the counts are those of wordings that are known, not of jobs.
- It is no test set for the rules: most of it was labelled by them.
- A score on a random split of it is too good, since wordings of one source are alike: split by `scenarios`.
- One message does not prove a cause: a verdict needs the log around it.
"""


def card(messages: Sequence[Labelled], conflicts: Sequence[Conflict]) -> str:
    """Return the card as Markdown."""
    dropped = [conflict for conflict in conflicts if conflict.kept is None]
    body = _BODY.format(conflicts=len(conflicts), dropped=len(dropped), table=_conflicts(dropped))
    return _HEAD.format(count=f"{len(messages):,}") + "\n" + _counts(messages) + "\n\n" + body


def _counts(messages: Sequence[Labelled]) -> str:
    counted = Counter((message.category, message.origin) for message in messages)
    rows = ["| category | " + " | ".join(f"`{origin}`" for origin in _ORIGINS) + " | all |", "|---" * 7 + "|"]
    for category in sorted({message.category for message in messages}):
        numbers = [counted[category, origin] for origin in _ORIGINS]
        rows.append(f"| `{category}` | " + " | ".join(map(str, numbers)) + f" | {sum(numbers)} |")
    sums = [sum(message.origin == origin for message in messages) for origin in _ORIGINS]
    rows.append("| all | " + " | ".join(map(str, sums)) + f" | {len(messages)} |")
    return "\n".join(rows)


def _conflicts(dropped: Sequence[Conflict]) -> str:
    rows = ["| template | categories |", "|---|---|"]
    for conflict in dropped:
        text = conflict.template.replace("|", "\\|").replace("`", "'")
        text = text if len(text) <= 100 else f"{text[:100]}..."
        rows.append(f"| `{text}` | {', '.join(conflict.categories)} |")
    return "\n".join(rows) if dropped else "None."
