import pytest

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.catalogue.model import Reader
from nccl_logscan.configs.read import read_text
from nccl_logscan.lint.gate import may_speak
from nccl_logscan.lint.model import Versions
from nccl_logscan.lint.run import lint


def test_a_file_of_other_things_is_not_parsed():
    assert not may_speak(b"#!/bin/bash\nset -e\nfor i in 1 2; do python train.py --lr $i; done\n")
    assert not may_speak(b"")


def test_every_variable_that_a_check_may_speak_of_opens_the_gate():
    known = catalogue().variables
    names = [name for name, variable in known.items() if variable.reader is not Reader.OTHER]

    assert [name for name in names if not may_speak(f"export {name}=1".encode())] == []


@pytest.mark.parametrize("practice", catalogue().practices, ids=lambda practice: practice.id)
def test_whatever_a_practice_speaks_of_opens_the_gate(practice):
    for settings in practice.hits:
        assert may_speak("\n".join(f"{name.replace('.', ': {')}={value}" for name, value in settings.items()).encode())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", "export NCCL_QUANTUM_FLUX=1\ntorchrun a.py"),
        ("a.sh", "export NCLL_DEBUG=1\ntorchrun a.py"),
        ("a.sh", "export nccl_debug=1\ntorchrun a.py"),
        ("a.sh", "export FI_PROVIDER=efa\nssh b 'python a.py'"),
        ("a.sh", "export UCX_TLS=rc\nssh b 'python a.py'"),
        ("runtime_env.yaml", "env_vars:\n  MINE: 1\n"),
        ("a.json", '{"fp16": {"enabled": true}, "bf16": {"enabled": true}, "zero_optimization": {}}'),
        ("a.sh", "python3 -m openrlhf.cli.train_ppo_ray --nccl_timeout 7200"),
    ],
)
def test_the_gate_is_open_wherever_something_is_said(name, text):
    config = read_text(name, text.encode())

    assert config is not None
    assert lint([config], Versions()) != ()
    assert may_speak(text.encode())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_passes_so_that_it_is_told(encoding):
    assert may_speak("A=1\n".encode(encoding))
