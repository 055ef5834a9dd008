"""What a launch script says of the run that it starts: its launcher, and versions that it pins."""

from __future__ import annotations

from nccl_logscan.advise.run import Run
from nccl_logscan.configs.model import Config, Form
from nccl_logscan.records import replace

_LAUNCHERS = {
    "sbatch": "slurm",
    "srun": "slurm",
    "mpirun": "mpirun",
    "mpiexec": "mpirun",
    "deepspeed": "deepspeed",
    "docker": "docker",
    "podman": "docker",
    "torchrun": "torchrun",
    "accelerate": "accelerate",
}
"""By how far outside they stand: srun that starts torchrun is Slurm's."""


def informed_by(run: Run, config: Config, *, launcher_is_said: bool) -> Run:
    """Return the run with what its script says of it, where the user did not.

    A framework that starts its workers through Ray does so whatever starts the script.
    """
    launcher = run.launcher if launcher_is_said or run.framework.launcher == "ray" else launcher_in(config)
    return replace(
        run,
        launcher=launcher or run.launcher,
        nccl=run.nccl or config.pins.get("nccl"),
        torch=run.torch or config.pins.get("torch"),
        framework_version=run.framework_version or config.pins.get(run.framework.name),
    )


def launcher_in(config: Config) -> str | None:
    """Return the launcher that a file starts processes with; None where it does not tell."""
    if any(placed.form is Form.ENV_LIST for placed in config.settings):
        return "kubernetes"
    programs = {launch.program for launch in config.launches} | {placed.program for placed in config.settings}
    return next((launcher for program, launcher in _LAUNCHERS.items() if program in programs), None)
