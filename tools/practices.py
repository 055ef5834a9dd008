"""Compiles the practices, which people write as TOML, into the lines that a run reads.

python tools/practices.py [--check]

The TOML takes 12 ms to read, a line some microseconds, and a run looks at a few of them. Each line is [the setting that
the practice is about, the practice]. With --check nothing is written, and the exit code is 1 where the lines are stale.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from pathlib import Path

_DATA = Path(__file__).resolve().parents[1] / "nccl_logscan" / "catalogue" / "data"


def main() -> int:
    """Write the lines, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the lines are fresh")
    compiled = _DATA / "practices.jsonl"
    text = compiled_text((_DATA / "practices.toml").read_text("utf-8"))
    if not parser.parse_args().check:
        compiled.write_text(text, "utf-8")
        return 0
    if compiled.is_file() and compiled.read_text("utf-8") == text:
        return 0
    print(f"{compiled} is stale: run python tools/practices.py", file=sys.stderr)
    return 1


def compiled_text(toml: str) -> str:
    """Return the lines of practices written as TOML, in their order."""
    entries = tomllib.loads(toml)["practice"]
    lines = (json.dumps([entry["when"][0]["name"], entry]) for entry in entries)
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
