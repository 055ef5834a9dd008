import subprocess

import pytest

from nccl_logscan.configs.read import read_text
from nccl_logscan.lint.mend import mend
from nccl_logscan.lint.model import Check, Versions
from nccl_logscan.lint.run import lint

UNREAD = ("NCCL_TIMEOUT=1", "NCCL_FP16_ENABLE=1")
BOTH = " ".join(UNREAD)


def _mended(name: str, text: str) -> str:
    changes = mend([read_text(name, text.encode())], Versions(), set(Check))
    return changes[0].data.decode() if changes else text


@pytest.mark.parametrize(
    ("written", "left"),
    [
        (f"export {BOTH}\n", ""),
        (f"export {BOTH} NCCL_DEBG=WARN\n", "export NCCL_DEBUG=WARN\n"),
        (f"declare -x {BOTH}\n", ""),
        (f"readonly {BOTH}\n", ""),
        (f"export \\\n  {UNREAD[0]} \\\n  {UNREAD[1]}\n", ""),
        (f"f() {{ local -x {BOTH}; torchrun x.py; }}\n", "f() { torchrun x.py; }\n"),
        (f"g() {{ export {UNREAD[0]}; export {UNREAD[1]}; }}\n", "g() { :; }\n"),
        (f"( export {UNREAD[0]}; export {UNREAD[1]} )\n", "( : )\n"),
        (f"if true; then\n  export {UNREAD[0]}\n\n  # why\n  export {UNREAD[1]}\nfi\n", None),
        (f"while true; do export {UNREAD[0]}; export {UNREAD[1]}; done\n", "while true; do :; done\n"),
        (f"case $x in a) export {UNREAD[0]}; export {UNREAD[1]};; esac\n", "case $x in a) :;; esac\n"),
        (f'[ -n "$Z" ] && export {BOTH}\n', '[ -n "$Z" ] && :\n'),
        (f"{BOTH} torchrun x.py\n", "torchrun x.py\n"),
        (f"mpirun -x {UNREAD[0]} -x {UNREAD[1]} ./a\n", "mpirun ./a\n"),
        (f"srun --export=ALL,{UNREAD[0]},{UNREAD[1]} ./a\n", "srun --export=ALL ./a\n"),
    ],
)
def test_fixes_side_by_side_leave_a_script_whole(written, left):
    after = _mended("run.sh", f"#!/bin/bash\n{written}torchrun y.py\n")

    checked = subprocess.run(["bash", "-n"], input=after.encode(), capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, b"")
    assert "NCCL_TIMEOUT" not in after
    assert "NCCL_FP16" not in after
    if left is not None:
        assert after == f"#!/bin/bash\n{left}torchrun y.py\n"


@pytest.mark.parametrize(
    ("name", "written", "left"),
    [
        ("a.json", '{"env": {"NCCL_TIMEOUT": "1", "NCCL_FP16_ENABLE": "1"}}', '{"env": {}}'),
        ("a.yaml", "env: {NCCL_TIMEOUT: '1', NCCL_FP16_ENABLE: '1'}\n", "env: {}\n"),
        ("a.yaml", "env:\n  NCCL_TIMEOUT: '1'\n  NCCL_FP16_ENABLE: '1'\nx: 1\n", "env: {}\nx: 1\n"),
        ("a.toml", '[env]\nNCCL_TIMEOUT = "1"\nNCCL_FP16_ENABLE = "1"\n', "[env]\n"),
        ("Dockerfile", f"FROM x\nENV {BOTH}\nCMD y\n", "FROM x\nCMD y\n"),
        (
            "a.py",
            'import os\nif True:\n    os.environ["NCCL_TIMEOUT"] = "1"\n    os.environ["NCCL_FP16_ENABLE"] = "1"\n',
            "import os\nif True:\n    pass\n",
        ),
    ],
)
def test_fixes_side_by_side_leave_other_files_whole(name, written, left):
    assert _mended(name, written) == left


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", "export NCCL_BUFFSZE=4M\ntorchrun a.py\n"),
        ("a.sh", "NCCL_DEBG=WARN\nNCCL_TIMEOUT=1 NCCL_FP16_ENABLE=1 torchrun a.py\n"),
        ("a.env", "NCCL_DEBG=warn\nNCCL_TIMEOUT=1\nNCCL_MAX_RINGS=4\n"),
    ],
)
def test_a_second_run_finds_nothing_more_to_mend(name, text):
    after = _mended(name, text)

    assert after != text
    assert not [remark for remark in lint([read_text(name, after.encode())], Versions()) if remark.fix]


def test_the_lines_told_are_those_of_the_file_as_it_was():
    text = "export NCCL_TIMEOUT=1\nexport NCCL_FP16_ENABLE=1\nA=1\nexport NCCL_DEBG=WARN\ntorchrun a.py\n"
    (change,) = mend([read_text("a.sh", text.encode())], Versions(), set(Check))

    assert sorted(change.lines) == [1, 2, 4]


def test_only_wanted_checks_are_mended():
    text = "export NCCL_TIMEOUT=1\nexport NCCL_DEBG=WARN\ntorchrun a.py\n"
    (change,) = mend([read_text("a.sh", text.encode())], Versions(), {Check.MISSPELT})

    assert change.data.decode() == text.replace("DEBG", "DEBUG")
