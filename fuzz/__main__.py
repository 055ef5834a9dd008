"""Feeds one target with atheris, which finds inputs that reach new branches; see `python -m fuzz --help`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from fuzz.target import FOUND
from fuzz.watched import WATCHED, unwatched

_SECONDS_AN_INPUT = 5
_MEGABYTES = 2_000


def main() -> None:
    """Run a target; ends the process: 0 if all held, 77 with the input in fuzz/found if not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=WATCHED)
    parser.add_argument("--runs", type=int, default=10_000, help="how many inputs")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations")
    parser.add_argument("--corpus", type=Path, help="a folder in which inputs that reach new branches are kept")
    given = parser.parse_args()
    import atheris  # noqa: PLC0415 - needed for nothing else, and not by the tests of the targets

    with atheris.instrument_imports(["nccl_logscan"], list(unwatched(given.target)), enable_loader_override=False):
        from fuzz.targets import TARGETS  # noqa: PLC0415 - what is imported before is not watched

    target = TARGETS[given.target]
    found = FOUND / target.name
    found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        seeds, words = Path(scratch, "seeds"), Path(scratch, "words")
        seeds.mkdir()
        for number, seed in enumerate(target.seeds()):
            (seeds / f"{number:05}").write_bytes(seed[: target.longest])
        entries = [f'"{_escaped(word)}"\n' for word in _usable(target.words())]
        words.write_text("".join(entries), "ascii")
        corpus = given.corpus or Path(scratch, "corpus")
        corpus.mkdir(parents=True, exist_ok=True)
        options = [f"-runs={given.runs}", f"-seed={given.seed}", f"-max_len={target.longest}"]
        options += [f"-dict={words}"] if entries else []
        options += [f"-timeout={_SECONDS_AN_INPUT}", f"-rss_limit_mb={_MEGABYTES}", f"-artifact_prefix={found}/"]
        atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", str(corpus), str(seeds)], target.attempt)
        atheris.Fuzz()


def _usable(words: Iterable[str]) -> list[str]:
    """Return words as libFuzzer's dictionaries take them: short ones, each once."""
    return [word for word in dict.fromkeys(words) if word and len(word.encode("utf-8", "replace")) <= 48]


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
