"""Files beside a log of which no setting can concern training are told from their words alone."""

import pytest

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.configs.read import read_text
from nccl_logscan.configs.shell.launchers import _HANDLERS
from nccl_logscan.configs.shell.remote_launchers import REMOTE_HANDLERS
from nccl_logscan.remedy.found import may_set_a_job_up, sets_a_job_up

MPI_AND_SLURM = ("mpirun", "mpiexec", "orterun", "mpiexec.hydra", "mpirun_rsh", "prterun", "prun", "srun", "sbatch")
HYDRA_MARKS = ("+", "++", "~")
LAUNCHERS = (*REMOTE_HANDLERS, "torchrun", "deepspeed", "accelerate", *MPI_AND_SLURM, "salloc")


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_file_that_starts_processes_is_read(launcher):
    assert launcher in _HANDLERS
    assert may_set_a_job_up(f"command: [{launcher}, -n, 2, ./prog]\n".encode(), catalogue())


@pytest.mark.parametrize(
    "name", sorted({name for option in catalogue().options for name in option.names} - set(HYDRA_MARKS))
)
def test_a_file_that_makes_a_known_setting_is_read(name):
    written = {"": f"{name}: 1\n", "(": f"{name.removesuffix(')')}1)\n", "-": f"run: prog {name}=1\n"}
    form = "(" if "(" in name else "-" if name.startswith("-") else ""
    assert may_set_a_job_up(written[form].encode(), catalogue())
    if name.startswith("--"):
        assert may_set_a_job_up(f"run: prog --{name[2:].replace('-', '_')}=1\n".encode(), catalogue())


OTHER = (b"id: 7\ncategory: timeout of reduce\nrank: 1\nexit: 1\n", b"", b"{}")


@pytest.mark.parametrize("text", OTHER)
def test_a_file_of_other_things_is_not(text):
    assert not may_set_a_job_up(text, catalogue())
    config = read_text("case.yaml", text)
    assert config
    assert not sets_a_job_up(config, catalogue())
