"""The lexer against bash itself, and against hostile text."""

from __future__ import annotations

import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.configs.model import Form
from nccl_logscan.configs.read import read_text
from nccl_logscan.configs.shell.script import SETTINGS_LIMIT
from nccl_logscan.configs.shell.words import lex, whole

PLAIN = st.text(alphabet="abcXYZ019_./:@%+,=-^[]é", min_size=1, max_size=5)
ANY = st.text(alphabet="ab 1\\\"'$`!#;&|<>(){}*?~\t=-é\n", max_size=6)


def single(text: str) -> str:
    return "'" + text.replace("'", "") + "'"


def double(text: str) -> str:
    return '"' + "".join("\\" + letter if letter in '\\"$`' else letter for letter in text) + '"'


def escaped(text: str) -> str:
    return "".join("\\" + letter for letter in text if letter != "\n")


def ansi(text: str) -> str:
    return "$'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


PART = st.one_of(PLAIN, *(ANY.map(quote) for quote in (single, double, escaped, ansi)))
WORD = st.lists(PART, min_size=1, max_size=3).map("".join).filter(lambda word: word and word[0] != "~")
BLANKS = st.sampled_from([" ", "  ", "\t", " \\\n  "])


@settings(max_examples=150, deadline=None)
@given(st.lists(WORD, min_size=1, max_size=5), st.data())
def test_words_are_those_that_bash_passes_on(words, data):
    script = "".join(data.draw(BLANKS) + word for word in words)
    program = f"set -f; printf '%s\\0'{script}"
    said = subprocess.run(["bash", "-c", program], capture_output=True, check=True).stdout.split(b"\0")[:-1]
    [_, command] = lex(whole(program.encode())).commands
    assert [word.text.encode("latin-1") for word in command.words[2:]] == said


@settings(max_examples=100, deadline=None)
@given(st.lists(WORD, min_size=1, max_size=4))
def test_values_are_those_that_bash_exports(words):
    names = [f"V{at}" for at in range(len(words))]
    script = "".join(f"export {name}={word}\n" for name, word in zip(names, words, strict=True))
    said = subprocess.run(
        ["bash", "-c", script + "printf '%s\\0' " + " ".join(f'"${name}"' for name in names)],
        capture_output=True,
        check=True,
    ).stdout.split(b"\0")[:-1]
    config = read_text("x.sh", script.encode())
    exported = [placed for placed in config.settings if placed.form is Form.EXPORT]
    assert [(placed.name, placed.value) for placed in exported] == [
        (name, value.decode()) for name, value in zip(names, said, strict=True)
    ]


@given(st.binary(max_size=400))
def test_any_bytes_give_a_config(data):
    config = read_text("x.sh", data)
    for placed in config.settings:
        assert 0 <= placed.span.start <= placed.span.end <= len(data)
        assert placed.value_span is None or placed.value_span.end <= len(data)


TOKENS = st.sampled_from(
    ["export ", "A=1 ", "'", '"', "$(", ")", "(", "${", "}", "`", "\\", "\n", "<<E\n", "E\n", "A=(", "$'", "bash -c ",
     "srun ", "-x ", "mpirun ", "--a=1 ", "python t.py ", "if ", "then ", "fi ", "case x in ", ";; ", "esac ", "; ",
     "| ", "&& ", "> ", "# c\n", "#SBATCH -N 2\n", "eval ", "$A ", "é", "\0", "\r\n", "--export=ALL,A=1 ", "x.y=z "]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(TOKENS, max_size=40).map("".join))
def test_any_mixture_of_shell_gives_a_config_whose_spans_are_in_the_file(script):
    data = script.encode()
    config = read_text("x.sh", data)
    for placed in config.settings:
        assert 0 <= placed.span.start <= placed.span.end <= len(data)
    for launch in config.launches:
        assert 0 <= launch.span.start <= launch.span.end <= len(data)


@pytest.mark.parametrize(
    "piece",
    ["(", '"$(', "if ", "cat <<E\n", "a=( ", "`", "${", "(((", "'", '"$a`', '$(a "', '"$("', '${a:-"', "\\", "$(#",
     "cat <<A <<B\n", 'x=("', "<(a ", 'bash -c "', "eval ", "A=$A ", 'A="$A -x 1"\n$A\n', "A+=(\"${A[@]}\")\nx $A\n",
     "export A=1 ", "export A=1\n", "{ ", "case x in ", "a && ", "$'", "--export=ALL,", "ssh h ", "env ", "é", "\0",
     "#SBATCH -N 2\n", "python t.py --a 1\n", 'bash -c "bash -c \\"']
)  # fmt: skip
def test_time_grows_with_the_length(piece):
    data = (piece * (400_000 // len(piece))).encode()
    started = time.process_time()
    read_text("x.sh", data)
    assert time.process_time() - started < 6


def test_documents_within_documents_are_read_to_a_depth():
    data = "".join(f"bash <<'E{at}'\nexport A{at}=1\n" for at in range(20_000)).encode()
    started = time.process_time()
    config = read_text("x.sh", data)
    assert time.process_time() - started < 6
    assert [placed.name for placed in config.settings][:3] == ["A0", "A1", "A2"]


def test_ten_megabytes_of_script_take_seconds_and_it_says_what_it_left_out():
    line = 'export NCCL_X=1\nmpirun -np 8 -x A="b c" python t.py --fp16 --lr 1 "$@"\n'
    data = (line * (10_000_000 // len(line))).encode()
    started = time.process_time()
    config = read_text("x.sh", data)
    assert time.process_time() - started < 40
    assert len(config.settings) >= SETTINGS_LIMIT
    assert "are read and those from here on are not" in config.faults[-1]
