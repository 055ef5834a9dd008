"""Folders of rules made for a test from one sound rule."""

from __future__ import annotations

from pathlib import Path

import yaml


class _Plain(yaml.SafeDumper):
    """Writes a value out wherever it stands: aliases are not allowed in rules."""

    def ignore_aliases(self, data):  # noqa: ARG002 - the signature is PyYAML's
        return True


SOUND = Path(__file__).parents[2] / "fixtures" / "broken-rules" / "sound.yaml"


def rule_text(rule_id, **changes):
    """Return the sound rule under another id; a change to None takes a key away."""
    document = yaml.safe_load(SOUND.read_text("utf-8")) | {"id": rule_id} | changes
    return yaml.dump({k: v for k, v in document.items() if v is not None}, Dumper=_Plain, sort_keys=False)


def write_rule(folder, rule_id, **changes):
    path = folder / f"{rule_id}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(rule_text(rule_id, **changes), "utf-8")
    return path
