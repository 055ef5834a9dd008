import pytest

from nccl_logscan.lint.model import Check

OUT = Check.OUT_OF_REACH


@pytest.mark.parametrize(
    "launch",
    [
        "mpirun -np 16 -H a:8,b:8 python train.py",
        "mpirun -np 16 --hostfile hosts -x NCCL_DEBUG python train.py",
        "docker run --rm image torchrun train.py",
        "docker run --rm -e NCCL_DEBUG image torchrun train.py",
        "ssh node2 'cd /srv && torchrun train.py'",
        "srun --export=NONE python train.py",
        "srun --export=PATH,NCCL_DEBUG python train.py",
        "ray job submit -- python train.py",
    ],
)
def test_an_export_that_the_launcher_does_not_hand_on_does_not_arrive(lint_script, said, launch):
    assert said(lint_script("export NCCL_SOCKET_IFNAME=bond0", launch)) == [("NCCL_SOCKET_IFNAME", OUT)]


@pytest.mark.parametrize(
    "launch",
    [
        "torchrun --standalone train.py",
        "mpirun -np 8 python train.py",
        "mpirun -np 16 -H a:8,b:8 -x NCCL_SOCKET_IFNAME python train.py",
        "docker run --rm -e NCCL_SOCKET_IFNAME image torchrun train.py",
        "srun python train.py",
        "srun --export=ALL,FOO=1 python train.py",
        "sbatch train.sbatch",
        "ssh node2 'NCCL_SOCKET_IFNAME=bond0 torchrun train.py'",
        'ssh node2 "NCCL_SOCKET_IFNAME=$NCCL_SOCKET_IFNAME torchrun train.py"',
        "for h in a b; do ssh $h nvidia-smi; done\npython train.py",
        'ray job submit --runtime-env-json=\'{"env_vars": {"NCCL_SOCKET_IFNAME": "bond0"}}\' -- python train.py',
    ],
)
def test_an_export_that_the_launcher_hands_on_arrives(lint_script, said, launch):
    assert said(lint_script("export NCCL_SOCKET_IFNAME=bond0", launch)) == []


def test_under_slurm_mpirun_hands_the_whole_environment_on(lint_script, said):
    lines = ("#SBATCH --nodes=2", "export NCCL_SOCKET_IFNAME=bond0", "mpirun -np 16 --hostfile hosts python train.py")

    assert said(lint_script(*lines)) == []


def test_the_option_that_hands_it_on_is_added(mend):
    text = "#!/bin/bash\nexport NCCL_DEBUG=WARN\nmpirun -np 16 -H a:8,b:8 python train.py\n"

    assert "-x NCCL_DEBUG" in mend("run.sh", text)


def test_deepspeed_hands_on_what_begins_with_nccl_and_not_with_torch(lint_script, said):
    remarks = lint_script(
        "export NCCL_SOCKET_IFNAME=bond0",
        "export TORCH_NCCL_DUMP_ON_TIMEOUT=1",
        "deepspeed --hostfile hosts train.py",
    )

    assert said(remarks) == [("TORCH_NCCL_DUMP_ON_TIMEOUT", OUT)]
    assert said(lint_script("export TORCH_NCCL_DUMP_ON_TIMEOUT=1", "deepspeed --num_gpus 8 train.py")) == []


def test_an_assignment_that_is_never_exported_is_told_and_exported(lint_script, said, mend):
    remarks = lint_script("NCCL_DEBUG=WARN", "torchrun --standalone train.py")

    assert said(remarks) == [("NCCL_DEBUG", OUT)]
    text = "#!/bin/bash\nNCCL_DEBUG=WARN\ntorchrun train.py\n"
    assert mend("run.sh", text) == "#!/bin/bash\nexport NCCL_DEBUG=WARN\ntorchrun train.py\n"


@pytest.mark.parametrize(
    "lines",
    [
        ("set -a", "NCCL_DEBUG=WARN", "torchrun train.py"),
        ("NCCL_DEBUG=WARN", "export NCCL_DEBUG", "torchrun train.py"),
        ("NCCL_DEBUG=WARN torchrun train.py",),
        ("NCCL_DEBUG=WARN", "mpirun -H a:8,b:8 -x NCCL_DEBUG=$NCCL_DEBUG python train.py"),
        ("NCCL_DEBUG=WARN",),
    ],
)
def test_an_assignment_that_arrives_or_is_there_to_be_sourced_is_none(lint_script, said, lines):
    assert said(lint_script(*lines)) == []


def test_an_export_after_the_launch_comes_too_late(lint_script, said):
    assert said(lint_script("torchrun --standalone train.py", "export NCCL_DEBUG=WARN")) == [("NCCL_DEBUG", OUT)]
    assert said(lint_script("python prepare.py", "export NCCL_DEBUG=WARN", "torchrun train.py")) == []


VERL = "python3 -m verl.trainer.main_ppo trainer.nnodes={}"


def test_ray_s_workers_on_other_nodes_do_not_get_the_driver_s_environment(lint_script, said):
    assert said(lint_script("export NCCL_IB_HCA=mlx5_0", VERL.format(4))) == [("NCCL_IB_HCA", OUT)]
    assert said(lint_script("N=4", "export NCCL_IB_HCA=mlx5_0", VERL.format("$N"))) == [("NCCL_IB_HCA", OUT)]


@pytest.mark.parametrize(
    "lines",
    [
        ("export NCCL_IB_HCA=mlx5_0", VERL.format(1)),
        ("export NCCL_IB_HCA=mlx5_0", VERL.format("$NNODES")),
        ("export NCCL_IB_HCA=mlx5_0", "ray start --head || ray start --address=$HEAD", VERL.format(4)),
        (VERL.format(4) + " +ray_kwargs.ray_init.runtime_env.env_vars.NCCL_IB_HCA=\"'mlx5_0'\"",),
        ("export NCCL_IB_HCA=mlx5_0", "ray start --head --port=6379"),
    ],
)
def test_ray_s_workers_get_what_ray_start_has_and_the_runtime_env(lint_script, said, lines):
    assert said(lint_script(*lines)) == []


def test_ray_that_runs_already_does_not_see_a_later_export(lint_script, said):
    assert said(lint_script("ray start --head", "export NCCL_IB_HCA=mlx5_0", VERL.format(1))) == [("NCCL_IB_HCA", OUT)]


def test_an_export_in_a_build_step_is_not_in_the_image(lint_files, said):
    text = "FROM pytorch/pytorch\nARG NCCL_IB_HCA=mlx5_0\nRUN export NCCL_DEBUG=WARN\nENV NCCL_CROSS_NIC=0\n"

    assert said(lint_files({"Dockerfile": text})) == [("NCCL_IB_HCA", OUT), ("NCCL_DEBUG", OUT)]


def test_nccl_s_own_file_is_not_read_by_pytorch(lint_files, said):
    text = "NCCL_DEBUG=WARN\nTORCH_NCCL_ASYNC_ERROR_HANDLING=1\n"

    assert said(lint_files({"etc/nccl.conf": text})) == [("TORCH_NCCL_ASYNC_ERROR_HANDLING", OUT)]


PROGRAM = 'import os\nimport torch.distributed as dist\n{}dist.init_process_group("nccl")\n{}'


def test_a_program_that_sets_a_variable_after_it_was_read_is_told(lint_files, said):
    set_torch = 'os.environ["TORCH_NCCL_DUMP_ON_TIMEOUT"] = "1"\n'
    set_nccl = 'os.environ["NCCL_DEBUG"] = "WARN"\n'

    assert said(lint_files({"a.py": PROGRAM.format("", set_torch)})) == [("TORCH_NCCL_DUMP_ON_TIMEOUT", OUT)]
    assert said(lint_files({"a.py": PROGRAM.format(set_torch, "")})) == []
    # NCCL starts at the first collective.
    assert said(lint_files({"a.py": PROGRAM.format("", set_nccl)})) == []
    assert said(lint_files({"a.py": PROGRAM.format("", "dist.barrier()\n" + set_nccl)})) == [("NCCL_DEBUG", OUT)]


def test_a_driver_that_joins_a_cluster_keeps_its_environment_for_itself(lint_files, said):
    text = 'import os, ray\nos.environ["NCCL_DEBUG"] = "WARN"\nray.init({})\n'

    assert said(lint_files({"a.py": text.format('address="auto"')})) == [("NCCL_DEBUG", OUT)]
    assert said(lint_files({"a.py": text.format("")})) == []


def test_what_another_function_than_the_driver_sets_may_be_set_in_a_worker(lint_files, said):
    text = """
import os, ray
class Worker:
    def set(self):
        os.environ["NCCL_DEBUG"] = "WARN"
def main():
{}    ray.init(address="auto")
"""
    assert said(lint_files({"a.py": text.format("")})) == []
    driver = text.format('    os.environ["NCCL_ALGO"] = "Ring"\n')
    assert ("NCCL_ALGO", OUT) in said(lint_files({"a.py": driver}))


def test_what_a_build_hands_on_stays(lint_files, said):
    text = "FROM a\nARG NCCL_DEBUG=WARN\nENV NCCL_DEBUG=$NCCL_DEBUG\nARG UCX_VERSION=1.18\nRUN build $UCX_VERSION\n"

    assert said(lint_files({"Dockerfile": text})) == []


def test_an_export_after_commands_of_a_script_that_is_sourced_is_in_time(lint_script, said):
    assert said(lint_script("HCA=$(python3 find_hca.py)", "python3 report.py", "export NCCL_IB_HCA=mlx5_0")) == []


def test_deepspeed_s_own_time_out_does_not_reach_other_hosts(lint_script, said):
    lines = ("export DEEPSPEED_TIMEOUT=120", "deepspeed --hostfile hosts --num_nodes 4 train.py")

    assert said(lint_script(*lines)) == [("DEEPSPEED_TIMEOUT", Check.OUT_OF_REACH)]
    assert said(lint_script(lines[0], "deepspeed --num_gpus 8 train.py")) == []


@pytest.mark.parametrize(
    "launch",
    [
        "prterun --host $HOSTS -n 32 ./all_reduce_perf",
        "mpirun --host ${NODE_LIST} python train.py",
        "mpirun -np 16 -H $H1,$H2 python train.py",
        "mpirun -H $(scontrol show hostnames | paste -sd,) python train.py",
        "HOSTS=a:8,b:8\nmpirun --host $HOSTS python train.py",
    ],
)
def test_hosts_that_only_the_shell_knows_are_others(lint_script, said, launch):
    assert said(lint_script("export NCCL_CROSS_NIC=1", *launch.split("\n"))) == [("NCCL_CROSS_NIC", OUT)]


@pytest.mark.parametrize(
    "launch",
    [
        "mpirun -np 8 -H $(hostname):8 python train.py",
        "mpirun --host $HOSTNAME python train.py",
        "H=localhost:8\nmpirun --host $H python train.py",
    ],
)
def test_one_host_that_only_the_shell_knows_is_this_one(lint_script, said, launch):
    assert said(lint_script("export NCCL_CROSS_NIC=1", *launch.split("\n"))) == []


@pytest.mark.parametrize(
    "lines",
    [
        ("ssh $h bash -s <<EOF", "torchrun train.py", "EOF"),
        ("ssh -T $h <<'EOF'", "cd /srv", "torchrun train.py", "EOF"),
        ("cat <<EOF | ssh $h bash", "torchrun train.py", "EOF"),
        ("docker exec -i box bash <<EOF", "torchrun train.py", "EOF"),
        ("pdsh -w $hosts bash <<EOF", "torchrun train.py", "EOF"),
    ],
)
def test_what_a_remote_shell_reads_from_a_here_document_runs_elsewhere(lint_script, said, lines):
    assert said(lint_script("export NCCL_CROSS_NIC=1", *lines)) == [("NCCL_CROSS_NIC", OUT)]
    within = (lines[0], "export NCCL_CROSS_NIC=1", *lines[1:])
    assert said(lint_script(*within)) == []
    assert said(lint_script("export NCCL_CROSS_NIC=1", *within)) == []


def test_within_a_here_document_for_elsewhere_reach_is_asked_for_anew(lint_script, said):
    lines = (
        "ssh $h bash <<EOF",
        "export NCCL_CROSS_NIC=1",
        "docker run --rm image torchrun t.py",
        "EOF",
        "python t.py",
    )

    assert said(lint_script(*lines)) == [("NCCL_CROSS_NIC", OUT)]


@pytest.mark.parametrize(
    "lines",
    [
        ("VARS=$(env | grep ^NCCL_)", 'ssh $h "$VARS torchrun train.py"'),
        ("ssh $h bash <<EOF", "$(declare -px | grep NCCL)", "torchrun train.py", "EOF"),
        ('for v in ${!NCCL_@}; do E+="$v=${!v} "; done', 'ssh $h "env $E torchrun train.py"'),
    ],
)
def test_what_lists_the_variables_that_are_set_may_hand_them_over(lint_script, said, lines):
    assert said(lint_script("export NCCL_CROSS_NIC=1", *lines)) == []


def test_of_an_if_one_arm_runs(lint_script, said):
    head = ("ray start --head --port=6379", "{}", "ray job submit --runtime-env rt.yaml -- python train.py")
    lines = ("if [ $RANK = 0 ]; then", *head, "else", "ray start --address=$HEAD:6379 --block", "fi")
    late = [line.format("export NCCL_CROSS_NIC=1") for line in lines]

    assert said(lint_script(*late)) == [("NCCL_CROSS_NIC", OUT)]
    assert said(lint_script("export NCCL_CROSS_NIC=1", *(line.format(":") for line in lines))) == []


def test_what_the_other_arm_starts_is_not_started_after(lint_script, said):
    lines = (
        "case $1 in",
        "one) export NCCL_CROSS_NIC=1",
        "mpirun -H a,b python t.py ;;",
        "two) python t.py ;;",
        "esac",
    )

    assert said(lint_script(*lines)) == [("NCCL_CROSS_NIC", OUT)]
    assert said(lint_script("export NCCL_CROSS_NIC=1", *lines[:1], "one) :", *lines[2:])) == []
