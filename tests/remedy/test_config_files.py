"""Advice that points to the line: where a setting is made, its present value, and the change of it."""

from __future__ import annotations

import pytest
from files import applied, circumstances, plan_for
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nccl_logscan.diagnosis.verdict import Job
from nccl_logscan.position import Position
from nccl_logscan.remedy.files import judged
from nccl_logscan.rulebook.rule import Step
from nccl_logscan.taxonomy import Action

SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --mem=64G
export NCCL_DEBUG=WARN
export NCCL_IB_GID_INDEX=3   # copied from a wiki
srun torchrun --nnodes=2 --nproc-per-node=8 \\
    pretrain_gpt.py --fp16 \\
    --micro-batch-size 8 --distributed-timeout-minutes 10
"""
POD = """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - name: train
      image: x
      env:
        - {name: NCCL_NVLS_ENABLE, value: "1"}  # by hand
"""
PROGRAM = """\
from datetime import timedelta
import torch.distributed as dist

dist.init_process_group("nccl", timeout=timedelta(minutes=10))
"""
DEEPSPEED = """\
{
  "fp16": {
    "enabled": true,
    "loss_scale": 0
  },
  "train_micro_batch_size_per_gpu": 8
}
"""


def env(name, to, effect="fix", **more):
    return Step(f"Set {name}.", kind="env", setting=name, to=to, effect=effect, **more)


def flag(name, to, effect="fix", **more):
    return Step(f"Set {name}.", kind="cli_flag", setting=name, to=to, effect=effect, **more)


WAIT = Step(
    "Wait longer.",
    kind="python_kwarg",
    setting="init_process_group(timeout=)",
    to="at least datetime.timedelta(minutes=60)",
    effect="workaround",
)


def test_a_variable_is_shown_where_it_is_set_and_taken_out(asks_for, tmp_path):
    files = {"job/train.sbatch": SCRIPT}
    [step] = plan_for(asks_for(env("NCCL_IB_GID_INDEX", "unset")), circumstances(files))

    assert step.where == Position("job/train.sbatch", 5, SCRIPT.index("export NCCL_IB_GID_INDEX"))
    assert (step.present, step.to) == ("3", "unset")
    changed = applied(tmp_path, files, step.diff)["job/train.sbatch"]
    assert "NCCL_IB_GID_INDEX" not in changed
    assert [line for line in SCRIPT.splitlines() if "GID" not in line] == [
        line for line in changed.splitlines() if line.strip() and "copied" not in line
    ]


@pytest.mark.parametrize(
    ("name", "text", "step", "line", "present", "expected"),
    [
        ("pod.yaml", POD, env("NCCL_NVLS_ENABLE", "0"), 8, "1", 'NCCL_NVLS_ENABLE, value: "0"}  # by hand'),
        ("a.sbatch", SCRIPT, flag("--micro-batch-size", "half"), 8, "8", "--micro-batch-size 4 --dist"),
        ("a.sbatch", SCRIPT, flag("--mem", "0"), 3, "64G", "#SBATCH --mem=0"),
        ("a.sbatch", SCRIPT, WAIT, 8, "10", "--distributed-timeout-minutes 60"),
        ("a.sbatch", SCRIPT, flag("--fp16", "unset"), 7, "true", "pretrain_gpt.py \\\n"),
        ("train.py", PROGRAM, WAIT, 4, "timedelta(minutes=10)", "timeout=timedelta(minutes=60))"),
        ("ds.json", DEEPSPEED, flag("--fp16", "unset"), 3, "true", '"enabled": false,'),
        ("ds.json", DEEPSPEED, flag("--per_device_train_batch_size", "half"), 6, "8", '_per_gpu": 4\n'),
    ],
)
def test_every_syntax_gets_the_change_in_its_own_terms(  # noqa: PLR0917 - pytest calls it by name
    asks_for, tmp_path, name, text, step, line, present, expected
):
    around = circumstances({name: text}, frameworks=("slurm",))
    [planned] = plan_for(asks_for(step), around)

    assert (planned.where.source, planned.where.line, planned.present) == (name, line, present)
    changed = applied(tmp_path, {name: text}, planned.diff)[name]
    assert expected in changed
    before, after = text.splitlines(), changed.splitlines()
    assert len(set(after) - set(before)) <= 1


@pytest.mark.parametrize(
    ("name", "text", "step", "expected"),
    [
        ("a.sbatch", SCRIPT, env("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"), "export PYTORCH_CUDA_ALLOC"),
        ("pod.yaml", POD, env("NCCL_CUMEM_ENABLE", "0"), "NCCL_CUMEM_ENABLE"),
        ("a.sbatch", SCRIPT, flag("--exclude", "{host}"), "--exclude=n7"),
        ("a.sbatch", SCRIPT, flag("--bf16", "true"), "--bf16"),
    ],
)
def test_a_setting_that_is_missing_is_added_where_the_job_gets_it(  # noqa: PLR0917 - pytest calls it by name
    asks_for, tmp_path, name, text, step, expected
):
    [planned] = plan_for(asks_for(step), circumstances({name: text}), host="n7")

    assert planned.present is None
    changed = applied(tmp_path, {name: text}, planned.diff)[name]
    [added] = [number for number, line in enumerate(changed.splitlines(), 1) if expected in line]
    # A flag goes to the end of the command's last line, which the line that is added continues.
    assert planned.where.line == added - (expected == "--bf16")


def test_a_value_that_only_the_site_knows_gets_no_diff_but_the_command_that_tells(asks_for):
    step = env("NCCL_IB_GID_INDEX", "the index of that row", run="show_gids")
    [planned] = plan_for(asks_for(step), circumstances({"a.sbatch": SCRIPT}))

    assert (planned.where.line, planned.present, planned.diff) == (5, "3", None)
    assert planned.command == "show_gids"


@pytest.mark.parametrize("to", ["3", "7"])
def test_an_index_written_in_a_rule_is_no_index_of_this_site(asks_for, to):
    [planned] = plan_for(asks_for(env("NCCL_IB_GID_INDEX", to)), circumstances({"a.sbatch": SCRIPT}))

    assert planned.diff is None


def test_an_adapter_that_the_log_names_can_be_left_out(asks_for, tmp_path):
    [planned] = plan_for(
        asks_for(env("NCCL_IB_HCA", "^={adapter}")), circumstances({"a.sbatch": SCRIPT}), adapter="mlx5_3"
    )

    assert "NCCL_IB_HCA=^=mlx5_3" in applied(tmp_path, {"a.sbatch": SCRIPT}, planned.diff)["a.sbatch"]


def test_an_interface_that_the_user_names_is_not_replaced_by_a_guess(asks_for):
    script = SCRIPT.replace("NCCL_IB_GID_INDEX=3", "NCCL_SOCKET_IFNAME=eth7")
    [planned] = plan_for(asks_for(env("NCCL_SOCKET_IFNAME", "^lo,docker")), circumstances({"a.sbatch": script}))

    assert (planned.where.line, planned.present, planned.diff) == (5, "eth7", None)


def test_without_a_file_the_line_of_the_log_is_shown(asks_for):
    [planned] = plan_for(
        asks_for(env("NCCL_IB_TIMEOUT", "at least 22")), circumstances(logged={"NCCL_IB_TIMEOUT": "18"})
    )

    assert (planned.where, planned.present, planned.to, planned.diff) == (Position("log", 7, 0), "18", "22", None)


def test_a_setting_that_is_right_already_is_not_changed(asks_for):
    script = SCRIPT.replace("NCCL_IB_GID_INDEX=3", "NCCL_P2P_DISABLE=1")
    [planned] = plan_for(asks_for(env("NCCL_P2P_DISABLE", "1")), circumstances({"a.sbatch": script}))

    assert (planned.present, planned.to, planned.diff) == ("1", "1", None)


def test_what_is_wrong_in_the_files_comes_first(asks_for):
    steps = [
        Step("mend", effect="fix"),
        env("NCCL_CUMEM_ENABLE", "0"),
        env("NCCL_IB_GID_INDEX", "unset", effect="workaround"),
        env("NCCL_ALGO", "unset"),
        Step("look"),
        env("NCCL_TIMEOUT", None, effect="inspect", do_not=True),
    ]
    plan = plan_for(asks_for(*steps), circumstances({"a.sbatch": SCRIPT}))

    assert [step.setting or step.title for step in plan] == [
        "NCCL_IB_GID_INDEX",
        "mend",
        "NCCL_CUMEM_ENABLE",
        "NCCL_ALGO",
        "look",
        "NCCL_TIMEOUT",
    ]
    assert plan[-1].do_not


def test_leaving_the_host_out_comes_first_where_the_verdict_asks_for_that(asks_for):
    steps = [Step("replace it", effect="fix"), flag("--exclude", "{host}", effect="workaround")]
    plan = plan_for(asks_for(*steps), circumstances(), action=Action.RESTART_WITHOUT_NODE, host="n7")

    assert [step.to for step in plan] == ["n7", None]


def test_of_several_settings_those_that_are_made_are_named(asks_for):
    step = env("NCCL_BUFFSIZE, NCCL_ALGO, NCCL_PROTO", "unset")
    script = SCRIPT.replace("NCCL_IB_GID_INDEX=3", "NCCL_PROTO=LL")
    [planned] = plan_for(asks_for(step), circumstances({"a.sbatch": script}))
    [alone] = plan_for(asks_for(step), circumstances())

    assert (planned.setting, planned.present) == ("NCCL_PROTO", "LL")
    assert (alone.setting, alone.where) == ("NCCL_BUFFSIZE, NCCL_ALGO, NCCL_PROTO", None)


def test_a_secret_beside_the_line_is_in_no_diff(asks_for):
    script = SCRIPT.replace("#SBATCH --mem=64G", "export HF_TOKEN=hf_secret")
    around = circumstances({"a.sbatch": script}, may_show=lambda line: "hf_secret" not in line)
    [planned] = plan_for(asks_for(env("NCCL_IB_GID_INDEX", "unset")), around)

    assert planned.diff
    assert "hf_secret" not in planned.diff
    near = SCRIPT.replace("export NCCL_DEBUG=WARN", "export HF_TOKEN=hf_secret")
    around = circumstances({"a.sbatch": near}, may_show=lambda line: "hf_secret" not in line)
    [planned] = plan_for(asks_for(env("NCCL_IB_GID_INDEX", "unset")), around)

    assert (planned.where.line, planned.diff) == (5, None)


def test_python_gets_a_timedelta_only_where_it_has_one(asks_for):
    program = PROGRAM.replace("from datetime import timedelta", "import datetime as dt")
    [planned] = plan_for(asks_for(WAIT), circumstances({"train.py": program.replace("timedelta(", "dt.timedelta(")}))

    assert planned.where.line == 4
    assert planned.diff is None


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"{" * 5_000, b"export A=$(\n" * 50, b"a: [b, {c: " * 500])
def test_a_broken_file_gives_a_plan(asks_for, data):
    from nccl_logscan.configs.read import read_text  # noqa: PLC0415

    configs = [read_text(name, data) for name in ("a.sh", "a.yaml", "a.json", "a.py", "a.toml", ".env")]
    around = circumstances()
    around = type(around)(around.job, tuple(filter(None, configs)), around.syntaxes)

    assert len(plan_for(asks_for(env("NCCL_IB_HCA", "unset"), WAIT, env("NCCL_P2P_DISABLE", "1")), around)) == 3


def test_a_key_far_down_in_a_manifest_is_shown_by_its_known_name(asks_for):
    pod = POD + "      resources:\n        limits:\n          memory: 64Gi\n"
    step = Step("Raise it.", kind="k8s_field", setting="resources.limits.memory", effect="fix")
    [planned] = plan_for(asks_for(step), circumstances({"pod.yaml": pod}))

    assert (planned.setting, planned.present, planned.where.line) == ("resources.limits.memory", "64Gi", 11)


def test_a_file_that_only_lay_beside_the_log_is_left_alone_where_another_was_named(asks_for):
    both = circumstances({"named.sh": SCRIPT, "beside.sh": SCRIPT})
    around = type(both)(both.job, both.configs, both.syntaxes, found=frozenset({"beside.sh"}))
    removed, added = plan_for(asks_for(env("NCCL_IB_GID_INDEX", "unset"), env("NCCL_CUMEM_ENABLE", "0")), around)

    assert "beside.sh" not in removed.diff + added.diff
    assert {removed.where.source, added.where.source} == {"named.sh"}


def test_where_a_setting_goes_is_shown_although_its_value_is_not_known(asks_for):
    script = SCRIPT.replace("export NCCL_IB_GID_INDEX=3   # copied from a wiki\n", "")
    exclude, index = plan_for(
        asks_for(flag("--exclude", "{host}"), env("NCCL_IB_GID_INDEX", None, run="show_gids")),
        circumstances({"a.sbatch": script}),
    )

    assert (exclude.where.line, exclude.to, exclude.diff) == (4, None, None)
    assert (index.where.line, index.to, index.diff, index.command) == (5, None, None, "show_gids")


def test_two_steps_that_come_to_the_same_are_one(asks_for):
    around = circumstances({"a.sbatch": SCRIPT})
    one = flag("--micro-batch-size", "half")
    other = Step("With others.", kind="cli_flag", setting="--per_device_train_batch_size", to="half", effect="fix")

    assert len(plan_for(asks_for(one, other), around)) == 1


def test_what_might_be_larger_is_not_taken_for_wrong(asks_for):
    script = SCRIPT.replace("NCCL_IB_GID_INDEX=3", "NCCL_IB_TIMEOUT=18")
    steps = (env("NCCL_IB_TIMEOUT", "at least 22", effect="workaround"), Step("mend the link", effect="fix"))
    first, second = plan_for(asks_for(*steps), circumstances({"a.sbatch": script}))

    assert (first.title, second.setting, second.where.line) == ("mend the link", "NCCL_IB_TIMEOUT", 5)


def test_a_key_of_a_file_is_put_into_no_command_line(asks_for):
    compose = "services:\n  train:\n    image: x\n    shm_size: 1g\n"
    step = flag("--shm-size", "at least 16g", run="docker run --shm-size=16g ...")
    [planned] = plan_for(asks_for(step), circumstances({"docker-compose.yml": compose}))

    assert (planned.setting.rpartition(".")[2], planned.present, planned.to) == ("shm_size", "1g", "16g")
    assert planned.command is None
    assert "shm_size: 16g\n" in planned.diff


@pytest.mark.parametrize("step", [flag("--shm-size", "at least 16g"), flag("--ipc", "host")])
def test_nothing_is_added_at_the_root_of_a_compose_file(asks_for, tmp_path, step):
    compose = "services:\n  train:\n    image: x\n    environment:\n      NCCL_DEBUG: INFO\n"
    [planned] = plan_for(asks_for(step), circumstances({"docker-compose.yml": compose}))

    if planned.diff is not None:
        changed = applied(tmp_path, {"docker-compose.yml": compose}, planned.diff)["docker-compose.yml"]
        assert [line for line in changed.splitlines() if not line.startswith(" ")] == ["services:"]


def test_a_key_that_newer_versions_ignore_is_changed_by_no_diff_while_the_version_is_unknown(asks_for):
    script = "python3 -m verl.trainer.main_ppo \\\n    actor_rollout_ref.nccl_timeout=600 trainer.nnodes=2\n"
    [planned] = plan_for(asks_for(WAIT), circumstances({"run.sh": script}))
    pinned = "pip install verl==0.7.1\n" + script
    [old] = plan_for(asks_for(WAIT), circumstances({"run.sh": pinned}))

    assert (planned.setting, planned.present, planned.where.line) == ("actor_rollout_ref.nccl_timeout", "600", 2)
    assert (planned.diff, planned.command) == (None, "pip show verl")
    assert "0.8" in planned.risk
    assert "+    actor_rollout_ref.nccl_timeout=3600" in old.diff


def test_a_bound_from_above_leaves_what_is_smaller_alone(asks_for):
    program = "import lightning as L\ntrainer = L.Trainer(gradient_clip_val={})\n"
    step = flag("--max_grad_norm", "at most 1.0", effect="workaround")
    [small] = plan_for(asks_for(step), circumstances({"a.py": program.format("0.5")}))
    [large] = plan_for(asks_for(step), circumstances({"a.py": program.format("5.0")}))

    assert (small.present, small.diff) == ("0.5", None)
    assert (large.present, large.to) == ("5.0", "1.0")
    assert "+trainer = L.Trainer(gradient_clip_val=1.0)" in large.diff


def test_what_is_so_already_comes_after_what_is_not(asks_for):
    script = SCRIPT.replace("NCCL_IB_GID_INDEX=3", "NCCL_P2P_DISABLE=1")
    steps = (env("NCCL_P2P_DISABLE", "1", effect="workaround"), Step("replace it", effect="workaround"))
    plan = plan_for(asks_for(*steps), circumstances({"a.sbatch": script}))

    assert [step.setting for step in plan] == [None, "NCCL_P2P_DISABLE"]


@pytest.mark.parametrize("level", ["INFO", "TRACE"])
def test_a_log_that_says_more_than_is_asked_for_is_not_made_to_say_less(asks_for, level):
    script = SCRIPT.replace("NCCL_DEBUG=WARN", f"NCCL_DEBUG={level}")
    [planned] = plan_for(asks_for(env("NCCL_DEBUG", "WARN", effect="inspect")), circumstances({"a.sbatch": script}))

    assert planned.diff is None


PIECES = st.sampled_from(
    [
        "export NCCL_IB_GID_INDEX=3",
        "NCCL_IB_GID_INDEX: 3",
        '"NCCL_IB_GID_INDEX": "3",',
        "os.environ['NCCL_IB_GID_INDEX'] = '3'",
        "NCCL_IB_GID_INDEX=3",
        "mpirun -x NCCL_IB_GID_INDEX=3 \\",
        "srun --export=ALL,NCCL_IB_GID_INDEX=3 x",
        "env:",
        "  - {name: NCCL_IB_GID_INDEX, value: '3'}",
        "{",
        "}",
        "cat <<EOF",
        "EOF",
        "if x; then",
        "fi",
        "'",
        '"',
        "# a comment",
        "",
        "\t",
        "\u00e9\u4e2d",
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(PIECES, max_size=8), name=st.sampled_from(["a.sh", "a.yaml", "a.json", "a.py", ".env", "a.toml"]))
def test_whatever_the_file_a_diff_takes_the_setting_out_and_nothing_else(asks_for, tmp_path, lines, name):
    text = "".join(f"{line}\n" for line in lines)
    files = {name: text}
    around = circumstances(files)
    [planned] = plan_for(asks_for(env("NCCL_IB_GID_INDEX", "unset")), around)

    if planned.diff is not None:
        changed = applied(tmp_path, files, planned.diff)[name]
        again = circumstances({name: changed})
        assert again.standings("NCCL_IB_GID_INDEX") == ()
        assert len(changed) < len(text)


@pytest.mark.parametrize("first", ["--bf16", "--fp16"])
def test_settings_that_change_together_are_one_diff(asks_for, tmp_path, first):
    steps = {
        "--bf16": flag("--bf16", "true", along=(("--fp16", "unset"),)),
        "--fp16": flag("--fp16", "unset", along=(("--bf16", "true"),)),
    }
    config = "per_device_train_batch_size: 4\nfp16: true\nddp_timeout: 1800\n"
    order = sorted(steps, key=lambda name: name != first)
    plan = plan_for(asks_for(*(steps[name] for name in order)), circumstances({"a.yaml": config}))
    [diff] = [step.diff for step in plan if step.diff]

    assert applied(tmp_path, {"a.yaml": config}, diff)["a.yaml"].splitlines() == [
        "per_device_train_batch_size: 4",
        "fp16: false",
        "ddp_timeout: 1800",
        "bf16: true",
    ]


def test_a_compose_file_s_service_with_gpus_gets_the_key(asks_for, tmp_path):
    compose = "services:\n  db:\n    image: y\n  train:\n    image: x\n    runtime: nvidia\n"
    [planned] = plan_for(asks_for(flag("--shm-size", "at least 16g")), circumstances({"docker-compose.yml": compose}))
    changed = applied(tmp_path, {"docker-compose.yml": compose}, planned.diff)["docker-compose.yml"]

    assert changed == compose + "    shm_size: 16g\n"


def test_no_memory_of_a_node_is_asked_for_beside_that_of_a_core(asks_for):
    script = "#!/bin/bash\n#SBATCH --mem-per-cpu=4G\nsrun python train.py\n"
    [planned] = plan_for(asks_for(flag("--mem", "0")), circumstances({"a.sbatch": script}))

    assert (planned.setting, planned.present, planned.where.line) == ("--mem-per-cpu", "4G", 2)
    assert (planned.to, planned.diff) == (None, None)


def test_a_step_given_for_a_framework_is_for_jobs_that_use_it(asks_for):
    step = env("NCCL_DEBUG", "WARN", given=("deepspeed", "roce"))

    assert plan_for(asks_for(step), circumstances({"a.sh": "torchrun train.py\n"})) == ()
    assert len(plan_for(asks_for(step), circumstances({"a.sh": "deepspeed train.py\n"}))) == 1


def test_of_very_many_wrong_settings_the_gravest_come_with_a_diff():
    files = {f"{number}.sh": "export NCCL_TIMEOUT=1\n" for number in range(260)}
    found = judged(Job(), circumstances({"a.sh": "export NCCL_DEBUG=INFO\n", **files}).configs, lambda _: True)

    assert [entry.diff is not None for entry in found] == [True] * 200 + [False] * 61
    assert found[-1].remark.name == "NCCL_DEBUG"
