"""What compressed inputs and archives begin with."""

from __future__ import annotations

MAGICS = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "xz": b"\xfd7zXZ\x00", "bz2": b"BZh"}
_TAR_HEADER = 512
_TAR_CHECK = slice(148, 156)
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


def looks_like_tar(head: bytes) -> bool:
    """Tell by the first 512 bytes; the header's own check sum decides, so no text is mistaken for one."""
    if len(head) < _TAR_HEADER or not head[_TAR_CHECK].strip(b" \0").isdigit():
        return False
    import tarfile  # noqa: PLC0415 - 4 ms, and most logs stop above

    try:
        return bool(tarfile.TarInfo.frombuf(head[:_TAR_HEADER], "utf-8", "surrogateescape").name)
    except (tarfile.TarError, ValueError):
        return False


def looks_like_zip(head: bytes) -> bool:
    """Tell by the first bytes."""
    return head.startswith(b"PK\x03\x04")
