import pytest
from hypothesis import given
from hypothesis import settings as tuned
from hypothesis import strategies as some
from typed import added, changed, read, removed, setting, settings

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Form
from nccl_logscan.configs.read import read_text

IMAGE = """\
# syntax=docker/dockerfile:1
FROM nvcr.io/nvidia/pytorch:24.03-py3
ENV NCCL_DEBUG=INFO NCCL_IB_HCA="mlx5_0,mlx5_1" \\
    # the fabric's
    NCCL_SOCKET_IFNAME='eth0' NCCL_X=a\\ b
ENV OLD a value
RUN pip install nvidia-nccl-cu12==2.21.5 "torch==2.6.0" \\
 && echo done
CMD ["torchrun", "train.py"]
"""


def test_all_pairs_of_an_instruction_are_settings():
    config = read("Dockerfile", IMAGE)
    found = {
        placed.name: (placed.value, placed.at.line) for placed in config.settings if placed.form is Form.DOCKER_ENV
    }
    assert found == {
        "NCCL_DEBUG": ("INFO", 3),
        "NCCL_IB_HCA": ("mlx5_0,mlx5_1", 3),
        "NCCL_SOCKET_IFNAME": ("eth0", 5),
        "NCCL_X": ("a b", 5),
        "OLD": ("a value", 6),
    }
    assert config.pins == {"nccl": "2.21.5", "torch": "2.6.0"}


def test_what_expands_has_no_value():
    assert settings("Dockerfile", "FROM x\nENV A=$B C='$D' E=\"${F}\"\n") == {"A": None, "C": "$D", "E": None}


def test_what_a_run_exports_ends_with_it():
    placed = setting(read("Dockerfile", "FROM x\nRUN export NCCL_A=1 && make\n"), "NCCL_A")
    assert (placed.form, placed.value, placed.at.line) == (Form.ASSIGNMENT, "1", 2)


def test_a_heredoc_is_no_instruction():
    assert settings("Dockerfile", "FROM x\nRUN <<EOF\nENV A=1\nEOF\nENV B=2\n") == {"B": "2"}


def test_edits_keep_quotes_and_lines():
    assert changed("Dockerfile", IMAGE, "NCCL_IB_HCA", "mlx5") == IMAGE.replace("mlx5_0,mlx5_1", "mlx5")
    assert changed("Dockerfile", IMAGE, "NCCL_DEBUG", "a b") == IMAGE.replace("INFO", '"a b"')
    assert removed("Dockerfile", IMAGE, "NCCL_DEBUG") == IMAGE.replace("NCCL_DEBUG=INFO ", "")
    assert removed("Dockerfile", IMAGE, "NCCL_X") == IMAGE.replace(" NCCL_X=a\\ b", "")
    assert removed("Dockerfile", IMAGE, "OLD") == IMAGE.replace("ENV OLD a value\n", "")
    assert added("Dockerfile", IMAGE, Kind.ENV, "NCCL_Y", "1") == IMAGE.replace("a value\n", "a value\nENV NCCL_Y=1\n")


@given(
    some.lists(
        some.tuples(some.sampled_from("ABCDE"), some.text(alphabet="ab9,:/ ", max_size=6)),
        min_size=1,
        unique_by=lambda one: one[0],
    ),
    some.sampled_from([" ", " \\\n  ", " \\\n\n  ", " \\\n# c\n  "]),
    some.data(),
)
@tuned(max_examples=80, deadline=None)
def test_an_edit_touches_one_pair(pairs, joint, data):
    text = "FROM x\nENV " + joint.join(f'{name}="{value}"' for name, value in pairs) + "\nRUN make\n"
    assert settings("Dockerfile", text) == dict(pairs)
    name, _ = data.draw(some.sampled_from(pairs))
    assert settings("Dockerfile", changed("Dockerfile", text, name, "z z")) == {**dict(pairs), name: "z z"}
    less = removed("Dockerfile", text, name)
    if less is not None:
        assert settings("Dockerfile", less) == {one: value for one, value in pairs if one != name}


@given(some.one_of(some.binary(max_size=100), some.text(alphabet="ENV RUN=\\\"'\n#<A`", max_size=80).map(str.encode)))
@tuned(max_examples=100, deadline=None)
def test_any_bytes_give_a_result(data):
    assert read_text("Dockerfile", data).data == data


@pytest.mark.parametrize(
    "text", ["ENV A=1 \\\n" * 50_000, "\\\n" * 100_000, 'ENV A="' * 50_000, "ENV A=" + "\\" * 100_000]
)
def test_a_hostile_file_gives_a_result(text):
    assert read("Dockerfile", text).faults == ()
