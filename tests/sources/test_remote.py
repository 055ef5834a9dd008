"""Logs that lie elsewhere: in fsspec's memory, and on a web server of our own."""

import gzip
import http.server
import io
import sys
import threading
import time
import zipfile
from functools import partial

import pytest
import zstandard
from archives import tar

from nccl_logscan.errors import InputError
from nccl_logscan.sources import open_sources
from nccl_logscan.sources.urls import is_url, shown

fsspec = pytest.importorskip("fsspec", exc_type=ImportError)
LOG = b"vm:1:2 [0] NCCL INFO Using network IB\n" * 1000
SIGNED = "X-Amz-Credential=AKIAABCDEFGHIJKLMNOP%2F20261130&X-Amz-Signature=0123456789abcdef0123456789abcdef"


@pytest.fixture
def store():
    """Write files to fsspec's memory."""
    memory = fsspec.filesystem("memory")

    def store(**files):
        for name, content in files.items():
            memory.pipe_file(f"/job/{name.replace('__', '/').replace('_', '.')}", content)

    memory.mkdirs("/job", exist_ok=True)
    yield store
    memory.rm("/job", recursive=True)


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; breaks off `/torn.log`, forbids `/forbidden.log`, refuses HEAD as a signed URL does."""

    def do_HEAD(self):
        self.send_error(403)

    def do_GET(self):
        if self.path.startswith("/forbidden"):
            self.send_error(403, "Signature 0123456789abcdef0123456789abcdef does not match")
        elif self.path.startswith("/torn"):
            self.send_response(200)
            self.send_header("Content-Length", str(10 * len(LOG)))
            self.end_headers()
            self.wfile.write(LOG)
            self.wfile.flush()
            time.sleep(0.2)  # what came is lost to aiohttp's reader when it learns of the end before it was asked
            self.connection.close()
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def web(tmp_path):
    """The address of a web server, which serves the test's folder."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=tmp_path))
    server.handle_error = lambda *_: None
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def only(url):
    [source] = open_sources([url])
    return source


def count(source):
    return sum(1 for _ in source.lines())


def test_a_url_is_told_from_a_path():
    assert all(map(is_url, ("s3://bucket/key", "https://host/a.log", "simplecache::gs://b/k", "memory://a")))
    assert not any(map(is_url, ("logs/a.log", "/logs/a.log", "-", "C:/a.log", "a::b", "://", "!a://b", "rank*.log")))


def test_a_file_elsewhere_is_read_as_one_here(store):
    store(a_log=LOG)
    source = only("memory://job/a.log")

    assert (source.name, source.size, source.path) == ("memory://job/a.log", len(LOG), None)
    assert (count(source), source.bytes_read, source.disk_read, source.note) == (1000, len(LOG), len(LOG), None)
    assert count(source) == 1000


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_compressed_file_elsewhere_is_unpacked(store, pack):
    store(a_log=pack(LOG * 300))
    source = only("memory://job/a.log")

    assert (count(source), source.note) == (300_000, None)


def test_a_folder_elsewhere_gives_its_files_in_natural_order(store):
    store(rank10_log=LOG, rank2_log=LOG, node1__rank0_log=LOG, _hidden=LOG)
    names = [source.name for source in open_sources(["memory://job"])]

    assert names == [f"memory:///job/{name}" for name in ("node1/rank0.log", "rank2.log", "rank10.log")]


def test_a_pattern_elsewhere_gives_the_files_that_match(store):
    store(rank10_log=LOG, rank2_log=LOG, other_txt=LOG)
    names = [source.name for source in open_sources(["memory://job/rank*.log", "memory://job/rank2.log"])]

    assert names == ["memory:///job/rank2.log", "memory:///job/rank10.log"]
    assert len(open_sources(["memory://job/rank?.log"])) == 1


def test_archives_elsewhere_give_their_members(store):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.log", LOG)
    store(a_zip=packed.getvalue(), b_tar=tar({"b.log": LOG}), c_tgz=tar({"c.log": LOG, "d.log": LOG}, "w:gz"))
    sources = open_sources(["memory://job"])

    assert [source.name.split("!")[1] for source in sources] == ["a.log", "b.log", "c.log", "d.log"]
    assert [count(source) for source in sources] == [1000] * 4


def test_an_empty_file_elsewhere_says_so(store):
    store(a_log=b"")
    source = only("memory://job/a.log")

    assert (count(source), source.note) == (0, "is empty")


@pytest.mark.parametrize("url", ["memory://job/none.log", "memory://job/none*", "memory://nowhere", "zzz://a/b"])
def test_what_is_not_there_is_an_error_with_a_hint(store, url):
    store(a_log=LOG)
    with pytest.raises(InputError, match=url.split("*")[0]) as error:
        open_sources([url])
    assert error.value.hint


def test_a_web_servers_file_is_read(web, tmp_path):
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(LOG * 200))
    source = only(f"{web}/a.log.gz")

    assert (source.name, count(source), source.note) == (f"{web}/a.log.gz", 200_000, None)


def test_a_web_servers_folder_is_read(web, tmp_path):
    (tmp_path / "logs").mkdir()
    for name in ("rank10.log", "rank2.log"):
        (tmp_path / "logs" / name).write_bytes(LOG)
    sources = open_sources([f"{web}/logs/"])

    assert [source.name for source in sources] == [f"{web}/logs/rank2.log", f"{web}/logs/rank10.log"]
    assert [count(source) for source in sources] == [1000, 1000]


def test_a_broken_connection_gives_what_came_and_says_so(web):
    source = only(f"{web}/torn.log?{SIGNED}")

    assert 0 < count(source) <= 1000
    assert "could not be read to its end" in source.note
    assert "0123456789" not in source.note


def test_a_signed_url_is_read_and_never_shown(web, tmp_path):
    (tmp_path / "a.log").write_bytes(LOG)
    source = only(f"{web}/a.log?{SIGNED}")

    assert (source.name, count(source), source.note) == (f"{web}/a.log", 1000, None)


@pytest.mark.parametrize("name", ["forbidden.log", "none.log"])
def test_what_a_server_refuses_is_told_without_the_signature(web, name):
    with pytest.raises(InputError) as error:
        open_sources([f"{web}/{name}?{SIGNED}"])

    told = f"{error.value} {error.value.hint}"
    assert f"{web}/{name}" in told
    assert not any(secret in told for secret in ("0123456789abcdef", "AKIA", "X-Amz"))


def test_a_login_is_never_shown():
    assert shown("https://me:secret@host/a.log?sig=x#y") == "https://host/a.log"
    assert shown("s3://bucket/rank?.log") == "s3://bucket/rank?.log"
    assert shown("s3://bucket/a@b.log?versionId=x") == "s3://bucket/a@b.log"


def test_a_server_that_is_not_there_is_told_without_the_login():
    with pytest.raises(InputError) as error:
        open_sources(["http://me:s3cret@127.0.0.1:9/a.log?sig=0123456789abcdef"])

    assert str(error.value).startswith("http://127.0.0.1:9/a.log cannot be read: ")
    assert not any(secret in str(error.value) for secret in ("s3cret", "sig", "abcdef"))


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(InputError, match="not installed") as error:
        open_sources(["s3://bucket/a.log"])

    assert error.value.hint == "pip install 'nccl-logscan[remote]'"


def test_without_the_package_of_a_protocol_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(InputError, match="s3fs") as error:
        open_sources(["s3://bucket/a.log"])

    assert "pip install" in error.value.hint


def test_what_a_library_says_is_told_without_what_may_be_a_secret(store, monkeypatch):
    store(a_log=LOG)

    def fail(*_, **__):
        raise RuntimeError("InvalidAccessKeyId: AKIAABCDEFGHIJKLMNOP at https://b.s3/a?X-Amz-Signature=ff00 token=abc1")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "cat_file", fail)
    with pytest.raises(InputError, match="InvalidAccessKeyId") as error:
        open_sources(["memory://job/a.log"])

    assert not any(secret in str(error.value) for secret in ("AKIA", "ff00", "abc1"))


def test_a_connection_that_breaks_in_the_middle_of_a_compressed_file_gives_what_it_holds(store, monkeypatch):
    packed = zstandard.ZstdCompressor().compress(bytes(range(32, 127)) * 100_000)
    store(a_log=packed)
    memory = type(fsspec.filesystem("memory"))
    whole = memory._open

    class Breaking:
        def __init__(self, file):
            self.file, self.left = file, 4

        def read(self, _):
            self.left -= 1
            if not self.left:
                raise ConnectionResetError(104, "Connection reset by peer")
            return self.file.read(len(packed) // 5)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(memory, "open", lambda self, path, *_, **__: Breaking(whole(self, path, "rb")))
    source = only("memory://job/a.log")

    assert 0 < sum(map(len, source.blocks())) < 9_500_000
    assert source.note == "could not be read to its end: connection reset by peer"
