"""URLs → where their bytes lie: object stores, HDFS, web servers and whatever else fsspec knows, read as streams.

fsspec is an extra (`nccl-logscan[remote]`) and is imported when a URL is given. A URL may hold a login or a signature,
and what its libraries say may repeat them; neither goes into a name or a message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from nccl_logscan.errors import InputError
from nccl_logscan.sources.ahead import Blocks, read_ahead
from nccl_logscan.sources.ends import PIECE, EarlyEnd
from nccl_logscan.sources.natural import natural
from nccl_logscan.sources.urls import QUERY, URL, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATTERN = re.compile(r"[*\[]|\?(?!.*=)")
# What may be a secret in a library's message: URLs, assignments, long words with a digit or in capitals alone.
_UNSAFE = re.compile(r"\S*(?:://|[?&]\S*=)\S*|\S*=\S+|(?=\S*\d)[^\s:,;()']{16,}|\b[A-Z0-9]{16,}")
_WEB = frozenset({"http", "https"})
_WAIT_SECONDS = 60
_READ_SIZE = 8 << 20


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file that lies elsewhere: `name` may be shown, `size` is None where its place does not tell."""

    name: str
    size: int | None
    identity: tuple[str, str] = field(repr=False)
    _files: Any = field(repr=False)
    _path: str = field(repr=False)

    @property
    def is_near(self) -> bool:
        """Whether ranges of it are read about as fast as the whole."""
        return False

    def head(self, size: int) -> bytes:
        """Return the first bytes. Raises InputError where they cannot be had."""
        if self.size == 0:
            return b""
        with _told(self._unreadable):
            if not _is_web(self._files):
                return cast("bytes", self._files.cat_file(self._path, start=0, end=size))
            with self.open() as stream:
                return _up_to(stream, size)

    def blocks(self) -> Blocks:
        """Give the file's bytes as often as they are asked for, a few blocks ahead of who reads them."""

        def blocks(took: Callable[[int], None]) -> Iterator[bytes]:
            with _told(_torn), self.open() as stream:
                while block := stream.read(PIECE):
                    took(len(block))
                    yield block

        return read_ahead(blocks)

    def _unreadable(self, error: Exception) -> InputError:
        return _unreadable(self.name, error)

    def open(self, *, seekable: bool = False) -> BinaryIO:
        """Open the file: as one stream where it is not to be sought in."""
        if _is_web(self._files) and not seekable:
            # A length that is not 0 saves the request for it, which a URL signed for GET alone would have refused.
            return cast("BinaryIO", self._files.open(self._path, "rb", block_size=0, size=-1))
        return cast("BinaryIO", self._files.open(self._path, "rb", block_size=_READ_SIZE, cache_type="readahead"))


def remote_files(url: str) -> list[RemoteFile]:
    """Return the files that a URL names: one, all below a folder, or those that match a pattern, rank2 before rank10.

    A web server's page of links is taken for a folder where its URL ends in `/`. Raises InputError where there is none,
    where it may not be read, or where the library for it is not installed.
    """
    name = shown(url)
    files, path = _file_system(url, name)
    with _told(partial(_unreadable, name)):
        found = _found(files, path, url)
    if not found:
        raise InputError(f"{name} names no file", hint="check the address, and that it is open to you")
    if list(found) == [path]:
        return [RemoteFile(name, found[path], (_protocol(files), path), files, path)]
    return [
        RemoteFile(shown(files.unstrip_protocol(member)), found[member], (_protocol(files), member), files, member)
        for member in sorted(found, key=natural)
    ]


def _file_system(url: str, name: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError(
            f"{name} lies elsewhere, and what reads such addresses is not installed",
            hint="pip install 'nccl-logscan[remote]'",
        ) from None
    match = URL.match(url)
    try:
        options = _web_options() if match and match[1].lower() in _WEB else {}
        with _told(partial(_unreadable, name), but=ImportError):
            return cast("tuple[Any, str]", url_to_fs(url, **options))
    except ImportError as error:
        raise InputError(
            f"{name} cannot be read: {_first_line(error)}",
            hint="pip install 'nccl-logscan[remote]', and the package that is named here",
        ) from None


def _web_options() -> dict[str, object]:
    """Return how to talk to a web server: through the proxies of the environment, as long as bytes come."""
    from aiohttp import ClientTimeout  # noqa: PLC0415 - an extra

    waits = ClientTimeout(total=None, sock_connect=_WAIT_SECONDS, sock_read=_WAIT_SECONDS)
    return {"client_kwargs": {"timeout": waits, "trust_env": True}, "skip_instance_cache": True}


def _found(files: Any, path: str, url: str) -> Mapping[str, int | None]:
    """Return the paths that a URL names, with their sizes as far as known."""
    if _is_web(files) and not path.endswith("/") and not _PATTERN.search(QUERY.sub("", url)):
        return {path: None}
    if _PATTERN.search(path) and not files.exists(path):
        matches = cast("dict[str, dict[str, Any]]", files.glob(path, detail=True))
        return {member: told.get("size") for member, told in matches.items() if told["type"] != "directory"}
    if not path.endswith("/") and files.info(path)["type"] == "file":
        return {path: files.info(path).get("size")}
    below = cast("dict[str, dict[str, Any]]", files.find(path, detail=True))
    return {member: told.get("size") for member, told in below.items() if not _is_hidden(member, path)}


def _is_hidden(member: str, top: str) -> bool:
    return any(part.startswith(".") for part in member.removeprefix(top).split("/"))


def _is_web(files: Any) -> bool:
    return not _WEB.isdisjoint(_protocols(files))


def _protocol(files: Any) -> str:
    return _protocols(files)[0]


def _protocols(files: Any) -> tuple[str, ...]:
    protocol = files.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


@contextmanager
def _told(told: Callable[[Exception], Exception], but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Raise what `told` makes of an error; each library behind fsspec has errors of its own."""
    try:
        yield
    except but:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        raise told(error) from None


def _torn(error: Exception) -> EarlyEnd:
    return EarlyEnd(f"could not be read to its end: {_reason(error)}")


def _up_to(stream: BinaryIO, size: int) -> bytes:
    """Return the first bytes; fewer at the end, also where it comes early: that is told when all is read."""
    pieces: list[bytes] = []
    with suppress(EarlyEnd), _told(_torn):
        while size > 0 and (block := stream.read(size)):
            size -= len(block)
            pieces.append(block)
    return b"".join(pieces)


def _unreadable(name: str, error: Exception) -> InputError:
    return InputError(
        f"{name} cannot be read: {_reason(error)}",
        hint="check the address, and that its library finds what to log in with (its variables, its configuration)",
    )


def _reason(error: Exception) -> str:
    """Return what went wrong, without what may be a secret in the library's words.

    They may be anything: a server's answer, the URL with its signature, the key that was not accepted.
    """
    if isinstance(error, FileNotFoundError):
        return "there is no such file, or it is not open to you"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    status = getattr(error, "status", None)
    if isinstance(status, int):
        return f"the server answered with status {status}"
    said = _UNSAFE.sub("[...]", _first_line(error))
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0][:200]
