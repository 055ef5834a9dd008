"""Shell output: safe to source, and nothing set that is not needed for certain."""

from __future__ import annotations

import json
import subprocess

from nccl_logscan.advise import shell
from nccl_logscan.advise.run import Run, frameworks
from nccl_logscan.advise.table import Mark
from nccl_logscan.advise.view import advise
from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.read import read_text
from nccl_logscan.lint.model import Severity, Versions
from nccl_logscan.lint.run import lint

# A shell starts slowly: every seventh of a framework's runs still has every launcher, network and version.
EVERY = 7


def sourced(text, *printed):
    """Source a text in an empty environment and return what it exports and what `printed` prints after it."""
    script = f"set -eu\n{text}\n" + "\n".join(printed) + "\nenv -0"
    done = subprocess.run(
        ["/bin/bash", "--noprofile", "--norc"], input=script, env={}, capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return done.stdout


def test_it_sources_and_exports_only_what_is_needed_for_certain(runs):
    for run in runs[::EVERY]:
        advised = advise(run, ())
        text = shell.render(advised)
        exported = {word.partition("=")[0] for word in sourced(text).split("\0") if word}
        needed = {a.row.setting for a in advised.marked(Mark.NEEDED) if a.row.kind is Kind.ENV and not a.provided}
        assert exported - {"PWD", "SHLVL", "_"} <= needed


def test_our_own_lint_finds_nothing_wrong_with_it(runs):
    for run in runs[::EVERY]:
        config = read_text("advice.sh", b"#!/bin/bash\n" + shell.render(advise(run, ())).encode())
        assert config is not None
        own = {run.framework.name: run.framework_version} if run.framework_version else {}
        remarks = lint((config,), Versions(run.nccl, run.torch, own))
        assert not [remark for remark in remarks if remark.severity is not Severity.NOTE]


def test_every_needed_setting_is_told(runs):
    for run in runs:
        advised = advise(run, ())
        text = shell.render(advised)
        assert all(advice.row.setting in text for advice in advised.marked(Mark.NEEDED))


def test_verl_gets_an_array_of_overrides(run_of):
    text = shell.render(advise(run_of("verl", torch="2.6", framework_version="0.8.0"), ()))
    words = sourced(text, "printf '%s\\n' \"${NCCL_ADVICE[@]}\"").splitlines()
    assert words[0] == "+ray_kwargs.ray_init.runtime_env.env_vars.TORCH_NCCL_TRACE_BUFFER_SIZE='2000'"
    assert "export" not in text.replace("exports", "")


def test_ray_gets_a_runtime_env_that_is_json(run_of):
    text = shell.render(advise(run_of("openrlhf", torch="2.6", framework_version="0.9.0"), ()))
    variables = json.loads(sourced(text, "printf '%s\\n' \"$RUNTIME_ENV_JSON\"").splitlines()[0])["env_vars"]
    assert variables["TORCH_NCCL_DUMP_ON_TIMEOUT"] == "1"
    assert all(isinstance(value, str) for value in variables.values())


def test_deepspeed_hands_nccl_on_and_the_rest_goes_into_its_file(run_of):
    text = shell.render(advise(run_of("deepspeed", torch="2.6"), ()))
    assert "export NCCL_DEBUG=WARN" in text
    assert "#   TORCH_NCCL_DUMP_ON_TIMEOUT=1" in text
    assert "export TORCH" not in text


def test_mpirun_gets_names_and_values(run_of):
    text = shell.render(advise(run_of("torchrun", launcher="mpirun"), ()))
    assert sourced(text, "printf '%s\\n' \"${NCCL_ADVICE[@]}\"").splitlines()[:2] == ["-x", "NCCL_DEBUG=WARN"]


def test_an_unknown_version_exports_nothing_that_depends_on_it():
    text = shell.render(advise(Run(10**9, 2, 8, "ib", frameworks()["torchrun"], "torchrun"), ()))
    assert "\nexport TORCH_" not in text
    assert "# export TORCH_FR_BUFFER_SIZE=2000" in text
