"""Versions that a file pins itself: nvidia-nccl-cu12==2.21.5, torch==2.6.0."""

from __future__ import annotations

from nccl_logscan.expressions import deferred

_PIN = deferred(
    r"(?<![\w.-])(nvidia-nccl-cu\d\d|torch|deepspeed|accelerate|transformers|megatron-core|nemo-toolkit|lightning|"
    r"pytorch-lightning|ray|vllm|sglang|openrlhf|verl|trl|torchtitan|axolotl|llamafactory|ms-swift|horovod)"
    r"(?:\[[\w,. -]{0,80}\])?[ ]{0,4}={2,3}[ ]{0,4}v?(\d+(?:\.\d+){0,3}(?:(?:rc|a|b|\.post|\.dev)\d+)?)"
)
_VERSION = deferred(r"={2,3} {0,4}v?\d")
_BEFORE, _BEHIND = 110, 24
_NAMES = {
    "megatron-core": "megatron-lm",
    "nemo-toolkit": "nemo",
    "pytorch-lightning": "lightning",
    "llamafactory": "llama-factory",
}

_PACKAGES = {
    "pytorch": "torch",
    "megatron-lm": "megatron-core",
    "nemo": "nemo-toolkit",
    "llama-factory": "llamafactory",
}


def package_of(framework: str) -> str:
    """Return the package that a framework is installed as, whose version `pip show` tells: pytorch is torch."""
    return _PACKAGES.get(framework, framework)


def pins_in(text: str) -> dict[str, str]:
    """Return {"nccl": "2.21.5", "torch": "2.6.0"} of what looks like a requirement with `==`; the last one counts."""
    found = {}
    for version in _VERSION.finditer(text):
        # A file may compare much with ==; only what stands before a version is looked at.
        near = _PIN.finditer(text, max(0, version.start() - _BEFORE), version.end() + _BEHIND)
        match = next((match for match in near if match.end() > version.start()), None)
        if match is None or match.start() > version.start():
            continue
        name = "nccl" if match[1].startswith("nvidia-nccl") else _NAMES.get(match[1], match[1])
        found[name] = match[2]
    return found
