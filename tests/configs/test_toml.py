import tomllib

import pytest
from hypothesis import given
from hypothesis import settings as tuned
from hypothesis import strategies as some
from typed import added, changed, read, removed, setting, settings

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.read import read_text

JOB = """\
# a job
title = "x"
a.b = 1  # dotted

[training]
mixed_precision_param = 'bfloat16'  # the default
[comm]
init_timeout_seconds = 1_000
more = { trace = 5, size = [1, 2] }

[env]
NCCL_DEBUG = "INFO"
"""


def test_tables_and_dots_are_one_path():
    assert settings("job.toml", JOB) == {
        "title": "x",
        "a.b": "1",
        "training.mixed_precision_param": "bfloat16",
        "comm.init_timeout_seconds": "1000",
        "comm.more.trace": "5",
        "comm.more.size[0]": "1",
        "comm.more.size[1]": "2",
        "NCCL_DEBUG": "INFO",
    }
    placed = setting(read("job.toml", JOB), "comm.init_timeout_seconds")
    assert (placed.framework, placed.at.line, placed.scalar) == ("torchtitan", 8, "integer")


def test_an_edit_keeps_quotes_types_and_comments():
    assert changed("job.toml", JOB, "comm.init_timeout_seconds", "600") == JOB.replace("1_000", "600")
    assert changed("job.toml", JOB, "training.mixed_precision_param", "float32") == JOB.replace("bfloat16", "float32")
    assert changed("job.toml", JOB, "title", "600") == JOB.replace('"x"', '"600"')


def test_a_key_goes_with_its_line():
    assert removed("job.toml", JOB, "a.b") == JOB.replace("a.b = 1  # dotted\n", "")
    assert removed("job.toml", JOB, "comm.more.trace") == JOB.replace("trace = 5, ", "")
    assert removed("job.toml", JOB, "NCCL_DEBUG") == JOB.replace('NCCL_DEBUG = "INFO"\n', "")


def test_a_key_is_added_to_its_table_or_with_a_new_one():
    text = added("job.toml", JOB, Kind.YAML_KEY, "comm.trace_buf_size", "20000")
    assert text == JOB.replace("2] }\n", "2] }\ntrace_buf_size = 20000\n")
    text = added("job.toml", JOB, Kind.YAML_KEY, "checkpoint.folder", "x")
    assert text == JOB + '\n[checkpoint]\nfolder = "x"\n'
    assert added("job.toml", JOB, Kind.ENV, "NCCL_B", "1") == JOB + 'NCCL_B = "1"\n'


def test_a_broken_line_leaves_the_others():
    config = read("a.toml", "a = 1\nb = = 2\n[t]\nc = 3\n")
    assert config.faults
    assert settings("a.toml", config.data)["t.c"] == "3"


LEAVES = some.one_of(
    some.integers(-(2**60), 2**60), some.booleans(), some.text(alphabet="ab9 #'\"\\=[]é\t\n", max_size=8)
)


def written(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if "'" in value or "\n" in value:
        for sign, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
            value = value.replace(sign, escape)
        return f'"{value}"'
    return f"'{value}'"


@given(
    some.dictionaries(
        some.sampled_from("abc"),
        some.dictionaries(some.sampled_from(["x", "y", "z w"]), LEAVES, min_size=1),
        min_size=1,
    ),
    some.data(),
)
@tuned(max_examples=80, deadline=None)
def test_reading_and_editing_agree_with_tomllib(tables, data):
    lines = []
    for table, pairs in tables.items():
        lines += [f"[{table}]", *(f"'{key}' = {written(value)} # own" for key, value in pairs.items())]
    text = "\n".join(lines) + "\n"
    found = settings("a.toml", text)
    known = {f"{table}.{key}": value for table, pairs in tables.items() for key, value in pairs.items()}
    assert found == {key: written(value) if not isinstance(value, str) else value for key, value in known.items()}
    name = data.draw(some.sampled_from(sorted(known)))
    table, _, key = name.partition(".")
    value = data.draw(some.sampled_from(["600", "true", "x y", "it's"]))
    after = tomllib.loads(changed("a.toml", text, name, value))
    new = after[table][key]
    assert new == value or str(new).lower() == value
    assert after == {**tables, table: {**tables[table], key: new}}
    less = {one: other for one, other in tables[table].items() if one != key}
    assert tomllib.loads(removed("a.toml", text, name)) == {**tables, table: less}


@given(some.one_of(some.binary(max_size=100), some.text(alphabet="[]{}=.,\"'#a1\n", max_size=60).map(str.encode)))
@tuned(max_examples=100, deadline=None)
def test_any_bytes_give_a_result(data):
    assert read_text("a.toml", data).data == data


@pytest.mark.parametrize("text", ["[" * 100_000, "a=" + "[" * 100_000, "a=" + "{a=" * 50_000, "a." * 100_000])
def test_a_hostile_file_gives_a_result(text):
    assert read("a.toml", text).settings == ()
