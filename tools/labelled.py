"""Builds the labelled messages of fixtures/labelled, from which the classifier of unclaimed messages is trained.

python tools/labelled.py           build and write
python tools/labelled.py --check   build and say whether the files are fresh
"""

from __future__ import annotations

import argparse
import json
import sys

from labelled_card import card
from labelled_model import settled
from labelled_sources import FOLDER, all_sources, read_reviews, read_table


def main() -> int:
    """Build the messages and their card; write or compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the files are fresh")
    check = parser.parse_args().check
    messages, conflicts = settled(all_sources(read_table()), read_reviews())
    lines = (json.dumps(message.plain(), ensure_ascii=False) for message in messages)
    files = {"messages.jsonl": "".join(f"{line}\n" for line in lines), "README.md": card(messages, conflicts)}
    if not check:
        for name, text in files.items():
            (FOLDER / name).write_text(text, "utf-8")
        print(f"wrote {len(messages)} messages; {len(conflicts)} templates were told differently by two sources")
        return 0
    stale = [name for name, text in files.items() if _read(name) != text]
    for name in stale:
        print(f"fixtures/labelled/{name} is stale: run python tools/labelled.py")
    if not stale:
        print("fixtures/labelled is fresh")
    return 1 if stale else 0


def _read(name: str) -> str | None:
    path = FOLDER / name
    return path.read_text("utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
