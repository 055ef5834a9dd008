"""Proves the literals of all expressions behind gates, and writes them to nccl_logscan/gate.json.

python tools/gates.py [--check]

A proof takes half a millisecond and is the same each time, so the program reads it, by the expression itself. With
--check nothing is written, and the exit code is 1 where an expression has no proof there, or another one.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import re
import sys

import nccl_logscan
from nccl_logscan import gate
from nccl_logscan.literals import Needed


def main() -> int:
    """Write the proofs, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the proofs are fresh")
    text = proofs()
    if not parser.parse_args().check:
        gate.SHIPPED.write_text(text, "utf-8")
        return 0
    if gate.SHIPPED.is_file() and gate.SHIPPED.read_text("utf-8") == text:
        return 0
    print(f"{gate.SHIPPED} is stale: run python tools/gates.py", file=sys.stderr)
    return 1


def proofs() -> str:
    """Return the proofs of every expression that a gate is made of."""
    proved: dict[str, Needed] = {}
    prove = gate.proof_of

    def noted(expression: re.Pattern[str]) -> Needed:
        return proved.setdefault(gate.key_of(expression), prove(expression))

    gate.proof_of, gate._shipped = noted, dict  # type: ignore[assignment]
    for module in pkgutil.walk_packages(nccl_logscan.__path__, "nccl_logscan."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # Makes its gate when a scan begins; all others are made when their modules are loaded.
    importlib.import_module("nccl_logscan.diagnosis.frameworks").Frameworks()
    entries = [f"{json.dumps(key)}: {json.dumps([needed.texts, needed.folded])}" for key, needed in proved.items()]
    return "{\n" + ",\n".join(sorted(entries)) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main())
