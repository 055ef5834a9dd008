"""Edits of shell scripts: what they change, what they leave, and that bash still takes the script."""

from __future__ import annotations

import re
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import applied
from nccl_logscan.configs.model import Form
from nccl_logscan.configs.read import read_text, syntax_named

SHELL = syntax_named("shell")


def placed_in(config, name):
    return next(placed for placed in config.settings if placed.name == name)


def change(script: str, name: str, value: str) -> str | None:
    config = read_text("x.sh", script.encode())
    edit = SHELL.change(config, placed_in(config, name), value)
    return edit and applied(config.data, [edit]).decode()


def remove(script: str, name: str) -> str | None:
    config = read_text("x.sh", script.encode())
    edit = SHELL.remove(config, placed_in(config, name))
    return edit and applied(config.data, [edit]).decode()


def add(script: str, kind: Kind, name: str, value: str) -> str | None:
    config = read_text("x.sh", script.encode())
    edit = SHELL.add(config, kind, name, value)
    return edit and applied(config.data, [edit]).decode()


@pytest.mark.parametrize(
    ("script", "value", "after"),
    [
        ("export X=1  # why\n", "2", "export X=2  # why\n"),
        ('export X="1"\n', "2", 'export X="2"\n'),
        ("export X='1'\n", "2", "export X='2'\n"),
        ("export X=1\n", "a b", 'export X="a b"\n'),
        ("export X='1'\n", "it's", 'export X="it\'s"\n'),
        ("export X=1\n", "^a,$b", "export X='^a,$b'\n"),
        ("export X=${X:-1}\n", "2", "export X=${X:-2}\n"),
        ("export X=$Y\n", "2", "export X=2\n"),
        ("export X=\n", "2", "export X=2\n"),
        ('mpirun -x "X=1" t\n', "a b", 'mpirun -x "X=a b" t\n'),
        ("mpirun -x X t\n", "2", "mpirun -x X=2 t\n"),
        ("srun --export=ALL,X=1,Y=2 t\n", "9", "srun --export=ALL,X=9,Y=2 t\n"),
        ('bash -c "export X=1; t"\n', "2", 'bash -c "export X=2; t"\n'),
        ("bash -c 'export X=1; t'\n", "a b", "bash -c 'export X=\"a b\"; t'\n"),
        ("bash -c \"X='1' t\"\n", "2", "bash -c \"X='2' t\"\n"),
        ("bash <<EOF\nexport X=1\nEOF\n", "2", "bash <<EOF\nexport X=2\nEOF\n"),
        ("ray job submit --runtime-env-json='{\"env_vars\": {\"X\": \"1\"}}' -- python t.py\n", "2",
         "ray job submit --runtime-env-json='{\"env_vars\": {\"X\": \"2\"}}' -- python t.py\n"),
        ("X=1 python t.py\n", "2", "X=2 python t.py\n"),
        ("cat <<EOF > nccl.conf\nX=1\nEOF\n", "2", "cat <<EOF > nccl.conf\nX=2\nEOF\n"),
        ("export X=1\r\n", "2", "export X=2\r\n"),
    ],
)  # fmt: skip
def test_a_change_keeps_the_quotes_and_all_else(script, value, after):
    assert change(script, "X", value) == after


def test_other_changes():
    assert change("python t.py --a 1 \\\n  --b 2\n", "--a", "7") == "python t.py --a 7 \\\n  --b 2\n"
    assert change("python t.py --a=1\n", "--a", "7") == "python t.py --a=7\n"
    assert change("#SBATCH --mem=1G # c\n", "--mem", "0") == "#SBATCH --mem=0 # c\n"
    assert change('A="--a 1 --b 2"\npython t.py $A\n', "--a", "7") == 'A="--a 7 --b 2"\npython t.py $A\n'
    ray = "python -m verl.t +r.runtime_env.env_vars.X=\"'1'\"\n"
    assert change(ray, "X", "0") == ray.replace("'1'", "'0'")
    assert change("ulimit -n 1024\n", "ulimit -n", "65536") == "ulimit -n 65536\n"


def test_a_value_of_several_words_is_not_quoted_within_quotes():
    script = 'A="--a 1 $B"\npython t.py $A\n'
    assert change(script, "--a", "it's") is None
    assert change(script, "--a", "7") == 'A="--a 7"\npython t.py $A\n'
    assert change(': "${X:=1}"\n', "X", "2") == ': "${X:=2}"\n'


def test_a_json_in_a_here_document_is_edited_as_json():
    script = 'cat > ds.json <<EOF\n{\n  "a": {"b": 1},\n  "c": "$D"\n}\nEOF\ndeepspeed t.py\n'
    assert change(script, "a.b", "2") == script.replace('"b": 1', '"b": 2')
    assert remove(script, "a.b") == script.replace('  "a": {"b": 1},\n', '  "a": {},\n')
    assert change(script, "c", "$E") is None


def test_no_change_is_made_where_none_is_sure():
    assert change("bash -c \"bash -c 'X=1 t'\"\n", "X", "a b") is None
    assert change("X+=1\n", "X", "2") is None
    assert change("python t.py --fp16\n", "--fp16", "0") is None
    assert change("export X=1\n", "X", "a\nb") is None
    assert change("bash <<EOF\nexport X=1\nEOF\n", "X", "$Y") is None


@pytest.mark.parametrize(
    ("script", "after"),
    [
        ("a\nexport X=1  # why\nb\n", "a\nb\n"),
        ("a\n  X=1\nb\n", "a\nb\n"),
        ("export X=1 Y=2\n", "export Y=2\n"),
        ("export Y=2 X=1 # c\n", "export Y=2 # c\n"),
        ("export A=1 \\\n  X=2 \\\n  B=3\n", "export A=1 \\\n  B=3\n"),
        ("export A=1 \\\n  X=2\n", "export A=1\n"),
        ("X=1 python t.py\n", "python t.py\n"),
        ("env X=1 Y=2 python t.py\n", "env Y=2 python t.py\n"),
        ("export X=1; b\n", "b\n"),
        ("a; export X=1\n", "a\n"),
        ("if a; then\n  export X=1\nfi\n", "if a; then\n  :\nfi\n"),
        ("if a; then\n  export X=1\nelse\n  b\nfi\n", "if a; then\n  :\nelse\n  b\nfi\n"),
        ("if a; then\n  export X=1\n  b\nfi\n", "if a; then\n  b\nfi\n"),
        ("f() {\n  export X=1\n}\n", "f() {\n  :\n}\n"),
        ("a && export X=1\n", "a && :\n"),
        ("X=1\nexport X\n", "export X\n"),
        ("mpirun -np 2 \\\n  -x X=1 \\\n  -x Y t\n", "mpirun -np 2 \\\n  -x Y t\n"),
        ('A=(\n  -x X=1  # c\n  -x Y\n)\nmpirun "${A[@]}" t\n', 'A=(\n  -x Y\n)\nmpirun "${A[@]}" t\n'),
        ("srun --export=ALL,X=1 t\n", "srun --export=ALL t\n"),
        ("bash -c 'export X=1; t'\n", "bash -c 't'\n"),
        ("cat <<EOF > r.sh\na\nexport X=1\nEOF\n", "cat <<EOF > r.sh\na\nEOF\n"),
        ("cat <<EOF > nccl.conf\nX=1\nEOF\n", "cat <<EOF > nccl.conf\nEOF\n"),
        ("cat <<EOF > .env\nX=1\nY=2\nEOF\n", "cat <<EOF > .env\nY=2\nEOF\n"),
        ("unset X\nb\n", "b\n"),
        ("env -u X b\n", "env b\n"),
        ("docker run -e X=1 -e Y img\n", "docker run -e Y img\n"),
        ("python -m verl.t a.b=c \\\n    +r.env_vars.X=1 \\\n    $@\n", "python -m verl.t a.b=c \\\n    $@\n"),
        ("echo X=1 >> /etc/nccl.conf\nb\n", "b\n"),
    ],
)
def test_a_removal_takes_what_belongs_to_the_setting_and_no_more(script, after):
    assert remove(script, "X") == after


def test_other_removals():
    assert remove("python t.py --a 1 --b\n", "--a") == "python t.py --b\n"
    assert remove('A=" \\\n  --a 1 \\\n"\npython t.py $A\n', "--a") == 'A=" \\\n"\npython t.py $A\n'
    assert remove("#SBATCH --mem=0\n#SBATCH -N 2\n", "--mem") == "#SBATCH -N 2\n"
    assert remove("#SBATCH --mem=0 -N 2\n", "--mem") == "#SBATCH -N 2\n"
    assert remove("sudo sysctl -w a.b=1\nb\n", "a.b") == "b\n"


E, F = Kind.ENV, Kind.CLI_FLAG
VERL = "python3 -m verl.trainer.main_ppo \\\n    a.b=c \\\n    trainer.nnodes=2\n"
ADDED = [
    ("export NCCL_A=1 # c\nexport PATH=/x\nsrun t\n", E, "NCCL_X", "2",
     "export NCCL_A=1 # c\nexport NCCL_X=2\nexport PATH=/x\nsrun t\n"),
    ("set -e\n\ntorchrun t.py\n", E, "X", "a b", 'set -e\n\nexport X="a b"\ntorchrun t.py\n'),
    ("if a; then\n  torchrun t.py\nfi\n", E, "X", "1", "if a; then\n  export X=1\n  torchrun t.py\nfi\n"),
    ("export A=1", E, "X", "1", "export A=1\nexport X=1"),
    ("python t.py\n", E, "X", "1", "export X=1\npython t.py\n"),
    ("mpirun -H a,b \\\n  -x A=1 \\\n  python t.py\n", E, "X", "1",
     "mpirun -H a,b \\\n  -x A=1 \\\n  -x X=1 \\\n  python t.py\n"),
    ("mpirun -H a,b python t.py\n", E, "X", "1", "mpirun -x X=1 -H a,b python t.py\n"),
    ("mpirun -np 8 python t.py\n", E, "X", "1", "export X=1\nmpirun -np 8 python t.py\n"),
    ("docker run -e A=1 img\n", E, "X", "1", "docker run -e A=1 -e X=1 img\n"),
    ("srun --export=A=1 t\n", E, "X", "1", "srun --export=A=1,X=1 t\n"),
    (VERL, E, "X", "1", VERL[:-1] + " \\\n    +ray_kwargs.ray_init.runtime_env.env_vars.X=\"'1'\"\n"),
    (VERL[:-1] + " +r.env_vars.A=b\n", E, "X", "1",
     VERL[:-1] + " +r.env_vars.A=b +r.env_vars.X=\"'1'\"\n"),
    ("pip install verl==0.5\n" + VERL, E, "X", "1", None),
    ("ssh h 'torchrun t.py'\n", E, "X", "1", None),
    ("deepspeed --hostfile h t.py\n", E, "NCCL_X", "1", "export NCCL_X=1\ndeepspeed --hostfile h t.py\n"),
    ("deepspeed --hostfile h t.py\n", E, "TORCH_NCCL_X", "1", None),
    ("echo no launch\n", E, "X", "1", None),
    ("torchrun t.py \\\n  --a 1 \\\n  --b 2 2>&1 | tee l\n", F, "--ddp_timeout", "9",
     "torchrun t.py \\\n  --a 1 \\\n  --b 2 \\\n  --ddp_timeout 9 2>&1 | tee l\n"),
    ("torchrun t.py --a 1\n", F, "--max-restarts", "3", "torchrun --max-restarts=3 t.py --a 1\n"),
    ("#!/bin/bash\n#SBATCH -N 2\nsrun t\n", F, "--mem", "0", "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --mem=0\nsrun t\n"),
    ("#SBATCH -N 2\nsrun t\n", F, "--kill-on-bad-exit", "1", "#SBATCH -N 2\nsrun --kill-on-bad-exit=1 t\n"),
    ("docker run img\n", F, "--shm-size", "16g", "docker run --shm-size=16g img\n"),
    (VERL, Kind.YAML_KEY, "x.y", "1", VERL[:-1] + " \\\n    x.y=1\n"),
    ("  torchrun t.py\n", Kind.HOST_COMMAND, "ulimit -n", "65536", "  ulimit -n 65536\n  torchrun t.py\n"),
]  # fmt: skip


@pytest.mark.parametrize(("script", "kind", "name", "value", "after"), ADDED)
def test_an_addition_goes_where_the_processes_get_it(script, kind, name, value, after):
    assert add(script, kind, name, value) == after


# Properties

STATEMENTS = [
    "export A=1\n",
    "export B=\"x y\" C='q' # note\n",
    "export D=1 \\\n    E=2 \\\n    F=3\n",
    "G=$HOME\nexport G\n",
    'if [ -n "$1" ]; then\n  export H=1\nfi\n',
    "f() {\n  export I=1; echo x\n}\n",
    "( export J=1 )\n",
    "K=1 L='a b' python t.py --m 1 --n=2 --flag # c\n",
    "true && export O=1 || false\n",
    'ARGS=(\n  --p 1  # one\n  --q\n)\npython t.py "${ARGS[@]}"\n',
    'OPTS=" \\\n  --r 1 \\\n  --s \\\n"\npython t.py $OPTS\n',
    'MORE="\n  --ra 1\n  --sa\n"\npython t.py $MORE\n',
    "mpirun -np 2 -x T=1 \\\n  -x U \\\n  --mca btl ^openib python t.py\n",
    "srun --export=ALL,V=1,W=2 -N 2 -l python t.py\n",
    'bash -c "export X=1; echo \\"a\\""\n',
    "ssh host 'Y=1 python t.py'\n",
    "cat <<EOF > run.sh\nexport Z=1\nexport AA=2\nEOF\n",
    "python3 -m verl.trainer.main_ppo a.b=c \\\n  +r.env_vars.BB=\"'1'\" \\\n  d.e=1\n",
    "for i in 1 2; do export CC=$i; done\n",
    "case $1 in\n  a) export DD=1 ;;\n  *) ;;\nesac\n",
    "unset EE FF\n",
    "docker run --rm -e GG=1 --shm-size=1g img python t.py\n",
    "ulimit -n 1024\n",
    "env -u HH II=1 python t.py\n",
    "export JJ=${JJ:-5}\n",
    "echo KK=1 >> /etc/nccl.conf\n",
    "# a comment: don't\n",
    "\n",
]
SCRIPTS = st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=6, unique=True).map("".join)
VALUES = st.one_of(
    st.text(alphabet="ab1_,:=^./-", min_size=1, max_size=6), st.text(alphabet="a b'\"$`\\!*#;|&(){}~é", max_size=5)
)


def parses(script: bytes) -> bool:
    return subprocess.run(["bash", "-n"], input=script, capture_output=True, check=False).returncode == 0


@settings(max_examples=120, deadline=None)
@given(SCRIPTS, VALUES, st.data())
def test_a_change_changes_one_value_and_nothing_else(script, value, data):
    config = read_text("x.sh", script.encode())
    assume(config.settings)
    at = data.draw(st.integers(0, len(config.settings) - 1))
    placed = config.settings[at]
    edit = SHELL.change(config, placed, value)
    assume(edit is not None)
    after = applied(config.data, [edit])
    assert parses(after)
    again = read_text("x.sh", after)
    assert again.settings[at].value == value
    assert (
        placed.span.start
        <= edit.start
        <= edit.end
        <= max(placed.span.end, placed.value_span.end if placed.value_span else 0)
    )
    others = [
        (p.name, p.value, p.form) for p in config.settings if p.span != placed.span and p.form is not Form.ASSIGNMENT
    ]
    kept = [(p.name, p.value, p.form) for p in again.settings]
    assert all(other in kept for other in others if other[0] != "--export")


@pytest.mark.parametrize("quote", ['"', '\\"'])
@pytest.mark.parametrize(
    ("pairs", "left"),
    [
        ("{A: {1}, B: {2}}", "{B: {2}}"),
        ("{B: {2}, A: {1}}", "{B: {2}}"),
        ("{A: {1}}", "{}"),
        ("{\n  B: {2},\n  A: {1}\n}", "{\n  B: {2}\n}"),
        ("{\n  A: {1},\n  B: {2}\n}", "{\n  B: {2}\n}"),
    ],
)
def test_a_pair_of_a_runtime_env_goes_with_its_comma(pairs, left, quote):
    def script(object_of):
        text = re.sub(r"[AB](?=:)|\{(\d)\}", lambda found: f"{quote}{found[1] or 'NCCL_' + found[0]}{quote}", object_of)
        around = "'" if quote == '"' else '"'
        written = f"{{{quote}env_vars{quote}: {text}}}"
        return f"ray job submit --runtime-env-json={around}{written}{around} -- python train.py\n"

    config = read_text("x.sh", script(pairs).encode())
    placed = next(placed for placed in config.settings if placed.name == "NCCL_A")
    assert applied(config.data, [SHELL.remove(config, placed)]).decode() == script(left)


@settings(max_examples=120, deadline=None)
@given(SCRIPTS, st.data())
def test_a_removal_leaves_a_script_with_all_others(script, data):
    config = read_text("x.sh", script.encode())
    assume(config.settings)
    placed = data.draw(st.sampled_from(config.settings))
    edit = SHELL.remove(config, placed)
    assume(edit is not None)
    after = applied(config.data, [edit])
    assert parses(after)
    again = read_text("x.sh", after)
    if placed.value is None and placed.form is Form.EXPORT:
        return  # A later `export NAME` may be what is left.
    assert (placed.name, placed.value, placed.form) not in [(p.name, p.value, p.form) for p in again.settings]
    touched = set(range(config.lines.line_of(edit.start), config.lines.line_of(max(edit.end - 1, edit.start)) + 1))
    own = set(range(placed.at.line - 1, config.lines.line_of(placed.span.end) + 1))
    assert touched <= own


@settings(max_examples=120, deadline=None)
@given(SCRIPTS, VALUES, st.sampled_from([(E, "NCCL_NEW"), (F, "--new-flag"), (F, "--mem"), (Kind.YAML_KEY, "n.e.w")]))
def test_an_addition_adds_and_changes_nothing(script, value, what):
    config = read_text("x.sh", script.encode())
    edit = SHELL.add(config, *what, value)
    assume(edit is not None)
    assert edit.start == edit.end
    after = applied(config.data, [edit])
    assert parses(after)
    assert what[1] in {placed.name.rpartition("env_vars.")[2] for placed in read_text("x.sh", after).settings}
