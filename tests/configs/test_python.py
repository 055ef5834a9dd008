import ast

import pytest
from hypothesis import given
from hypothesis import settings as tuned
from hypothesis import strategies as some
from typed import added, changed, read, removed, setting, settings

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Form
from nccl_logscan.configs.read import read_text

TRAIN = """\
import os
from datetime import timedelta

os.environ['NCCL_DEBUG'] = 'INFO'  # loud

import torch
import torch.distributed as dist


def main(rank):
    os.environ["NCCL_IB_HCA"] = f"mlx5_{rank}"
    dist.init_process_group(
        "nccl",
        timeout=timedelta(minutes=30),  # long
    )
"""


@pytest.mark.parametrize(
    ("text", "value", "form"),
    [
        ("import os\nos.environ['NCCL_A'] = 'x'", "x", Form.PYTHON_ENVIRON),
        ("import os as o\no.environ['NCCL_A'] = 'x' 'y'", "xy", Form.PYTHON_ENVIRON),
        ("from os import environ as e\ne['NCCL_A'] = str(5)", "5", Form.PYTHON_ENVIRON),
        ("import os\nos.environ.setdefault('NCCL_A', 'x')", "x", Form.PYTHON_ENVIRON),
        ("from os import putenv\nputenv('NCCL_A', 'x')", "x", Form.PYTHON_ENVIRON),
        ("import os\nos.environ.update({'NCCL_A': 'x'})", "x", Form.PYTHON_ENVIRON),
        ("import os\nos.environ.update(NCCL_A='x')", "x", Form.PYTHON_ENVIRON),
        ("import os\nos.environ |= {'NCCL_A': 'x'}", "x", Form.PYTHON_ENVIRON),
        ("import os\nos.environ['NCCL_A'] = f'{x}'", None, Form.PYTHON_ENVIRON),
        ("import os\ndel os.environ['NCCL_A']", None, Form.UNSET),
        ("import os\nos.environ.pop('NCCL_A', None)", None, Form.UNSET),
        ("env = {**os.environ, 'NCCL_A': 'x'}", "x", Form.ENV_MAPPING),
        ("subprocess.run(cmd, env=dict(os.environ, NCCL_A='x'))", "x", Form.ENV_MAPPING),
        ("env = os.environ.copy()\nenv['NCCL_A'] = 'x'", "x", Form.ENV_MAPPING),
        ("ray.init(runtime_env={'env_vars': {'NCCL_A': 'x'}})", "x", Form.RUNTIME_ENV),
        ("runtime_env = {'env_vars': {'NCCL_A': 'x'}}", "x", Form.RUNTIME_ENV),
        ("RuntimeEnv(env_vars={'NCCL_A': 'x'})", "x", Form.RUNTIME_ENV),
        ("import os\nos.system('export NCCL_A=x; torchrun t.py')", "x", Form.EXPORT),
        ("import subprocess\nsubprocess.run(['bash', '-c', 'export NCCL_A=x; torchrun t.py'])", "x", Form.EXPORT),
        (
            "import subprocess\nsubprocess.run(['mpirun', '-x', 'NCCL_A=x', 'python', 't.py'])",
            "x",
            Form.LAUNCHER_OPTION,
        ),
    ],
)
def test_a_variable_is_seen_however_it_is_set(text, value, form):
    placed = setting(read("a.py", text), "NCCL_A")
    assert (placed.value, placed.form, placed.kind) == (value, form, Kind.ENV)


def test_a_calls_keywords_are_settings():
    text = (
        "from transformers import TrainingArguments as T\nimport torch\n"
        "T(ddp_timeout=30 * 60, bf16=True, lr=-1e-5, x=None, s='a', d=torch.bfloat16, y=args.y)\n"
    )
    found = {placed.name: (placed.value, placed.scalar, placed.framework) for placed in read("a.py", text).settings}
    assert found == {
        "TrainingArguments(ddp_timeout=)": ("1800", "integer", "transformers"),
        "TrainingArguments(bf16=)": ("true", "boolean", "transformers"),
        "TrainingArguments(lr=)": ("-1e-5", "number", "transformers"),
        "TrainingArguments(x=)": ("null", "null", "transformers"),
        "TrainingArguments(s=)": ("a", "text", "transformers"),
        "TrainingArguments(d=)": ("torch.bfloat16", "text", "transformers"),
        "TrainingArguments(y=)": (None, "text", "transformers"),
    }


def test_a_timeout_is_its_source():
    assert settings("t.py", TRAIN)["init_process_group(timeout=)"] == "timedelta(minutes=30)"
    assert settings("t.py", "f(timeout=timedelta(minutes=args.m))")["f(timeout=)"] is None


def test_a_change_keeps_quotes_and_the_rest():
    assert changed("t.py", TRAIN, "NCCL_DEBUG", "it's") == TRAIN.replace("'INFO'", r"'it\'s'")
    long = TRAIN.replace("timedelta(minutes=30)", "timedelta(seconds=5400)")
    assert changed("t.py", TRAIN, "init_process_group(timeout=)", "5400") == long
    assert changed("t.py", TRAIN, "NCCL_IB_HCA", "mlx5") is None


def test_a_statement_goes_with_its_line_and_a_keyword_with_its_comma():
    assert removed("t.py", TRAIN, "NCCL_DEBUG") == TRAIN.replace("os.environ['NCCL_DEBUG'] = 'INFO'  # loud\n", "")
    out = TRAIN.replace("        timeout=timedelta(minutes=30),  # long\n", "")
    assert removed("t.py", TRAIN, "init_process_group(timeout=)") == out


def test_the_only_statement_of_a_block_leaves_pass():
    assert (
        removed("a.py", "import os\nif x:\n    os.environ['NCCL_A'] = '1'\n", "NCCL_A")
        == "import os\nif x:\n    pass\n"
    )


def test_a_variable_is_added_before_torch_is_imported():
    out = TRAIN.replace("# loud\n", "# loud\nos.environ['NCCL_B'] = '1'\n")
    assert added("t.py", TRAIN, Kind.ENV, "NCCL_B", "1") == out
    text = "import os\nimport torch\n"
    assert added("a.py", text, Kind.ENV, "NCCL_B", "1") == 'import os\nos.environ["NCCL_B"] = "1"\nimport torch\n'
    assert (
        added("a.py", "import torch\n", Kind.ENV, "NCCL_B", "1")
        == 'import os\n\nos.environ["NCCL_B"] = "1"\nimport torch\n'
    )


def test_under_ray_it_joins_the_workers_environment():
    text = "import os\nos.environ['NCCL_A'] = '1'\nray.init(runtime_env={'env_vars': {'NCCL_A': '1'}})\n"
    assert added("a.py", text, Kind.ENV, "NCCL_B", "2") == text.replace("'1'}}", "'1', 'NCCL_B': '2'}}")


def test_a_keyword_is_added_to_the_only_call():
    text = "import datetime\ninit_process_group('nccl')\n"
    out = text.replace("'nccl')", "'nccl', timeout=datetime.timedelta(seconds=60))")
    assert (
        added("a.py", text, Kind.PYTHON_KWARG, "init_process_group(timeout=)", "datetime.timedelta(seconds=60)") == out
    )
    assert added("a.py", text * 2, Kind.PYTHON_KWARG, "init_process_group(timeout=)", "60") is None


def test_a_broken_file_still_tells():
    text = "import os\nprint 'x'\nos.environ['NCCL_A'] = '1'\ndef (\n"
    assert settings("a.py", text)["NCCL_A"] == "1"


VALUES = some.text(alphabet="ab9 #'\"\\é{}%", max_size=8)


@given(
    some.lists(
        some.tuples(some.sampled_from(["NCCL_A", "NCCL_B", "NCCL_C"]), VALUES),
        min_size=1,
        max_size=3,
        unique_by=lambda one: one[0],
    ),
    VALUES,
    some.data(),
)
@tuned(max_examples=80, deadline=None)
def test_values_are_what_python_makes_of_them_and_edits_touch_one(pairs, value, data):
    text = "import os\n" + "".join(f"os.environ[{name!r}] = {value!r}  # c\n" for name, value in pairs)
    assert settings("a.py", text) == dict(pairs)
    name, _ = data.draw(some.sampled_from(pairs))
    after = changed("a.py", text, name, value)
    assert ast.dump(ast.parse(after)) == ast.dump(
        ast.parse(
            "import os\n"
            + "".join(f"os.environ[{one!r}] = {(value if one == name else old)!r}\n" for one, old in pairs)
        )
    )
    less = ast.parse(removed("a.py", text, name))
    assert len(less.body) == len(pairs)


@given(
    some.one_of(
        some.binary(max_size=100), some.text(alphabet="os.environ[]='\"(){}\n :,f", max_size=80).map(str.encode)
    )
)
@tuned(max_examples=100, deadline=None)
def test_any_bytes_give_a_result(data):
    assert read_text("a.py", data).data == data


@pytest.mark.parametrize("text", ["(" * 100_000, "{" * 100_000, "f(a=" * 50_000, "not " * 100_000, "env={**" * 50_000])
def test_a_hostile_file_gives_a_result(text):
    assert read("a.py", text).faults == ()


@pytest.mark.parametrize("call", ["os.environ.get('NCCL_A', 'x')", "os.getenv('NCCL_A', 'x')"])
def test_a_default_is_a_value_that_may_be_overridden(call):
    text = f"import os\nos.environ['NCCL_A'] = {call}\n"
    placed = setting(read("a.py", text), "NCCL_A")
    assert (placed.value, placed.fallback) == ("x", True)
    assert changed("a.py", text, "NCCL_A", "y") == text.replace("'x'", "'y'")
    assert setting(read("a.py", "import os\nos.environ.setdefault('NCCL_A', 'x')\n"), "NCCL_A").fallback


def test_a_power_is_worth_its_number():
    assert settings("a.py", "GradScaler(init_scale=2.0**16)") == {"GradScaler(init_scale=)": "65536.0"}


def test_a_deepspeed_dictionary_is_read_by_its_paths():
    text = (
        "d = {\n  'zero_optimization': {'stage': 3},\n  'fp16': {'enabled': True, 'initial_scale_power': 16},  # x\n}\n"
    )
    found = {placed.name: (placed.value, placed.kind, placed.framework) for placed in read("a.py", text).settings}
    assert found["fp16.initial_scale_power"] == ("16", Kind.JSON_KEY, "deepspeed")
    assert found.keys() == {"zero_optimization.stage", "fp16.enabled", "fp16.initial_scale_power"}
    assert changed("a.py", text, "fp16.initial_scale_power", "12") == text.replace("16}", "12}")
    assert changed("a.py", text, "fp16.enabled", "false") == text.replace("True", "False")
    assert removed("a.py", text, "fp16.enabled") == text.replace("'enabled': True, ", "")


def test_a_keyword_goes_with_what_is_given_within_it():
    text = "f(a=1, b=G(c=2))\n"
    assert removed("a.py", text, "f(b=)") == "f(a=1)\n"


@pytest.mark.parametrize(
    "program",
    [
        'cmd = "torchrun --nproc-per-node 8 t.py"\nsubprocess.run(shlex.split(cmd))\n',
        'LAUNCH_CMD = ["torchrun", "--nproc-per-node", "8", "t.py"]\n',
    ],
)
def test_a_command_that_a_variable_holds_is_read(program):
    config = read_text("go.py", program.encode())

    assert [(placed.name, placed.value) for placed in config.settings if placed.framework == "pytorch"] == [
        ("--nproc-per-node", "8")
    ]


def test_a_setting_without_a_keyword_is_that_of_its_call():
    config = read_text("go.py", b'import torch.multiprocessing as mp\nmp.set_start_method("spawn", force=True)\n')

    assert ("set_start_method()", "spawn") in [(placed.name, placed.value) for placed in config.settings]
