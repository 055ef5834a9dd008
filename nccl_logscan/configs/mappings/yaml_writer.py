"""How a value and a key are written in YAML."""

from __future__ import annotations

import json

from nccl_logscan.configs.mappings.tree import Scalar
from nccl_logscan.configs.mappings.writer import Writer
from nccl_logscan.configs.mappings.yaml_tree import scalar_type
from nccl_logscan.expressions import deferred

_BARE = deferred(r"(?:[A-Za-z0-9_./^]|-(?=[A-Za-z0-9.]))[A-Za-z0-9_./^=+@%~:-]*(?<!:)")
_UNPRINTABLE = deferred(r"[^\t\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _YamlWriter(Writer):
    """Quotes as those that are there; new ones are double."""

    def scalar(self, value: str, like: Scalar | None, *, is_text: bool) -> bytes | None:
        """Return a value as written, see Writer."""
        quote = like.quote if like else ""
        if quote in ("|", ">") or _UNPRINTABLE.search(value):
            return None
        if quote == "'" and "\t" not in value:
            return ("'" + value.replace("'", "''") + "'").encode()
        kind = scalar_type(value)
        is_bare = _BARE.fullmatch(value) is not None and not quote
        if is_bare and (kind == "text" or not (is_text or (like is not None and like.type == "text"))):
            return value.encode()
        return json.dumps(value, ensure_ascii=False).encode()

    def key(self, name: str) -> bytes | None:
        """Return a key as written, None for one that would need quotes."""
        return name.encode() if _BARE.fullmatch(name) and scalar_type(name) == "text" else None


YAML_WRITER = _YamlWriter()
