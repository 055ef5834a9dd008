import tracemalloc
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.sources import CUT_MARK, Limits, cut_lines
from nccl_logscan.sources.text import is_binary

DEFAULTS = Limits()


def read(*blocks, limits=DEFAULTS):
    return list(cut_lines("x", blocks, limits))


def texts(*blocks, **options):
    return [line.text for line in read(*blocks, **options)]


def test_only_a_line_feed_ends_a_line():
    assert texts(b"a\x0bb\x0cc\rd\r\ne\x1cf\xc2\x85g\n") == ["a\x0bb\x0cc\rd", "e\x1cf\x85g"]


def test_lines_are_numbered_from_one_and_know_their_first_byte():
    lines = read("aé\r\n\nc".encode())

    assert [(line.at.line, line.at.offset, line.text) for line in lines] == [(1, 0, "aé"), (2, 5, ""), (3, 6, "c")]


def test_a_last_line_without_a_line_feed_is_a_line():
    assert texts(b"a\nb") == ["a", "b"]
    assert texts(b"a\n") == ["a"]
    assert texts() == []


def test_bytes_that_are_no_utf8_are_replaced_and_counted():
    [line] = read(b"a\xff\xfeb\n")
    assert (line.text, line.replaced) == ("a��b", 2)


def test_a_replacement_character_of_the_log_itself_is_not_counted():
    [line] = read("a�b\n".encode())
    assert (line.text, line.replaced) == ("a�b", 0)


def test_holes_of_nul_bytes_are_left_out_and_counted():
    lines = read(b"a" + b"\0" * 3_000_000, b"\0" * 10 + b"b\n", b"c\n")

    assert [(line.text, line.replaced, line.at.offset) for line in lines] == [("ab", 3_000_010, 0), ("c", 0, 3_000_013)]
    assert all(line.cut == 0 for line in lines)


def test_a_byte_order_mark_is_no_text():
    assert texts(b"\xef\xbb", b"\xbfa\n") == ["a"]


def test_utf16_with_a_byte_order_mark_is_read():
    for encoding in ("utf-16", "utf-16-be"):
        encoded = "ä\r\nb\n".encode(encoding)
        encoded = encoded if encoding == "utf-16" else b"\xfe\xff" + encoded
        assert texts(*(encoded[i : i + 3] for i in range(0, len(encoded), 3))) == ["ä", "b"]


def test_a_line_beyond_the_limit_keeps_head_and_tail():
    [line, after] = read(b"abcdefghij\nk\n", limits=Limits(line_bytes=4))

    assert (line.text, line.cut) == ("ab" + CUT_MARK + "ij", 6)
    assert (after.text, after.at.offset, after.at.line) == ("k", 11, 2)


def test_a_character_cut_in_two_is_no_damage():
    [line] = read("aéééb".encode(), limits=Limits(line_bytes=4))

    assert (line.text, line.replaced) == ("a" + CUT_MARK + "b", 0)


def test_a_line_of_100_megabytes_takes_little_memory():
    block = b"x" * (1 << 20)
    tracemalloc.start()
    lines = list(cut_lines("x", (block for _ in range(100)), Limits()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert [line.cut for line in lines] == [99 << 20]
    assert peak < 16 << 20


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=12),
            st.sampled_from([b"\n", b"\r\n", b"\0\0", "é".encode(), b"\xef\xbb\xbf", b"\xff\xfe", b"abcdefgh"]),
        ),
        max_size=20,
    ).map(b"".join),
    st.lists(st.integers(0, 120), max_size=6),
    st.sampled_from([Limits(), Limits(line_bytes=5), Limits(line_bytes=2)]),
)
def test_how_a_file_is_cut_into_blocks_changes_nothing(content, cuts, limits):
    edges = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    blocks = [content[a:b] for a, b in pairwise(edges)]

    assert read(*blocks, limits=limits) == read(content, limits=limits)


@given(st.binary(max_size=200))
def test_offsets_lead_back_to_the_lines(content):
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return
    for line in read(content):
        original = content[line.at.offset :].split(b"\n")[0]
        assert (
            line.text == original.removesuffix(b"\r").replace(b"\0", b"").decode("utf-8", "replace")
            or b"\0" in original
        )


def test_programs_and_arrays_are_binary_and_odd_logs_are_not():
    assert is_binary(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20)
    assert not is_binary(b"vm:1:2 [0] NCCL INFO text\n" * 10)
    assert not is_binary(b"\0" * 60_000 + b"vm:1:2 [0] NCCL INFO text\n")
    assert not is_binary("训练 loss 3.1\n".encode("gbk") * 10)
    assert not is_binary("loss\n".encode("utf-16"))
    assert not is_binary(b"")
