"""What compressed inputs begin with."""

from __future__ import annotations

MAGICS = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "xz": b"\xfd7zXZ\x00", "bz2": b"BZh"}
_SKIPPABLE_ZSTD = b"\x2a\x4d\x18"


def compression_of(head: bytes) -> str | None:
    """Return gzip, zstd, xz or bz2 by the first bytes of an input; None if it is none of them."""
    for name, magic in MAGICS.items():
        if head.startswith(magic):
            return name
    return "zstd" if is_skippable_zstd(head) else None


def is_skippable_zstd(head: bytes) -> bool:
    """Tell whether a frame that holds no content begins here: pzstd and the seekable format put some between others."""
    return head[1:4] == _SKIPPABLE_ZSTD and 0x50 <= head[0] <= 0x5F
