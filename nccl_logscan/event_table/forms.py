"""How a table may be written, and the names of files that ask for it."""

from __future__ import annotations

from pathlib import Path

SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
"""Forms by how a file's name ends."""


def form_named(name: str) -> str:
    """Return the form that a file's name asks for. Raises ValueError where it asks for none."""
    form = SUFFIXES.get(Path(name).suffix.lower())
    if form is None:
        raise ValueError(f"the name {name} does not tell a format; end it in .parquet, .csv or .jsonl")
    return form
