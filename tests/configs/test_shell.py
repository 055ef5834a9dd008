"""What shell scripts set and start, each construct with the exact bytes of it."""

from __future__ import annotations

import pytest

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Config, Form, Forwards, Placed
from nccl_logscan.configs.read import read_text


def read(script: str, name: str = "train.sh") -> Config:
    config = read_text(name, script.encode())
    assert config is not None
    return config


def the(config: Config, name: str) -> Placed:
    [placed] = [placed for placed in config.settings if placed.name == name]
    return placed


def written(config: Config, placed: Placed) -> tuple[str, str | None]:
    """The bytes that go when the setting goes, and those of its value."""
    span, value = placed.span, placed.value_span
    return config.data[span.start : span.end].decode(), value and config.data[value.start : value.end].decode()


@pytest.mark.parametrize(
    ("script", "value", "form", "span", "value_written"),
    [
        ("export X=1\n", "1", Form.EXPORT, "export X=1", "1"),
        ('export X="a b" # why\n', "a b", Form.EXPORT, 'export X="a b"', '"a b"'),
        ("export A=1 X='q r' B=2\n", "q r", Form.EXPORT, "X='q r'", "'q r'"),
        ("export A=1 \\\n  X=2\n", "2", Form.EXPORT, "X=2", "2"),
        ("export X=$Y\\\n  B=2\n", None, Form.EXPORT, "X=$Y", "$Y"),
        ("export X=1\\\n2\n", "12", Form.EXPORT, "export X=1\\\n2", "1\\\n2"),
        ('read -r A <<< "$B"\nexport X=1\n', "1", Form.EXPORT, "export X=1", "1"),
        ("export X=$'a\\tb'\n", "a\tb", Form.EXPORT, "export X=$'a\\tb'", "$'a\\tb'"),
        ('export X=a"b c"\\ d\n', "ab c d", Form.EXPORT, 'export X=a"b c"\\ d', 'a"b c"\\ d'),
        ("export X=$Y\n", None, Form.EXPORT, "export X=$Y", "$Y"),
        ("export X=$(hostname)\n", None, Form.EXPORT, "export X=$(hostname)", "$(hostname)"),
        ("export X=`hostname`\n", None, Form.EXPORT, "export X=`hostname`", "`hostname`"),
        ('export X="a${Y//a/b}"\n', None, Form.EXPORT, 'export X="a${Y//a/b}"', '"a${Y//a/b}"'),
        ("export X=\n", "", Form.EXPORT, "export X=", ""),
        ("declare -x X=1\n", "1", Form.EXPORT, "declare -x X=1", "1"),
        ("typeset -x X=1\n", "1", Form.EXPORT, "typeset -x X=1", "1"),
        (': "${X:=1}"\n', "1", Form.ASSIGNMENT, ': "${X:=1}"', "1"),
        (": ${X:=1}\nexport X\n", "1", Form.EXPORT, ": ${X:=1}", "1"),
        ("readonly X=1\n", "1", Form.ASSIGNMENT, "readonly X=1", "1"),
        ("X=1\n", "1", Form.ASSIGNMENT, "X=1", "1"),
        ("X=1\nexport X\n", "1", Form.EXPORT, "X=1", "1"),
        ("set -a\nX=1\nset +a\n", "1", Form.EXPORT, "X=1", "1"),
        ("export X\n", None, Form.EXPORT, "export X", None),
        ("X+=,b\n", None, Form.ASSIGNMENT, "X+=,b", ",b"),
        ("X=1 python a.py\n", "1", Form.COMMAND_PREFIX, "X=1", "1"),
        ("env -i X=1 python a.py\n", "1", Form.COMMAND_PREFIX, "X=1", "1"),
        ("env -u X python a.py\n", None, Form.UNSET, "-u X", None),
        ("unset X\n", None, Form.UNSET, "unset X", None),
        ("unset A X\n", None, Form.UNSET, "X", None),
        ("if true; then export X=1; fi\n", "1", Form.EXPORT, "export X=1", "1"),
        ("f() {\n  export X=1\n}\n", "1", Form.EXPORT, "export X=1", "1"),
        ("function f { export X=1; }\n", "1", Form.EXPORT, "export X=1", "1"),
        ("(export X=1; true)\n", "1", Form.EXPORT, "export X=1", "1"),
        ("for i in a b; do export X=1; done\n", "1", Form.EXPORT, "export X=1", "1"),
        ("case $a in\n  a|b) export X=1 ;;\nesac\n", "1", Form.EXPORT, "export X=1", "1"),
        ("true && export X=1 || false\n", "1", Form.EXPORT, "export X=1", "1"),
        ("bash -c 'export X=1; run'\n", "1", Form.EXPORT, "export X=1", "1"),
        ('ssh host "export X=1 && run"\n', "1", Form.EXPORT, "export X=1", "1"),
        ("ssh host 'X=1 python a.py'\n", "1", Form.COMMAND_PREFIX, "X=1", "1"),
        ("ssh host X=1 python a.py\n", "1", Form.COMMAND_PREFIX, "X=1", "1"),
        ('srun bash -c "X=\\"a b\\" run"\n', "a b", Form.COMMAND_PREFIX, 'X=\\"a b\\"', '\\"a b\\"'),
        ("eval 'export X=1'\n", "1", Form.EXPORT, "export X=1", "1"),
        ("CMD='export X=1; run'\neval \"$CMD\"\n", "1", Form.EXPORT, "export X=1", "1"),
        ("cat <<EOF > run.sh\nexport X=1\nEOF\n", "1", Form.EXPORT, "export X=1", "1"),
        ("cat > run.sh <<'EOF'\nexport X=1\nEOF\n", "1", Form.EXPORT, "export X=1", "1"),
        ("bash <<-EOF\n\texport X=1\n\tEOF\n", "1", Form.EXPORT, "export X=1", "1"),
        ("sbatch <<EOF\n#!/bin/bash\nexport X=\\$Y\nEOF\n", None, Form.EXPORT, "export X=\\$Y", "\\$Y"),
        ("cat > .deepspeed_env <<EOF\nX=1\nEOF\n", "1", Form.ENV_FILE, "X=1", "1"),
        ("ssh h <<'A'\nbash <<'B'\nexport X=1\nB\nA\n", "1", Form.EXPORT, "export X=1", "1"),
        ("cat > /etc/nccl.conf <<EOF\nX=a b\nEOF\n", "a b", Form.NCCL_CONF, "X=a b", "a b"),
        ('V=("X=a b" -u Y)\nenv "${V[@]}" python t.py\n', "a b", Form.COMMAND_PREFIX, '"X=a b"', "a b"),
        ('declare -a V=(X=1)\nenv "${V[@]}" python t.py\n', "1", Form.COMMAND_PREFIX, "X=1", "1"),
        ('echo "X=1" >> /etc/nccl.conf\n', "1", Form.NCCL_CONF, '"X=1"', "1"),
    ],
)
def test_a_variable_is_seen_with_the_bytes_that_set_it(script, value, form, span, value_written):
    config = read(script)
    placed = the(config, "X")
    assert (placed.value, placed.form, placed.kind) == (value, form, Kind.ENV)
    assert written(config, placed) == (span, value_written)
    assert config.faults == ()


@pytest.mark.parametrize("default", ["${X:-mlx5_0}", "${X-mlx5_0}", '"${X:-mlx5_0}"', "${X:=mlx5_0}", '${X:-"mlx5_0"}'])
def test_a_default_is_the_value_and_told_as_such(default):
    placed = the(read(f"export X={default}\n"), "X")
    assert (placed.value, placed.fallback) == ("mlx5_0", True)


def test_text_that_is_not_run_sets_nothing():
    script = """# export A=1
echo export B=1
cat <<EOF > notes.txt
export C=1
EOF
python - <<EOF
D=1
EOF
case x in torchrun) ;; esac
read -p "E=1"
"""
    assert [placed.name for placed in read(script).settings] == []
    assert read(script).launches == ()


def test_a_place_counts_characters_and_bytes():
    config = read("echo é; export X=1\n")
    placed = the(config, "X")
    assert (placed.at.line, placed.column, placed.span.start) == (1, 9, 9)


FLAGS = [
    ("torchrun --nproc_per_node 8 t.py", "--nproc_per_node", "8", "torchrun", "pytorch"),
    ("python -m torch.distributed.run --nnodes=2 t.py", "--nnodes", "2", "torch.distributed.run", "pytorch"),
    ("torchrun --standalone t.py --lr 1", "--lr", "1", "t.py", None),
    ("torchrun --standalone -m megatron.train --bf16", "--bf16", "true", "megatron.train", "megatron-lm"),
    ("torchrun pretrain_gpt.py --distributed-timeout-minutes 10", "--distributed-timeout-minutes", "10",
     "pretrain_gpt.py", "megatron-lm"),
    ("deepspeed --num_gpus 8 t.py --x 1", "--num_gpus", "8", "deepspeed", "deepspeed"),
    ("accelerate launch --multi_gpu t.py --ddp_timeout 9", "--ddp_timeout", "9", "t.py", "transformers"),
    ("accelerate launch --num_machines=2 t.py", "--num_machines", "2", "accelerate launch", "accelerate"),
    ("srun -N2 -l python t.py", "-N", "2", "srun", "slurm"),
    ("srun --kill-on-bad-exit=1 python t.py", "--kill-on-bad-exit", "1", "srun", "slurm"),
    ("#SBATCH --mem=0\ntrue", "--mem", "0", "sbatch", "slurm"),
    ("#SBATCH -N 2  # two\ntrue", "-N", "2", "sbatch", "slurm"),
    ("cat <<EOF | sbatch\n#!/bin/bash\n#SBATCH --mem=0\nEOF", "--mem", "0", "sbatch", "slurm"),
    ("#PBS -q gpu\ntrue", "-q", "gpu", "qsub", "pbs"),
    ("mpirun -np 8 --mca btl ^openib python t.py", "--mca btl", "^openib", "mpirun", "openmpi"),
    ("docker run --shm-size=16g img python t.py", "--shm-size", "16g", "docker", "docker"),
    ("docker run --ulimit memlock=-1 img python t.py", "--ulimit memlock", "-1", "docker", "docker"),
    ("ray start --head --port 6379", "--port", "6379", "ray start", "ray"),
    ("python -m openrlhf.cli.train_ppo_ray --zero_stage 3", "--zero_stage", "3", "openrlhf.cli.train_ppo_ray",
     "openrlhf"),
    ("vllm serve m --gpu-memory-utilization 0.9", "--gpu-memory-utilization", "0.9", "vllm serve", "vllm"),
    ("python3 -u train.py --seed -1", "--seed", "-1", "train.py", None),
    ("nohup timeout 3h numactl -N 0 python t.py --a 1 &", "--a", "1", "t.py", None),
    ("sudo -E stdbuf -oL python t.py --a 1", "--a", "1", "t.py", None),
    ("CUDA_VISIBLE_DEVICES=0 nsys profile -o x python t.py --a 1", "--a", "1", "t.py", None),
    ('ARGS="--fp16 --a 1"\npython t.py $ARGS', "--a", "1", "t.py", None),
    ('ARGS=" \\\n  --fp16 \\\n  --a 1 \\\n"\ntorchrun t.py $ARGS', "--a", "1", "t.py", None),
    ('ARGS="\n  --fp16\n  --a 1\n"\ntorchrun t.py $ARGS', "--a", "1", "t.py", None),
    ('ARGS=(--fp16)\nARGS+=(--a 1)\npython t.py "${ARGS[@]}"', "--a", "1", "t.py", None),
    ('A=(--a 1)\nB=("${A[@]}" --b)\npython t.py "${B[@]}"', "--a", "1", "t.py", None),
    ('CMD="python t.py --a 1"\nsrun bash -c "$CMD"', "--a", "1", "t.py", None),
    ('L="torchrun --nnodes 2"\n$L t.py --a 1', "--a", "1", "t.py", None),
    ('L="torchrun --nnodes 2"\n$L t.py --a 1', "--nnodes", "2", "torchrun", "pytorch"),
    ("python t.py --config-name a x.y=1", "--config-name", "a", "t.py", None),
    ("LAUNCH=(python3)\nif x; then LAUNCH=(uv run python3); fi\n\"${LAUNCH[@]}\" -m verl.t --a 1", "--a", "1",
     "verl.t", "verl"),
]  # fmt: skip


@pytest.mark.parametrize(("script", "flag", "value", "program", "framework"), FLAGS)
def test_a_flag_goes_to_the_program_that_reads_it(script, flag, value, program, framework):
    placed = the(read(script + "\n"), flag)
    assert (placed.value, placed.program, placed.framework) == (value, program, framework)
    assert (placed.form, placed.kind) == (Form.FLAG, Kind.CLI_FLAG)


@pytest.mark.parametrize(
    ("written_as", "key", "value", "scalar", "mark"),
    [
        ("a.b=c", "a.b", "c", "text", ""),
        ("a.b=1", "a.b", "1", "integer", ""),
        ("a.b=1e-3", "a.b", "1e-3", "number", ""),
        ("a.b=True", "a.b", "True", "boolean", ""),
        ("+a.b=c", "a.b", "c", "text", "+"),
        ("++a.b='c d'", "a.b", "c d", "text", "++"),
        ("~a.b", "a.b", None, "text", "~"),
        ("a.b=\"'1'\"", "a.b", "1", "text", ""),
        ("a.b=$X", "a.b", None, "text", ""),
        ("nnodes=2", "nnodes", "2", "integer", ""),
    ],
)
def test_hydra_overrides(written_as, key, value, scalar, mark):
    config = read(f"python3 -m verl.trainer.main_ppo \\\n  x.y=z \\\n  {written_as} $@ 2>&1 | tee log\n")
    placed = the(config, key)
    assert (placed.value, placed.scalar, placed.mark) == (value, scalar, mark)
    assert (placed.form, placed.program, placed.framework) == (Form.OVERRIDE, "verl.trainer.main_ppo", "verl")


def test_a_variable_of_rays_runtime_env_is_told_as_variable_too():
    config = read("python3 -m verl.trainer.main_ppo +ray_kwargs.ray_init.runtime_env.env_vars.NCCL_DEBUG=INFO\n")
    placed = the(config, "NCCL_DEBUG")
    assert (placed.value, placed.form, placed.kind) == ("INFO", Form.RUNTIME_ENV, Kind.ENV)
    assert the(config, "ray_kwargs.ray_init.runtime_env.env_vars.NCCL_DEBUG").form is Form.OVERRIDE


def test_variables_that_launchers_hand_over():
    cases = {
        "mpirun -x X=1 python t.py": ("1", "mpirun"),
        'ENVS=(-x "X=1")\nmpirun "${ENVS[@]}" python t.py': ("1", "mpirun"),
        "mpirun -x X python t.py": (None, "mpirun"),
        "mpiexec -genv X 1 -n 4 python t.py": ("1", "mpiexec"),
        "srun --export=ALL,X=1,Y=2 python t.py": ("1", "srun"),
        "#SBATCH --export=ALL,X=1\ntrue": ("1", "sbatch"),
        "docker run -e X=1 img": ("1", "docker"),
        "docker run --env X=1 img": ("1", "docker"),
        "podman run -e X img": (None, "podman"),
        "apptainer exec --env X=1,Y=2 img.sif python t.py": ("1", "apptainer"),
        'deepspeed --launcher openmpi --launcher_args="-x X=1 -x Y" t.py': ("1", "mpirun"),
        "horovodrun -x X=1 python t.py": ("1", "horovodrun"),
    }
    for script, (value, program) in cases.items():
        placed = the(read(script + "\n"), "X")
        assert (placed.value, placed.program, placed.form) == (value, program, Form.LAUNCHER_OPTION), script


def test_json_of_ray_job_submit_in_a_variable():
    script = (
        'J="{\\"env_vars\\": {\\"X\\": \\"1\\", \\"Y\\": \\"$A\\"}}"\nray job submit --runtime-env-json="$J" -- ./t\n'
    )
    config = read(script)
    assert (the(config, "X").value, the(config, "Y").value) == ("1", None)
    assert config.launches[0].names == {"X", "Y"}


def test_json_of_ray_job_submit():
    config = read("""ray job submit --runtime-env-json='{"env_vars": {"X": "1", "Y": "a b"}}' -- python t.py --q 2\n""")
    assert (the(config, "X").value, the(config, "Y").value, the(config, "X").form) == ("1", "a b", Form.RUNTIME_ENV)
    assert written(config, the(config, "Y")) == ('"Y": "a b"', '"a b"')
    assert the(config, "--q").program == "t.py"


@pytest.mark.parametrize(
    ("script", "name", "value"),
    [
        ("ulimit -n 65536", "ulimit -n", "65536"),
        ("ulimit -Sl unlimited", "ulimit -l", "unlimited"),
        ("sudo sysctl -w net.core.somaxconn=1024", "net.core.somaxconn", "1024"),
        ("nvidia-smi -pm 1", "nvidia-smi -pm", "1"),
        ("sudo modprobe nvidia_peermem", "modprobe nvidia-peermem", None),
    ],
)
def test_host_commands(script, name, value):
    placed = the(read(script + "\n"), name)
    assert (placed.value, placed.form, placed.kind) == (value, Form.HOST_COMMAND, Kind.HOST_COMMAND)


LAUNCHES = [
    ("mpirun -np 16 -H a:8,b:8 -x X python t.py", "mpirun", Forwards.NAMED, {"X", "OMPI_*", "PMIX_*"}, True, 2),
    ("mpirun -np 8 python t.py", "mpirun", Forwards.NAMED, {"OMPI_*", "PMIX_*"}, False, None),
    ("mpirun -np 8 -H localhost python t.py", "mpirun", Forwards.NAMED, {"OMPI_*", "PMIX_*"}, False, 1),
    ("mpirun --hostfile h python t.py", "mpirun", Forwards.NAMED, {"OMPI_*", "PMIX_*"}, True, None),
    ("mpiexec -ppn 8 -genv A 1 -f hosts ./t", "mpiexec", Forwards.ALL, {"A"}, True, None),
    ("srun -N 2 python t.py", "srun", Forwards.ALL, set(), True, 2),
    ("srun --export=NONE python t.py", "srun", Forwards.NOTHING, {"NONE"}, True, None),
    ("srun --export=X=1,Y python t.py", "srun", Forwards.NAMED, {"X", "Y"}, True, None),
    ("srun --export=ALL,X=1 python t.py", "srun", Forwards.ALL, {"X"}, True, None),
    ("#SBATCH --nodes=4\n#SBATCH --export=NONE\nsrun ./t", "srun", Forwards.NOTHING, {"NONE"}, True, 4),
    ("#SBATCH --export=NONE\nsrun --export=ALL ./t", "srun", Forwards.ALL, set(), True, None),
    ("sbatch train.sh", "sbatch", Forwards.ALL, set(), True, None),
    ("deepspeed --hostfile h t.py", "deepspeed", Forwards.NAMED, {"NCCL*", "PYTHON*", "UCX*", "MV2*", "MLFLOW*"},
     True, None),
    ("deepspeed t.py", "deepspeed", Forwards.ALL, set(), False, None),
    ("docker run -e X=1 img", "docker", Forwards.NAMED, {"X"}, True, None),
    ("apptainer exec img ./t", "apptainer", Forwards.ALL, set(), True, None),
    ("apptainer exec --cleanenv --env X=1 img ./t", "apptainer", Forwards.NAMED, {"X"}, True, None),
    ("ssh host ./t", "ssh", Forwards.NOTHING, set(), True, None),
    ("ssh -o SendEnv=X host ./t", "ssh", Forwards.NAMED, {"X"}, True, None),
    ("pdsh -w a,b ./t", "pdsh", Forwards.NOTHING, set(), True, None),
    ("kubectl exec -it pod -- env A=1 python t.py", "kubectl exec", Forwards.NOTHING, set(), True, None),
    ("torchrun --nnodes 4 t.py", "torchrun", Forwards.ALL, set(), False, 4),
    ("ray job submit -- python t.py", "ray job submit", Forwards.NAMED, set(), True, None),
    ("python3 -m verl.trainer.main_ppo trainer.nnodes=2", "verl.trainer.main_ppo", Forwards.NAMED, set(), True, 2),
    ("python3 -m verl.trainer.main_ppo trainer.nnodes=1", "verl.trainer.main_ppo", Forwards.ALL, set(), False, 1),
    ("python3 -m verl.trainer.main_ppo trainer.nnodes=$N", "verl.trainer.main_ppo", Forwards.ALL, set(), False, None),
    ("sudo docker run img", "sudo", Forwards.NOTHING, set(), False, None),
]  # fmt: skip


@pytest.mark.parametrize(("script", "program", "forwards", "names", "remote", "nodes"), LAUNCHES)
def test_what_a_launch_hands_over(script, program, forwards, names, remote, nodes):  # noqa: PLR0917 - a case's facts
    launch = read(script + "\n").launches[0]
    assert (launch.program, launch.forwards, launch.remote, launch.nodes) == (program, forwards, remote, nodes)
    assert launch.names == names


def test_versions_that_the_script_installs():
    script = (
        'pip install "torch==2.6.0+cu124" nvidia-nccl-cu12==2.21.5 verl==0.5 numpy\nmodule load nccl/2.18.3-cuda12\n'
    )
    assert read(script).pins == {"torch": "2.6.0+cu124", "nccl": "2.21.5", "verl": "0.5"}


def test_a_directive_after_the_first_command_is_none_and_said_so():
    config = read("#!/bin/bash\n#SBATCH --nodes=2\ntrue\n#SBATCH --mem=0\n")
    assert [placed.name for placed in config.settings] == ["--nodes"]
    assert config.faults == ("line 4: #SBATCH is not read after the first command",)


@pytest.mark.parametrize("script", ["export NCCL_X = 1\n", "NCCL_X = 1\n", "NCCL_X =1\n"])
def test_blanks_around_the_sign_set_nothing_and_are_told(script):
    config = read(script)
    assert not [placed for placed in config.settings if placed.value is not None]
    assert config.faults == ("line 1: nothing is set here: the shell takes no blanks around a =",)


def test_what_nothing_closes_is_a_fault_and_the_rest_is_read():
    config = read('export A="x\nexport B=1\n')
    assert the(config, "B").value == "1"
    assert config.faults == ("line 1: what opens here is closed nowhere",)


@pytest.mark.parametrize(
    ("script", "name", "value", "syntax_form"),
    [
        ('cat > ds.json <<EOF\n{"fp16": {"initial_scale_power": 32}}\nEOF\n', "fp16.initial_scale_power", "32",
         Form.MAPPING),
        ('C="./ds.json"\ncat <<EOT > $C\n{\n  "fp16": {"enabled": $X}\n}\nEOT\n', "fp16.enabled", None, Form.MAPPING),
        ("python - <<'EOF'\nimport os\nos.environ['NCCL_DEBUG'] = 'INFO'\nEOF\n", "NCCL_DEBUG", "INFO",
         Form.PYTHON_ENVIRON),
        ("cat > r.yaml <<EOF\nenv_vars:\n  NCCL_DEBUG: INFO\nEOF\n", "NCCL_DEBUG", "INFO", Form.RUNTIME_ENV),
    ],
)  # fmt: skip
def test_files_of_other_kinds_that_the_script_writes(script, name, value, syntax_form):
    config = read(script)
    placed = the(config, name)
    assert placed.value == value
    assert placed.form in {syntax_form, Form.ENV_MAPPING}
    assert config.data[: placed.span.start].count(b"\n") + 1 == placed.at.line


def test_a_value_that_stands_elsewhere_is_not_told_and_no_span_runs_backwards():
    config = read('E="2 4"\npython t.py \\\n  --num-experts ${E} --x 1\nV=(Y=1)\nexport "${V[@]}"\n')
    experts = the(config, "--num-experts")
    assert (experts.value, written(config, experts)[0]) == (None, "--num-experts")
    assert the(config, "--x").value == "1"
    assert written(config, the(config, "Y")) == ("Y=1", "1")


def test_settings_come_in_the_order_of_the_file():
    config = read('A=(--z 1)\nexport X=1\npython t.py "${A[@]}" --y 2\nexport W=1\n')
    starts = [placed.span.start for placed in config.settings]
    assert starts == sorted(starts)
    assert [placed.name for placed in config.settings] == ["--z", "X", "--y", "W"]


@pytest.mark.parametrize(
    "more", ['CMD="$CMD -x NCCL_ALGO=Ring"', 'CMD+=" -x NCCL_ALGO=Ring"', 'CMD="${CMD} -x NCCL_ALGO=Ring"']
)
def test_what_a_variable_collects_is_one_command(more):
    text = f'CMD="mpirun -np 16 -H a,b -x NCCL_DEBUG=WARN"\n{more}\n$CMD python train.py --seed 1\n'
    config = read_text("run.sh", text.encode())

    placed = {setting.name: setting.value for setting in config.settings if setting.form is Form.LAUNCHER_OPTION}
    assert placed == {"NCCL_DEBUG": "WARN", "NCCL_ALGO": "Ring"}
    assert [launch.program for launch in config.launches] == ["mpirun"]
