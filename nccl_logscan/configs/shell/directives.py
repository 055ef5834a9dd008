"""#SBATCH, #PBS and #BSUB lines of batch scripts."""

from __future__ import annotations

from collections.abc import Sequence

from nccl_logscan.configs.shell.launcher_options import SLURM, first_number, options, take_flag, take_variables
from nccl_logscan.configs.shell.script import Script
from nccl_logscan.configs.shell.words import Unit, lex

_SCHEDULERS = {"#SBATCH": ("sbatch", "slurm"), "#PBS": ("qsub", "pbs"), "#BSUB": ("bsub", "lsf")}
_FAULTS_LIMIT = 20


def take_directives(script: Script, comments: Sequence[tuple[int, int]], first_command: int) -> None:
    """Take the directives that stand at the begin of a line before the first command: sbatch reads no others (its
    manual: it stops at the first line that is neither a comment nor blank).
    """
    for start, end in comments:
        keyword = script.text[start : start + 8].partition(" ")[0]
        if keyword not in _SCHEDULERS or script.text[start - 1 : start] not in {"", "\n"}:
            continue
        if start > first_command:
            if len(script.faults) < _FAULTS_LIMIT:
                line = script.lines.line_of(start)
                script.faults.append(f"line {line}: {keyword} is not read after the first command")
            continue
        _take(script, keyword, start + len(keyword), end)


def _take(script: Script, keyword: str, start: int, end: int) -> None:
    program, framework = _SCHEDULERS[keyword]
    commands = lex(Unit(script.text[start:end], range(start, end), "#")).commands
    if not commands:
        return
    found, _ = options(script, commands[0].words, 0, SLURM)
    for option in found:
        take_flag(script, option, program, framework)
        if program == "sbatch" and option.name == "--export" and option.value is not None:
            listed = take_variables(script, option, program)
            if not {"ALL", "all"} & set(listed):
                script.step_export = listed
    if program == "sbatch":
        script.slurm = True
        script.nodes = first_number(found, "--nodes", "-N") or script.nodes
