import time
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.configs.read import read_text
from nccl_logscan.lint.model import Check, Versions
from nccl_logscan.lint.run import lint

NAMES = ["a.sh", "a.yaml", "a.json", "a.toml", "a.py", "Dockerfile", ".env", "nccl.conf", "a.sbatch"]
PIECES = [
    b"export NCCL_DEBG=1\n", b"NCCL_P2P_DISABLE=true", b" \\\n", b"mpirun -H a:8,b:8 -x NCCL_DEBUG", b"'", b'"', b"$(",
    b"env:\n  - name: NCCL_TIMEOUT\n    value: 1\n", b"{", b"}", b"[", b"\x00", b"\xff\xfe", b"\xf0\x9f", b"<<EOF\n",
    b"`", b"EOF\n", b"os.environ['NCCL_DEBG'] = '1'\n", b"ENV NCCL_TIMEOUT=1\n", b"RUN export NCCL_DEBUG=1\n",
    b"#SBATCH --export=NONE\n",
    b'"fp16": {"enabled": true},', b"+ray_kwargs.ray_init.runtime_env.env_vars.NCCL_DEBUG=^a,b", b"ray.init(address=",
    b"\r\n",
    b"ray start --head\n", b"python3 -m verl.trainer.main_ppo trainer.nnodes=", b"9" * 400, b"ssh h '",
    b"NCCL_BUFFSIZE=4M\n",
]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), st.lists(st.sampled_from(PIECES) | st.binary(max_size=6), max_size=14).map(b"".join))
def test_any_bytes_are_judged_and_every_fix_is_within_the_file(name, data):
    config = read_text(name, data)
    if config is None:
        return
    for remark in lint([config], Versions("2.21.5", "2.6.0", {"verl": "0.8.0"})):
        assert remark.at.source == name
        assert 1 <= remark.column < remark.end_column
        assert all(0 <= edit.start <= edit.end <= len(data) for edit in remark.fix)
        assert remark.problem
        assert remark.advice
        assert remark.source.startswith("http"), remark.source


def test_remarks_come_by_file_and_place_and_none_twice(lint_files):
    remarks = lint_files(
        {
            "z.env": "NCCL_TIMEOUT=1\nNCCL_DEBG=1\n",
            "a.sh": "#!/bin/bash\nexport NCCL_MAX_RINGS=1\nexport NCCL_P2P_DISABLE=yes\ntorchrun --nnodes 2 a.py\n",
        }
    )

    assert [(remark.at.source, remark.at.line) for remark in remarks] == [
        ("z.env", 1),
        ("z.env", 2),
        ("a.sh", 2),
        ("a.sh", 3),
    ]


def test_of_a_setting_that_has_no_effect_nothing_more_is_said(lint_script, said):
    # Not exported to the other host either, but nothing would read it there.
    assert said(lint_script("export NCCL_TIMEOUT=1", "ssh b 'torchrun a.py'")) == [
        ("NCCL_TIMEOUT", Check.READ_BY_NOTHING)
    ]


def test_the_order_of_files_changes_no_error(lint_files, said):
    files = {
        "run.sh": "#!/bin/bash\nexport NCCL_IB_HCA=a\nexport NCCL_IB_DISABLE=1\ntorchrun --nnodes 2 a.py\n",
        "a.env": "NCCL_BUFFSIZE=4M\nNCCL_TIMEOUT=1\n",
        "Dockerfile": "FROM a\nENV NCCL_DEBG=1\n",
    }
    expected = sorted(said(lint_files(files)))
    names = list(files)
    for order in permutations(names):
        assert sorted(said(lint_files({name: files[name] for name in order}))) == expected


@pytest.mark.parametrize(
    "make",
    [
        lambda count: "".join(f"export NCCL_BUFFSIZE={number}\n" for number in range(count)) + "torchrun a.py\n",
        lambda count: "".join(f"export NCCL_X{number}=$NCCL_X{number}\n" for number in range(count)),
        lambda count: "".join(f"NCCL_IB_DISABLE=1 NCCL_IB_HCA=m{number} torchrun a.py\n" for number in range(count)),
        lambda count: "".join(f"export NCCL_DEBUG=WARN\nssh h{number} 'python a.py'\n" for number in range(count)),
        lambda count: "export NCCL_DEBUG=1\n" + "exec time nohup " * count + "\n",
    ],
    ids=["values", "names", "prefixes", "launches", "wrappers"],
)
def test_time_grows_with_the_file_and_not_faster(make):
    def seconds(count):
        config = read_text("a.sh", make(count).encode())
        start = time.perf_counter()
        lint([config], Versions("2.21.5"), fixes=False)
        return time.perf_counter() - start

    seconds(50)
    few = seconds(400)
    # A quadratic one would take a hundred times as long.
    assert seconds(4000) < 30 * max(few, 0.05)


def test_fixes_of_very_many_lines_are_bounded(lint_script):
    remarks = lint_script(*(f"export NCCL_BUFFSIZE={number}M" for number in range(1, 3000)), "torchrun a.py")

    assert 0 < sum(bool(remark.fix) for remark in remarks) < len(remarks)
