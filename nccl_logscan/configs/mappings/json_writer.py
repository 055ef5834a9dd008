"""How a value and a key are written in JSON."""

from __future__ import annotations

import json

from nccl_logscan.configs.mappings.tree import Scalar
from nccl_logscan.configs.mappings.writer import Writer
from nccl_logscan.expressions import deferred

_LITERAL = deferred(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")


class _JsonWriter(Writer):
    """Strings in quotes; numbers, booleans and null without."""

    def scalar(self, value: str, like: Scalar | None, *, is_text: bool) -> bytes | None:
        """Return a value as written, see Writer."""
        stays_text = is_text or (like is not None and like.type == "text")
        if not stays_text and _LITERAL.fullmatch(value):
            return value.encode()
        try:
            return json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return None

    def key(self, name: str) -> bytes | None:
        """Return a key as written."""
        return self.scalar(name, None, is_text=True)


JSON_WRITER = _JsonWriter()
