"""What each check looks for, in a sentence and in a paragraph."""

from __future__ import annotations

from collections.abc import Mapping

from nccl_logscan.lint.model import Check, Severity
from nccl_logscan.records import dataclass

_NCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
_TORCH = "https://docs.pytorch.org/docs/stable/torch_nccl_environment_variables.html"
_RAY = "https://docs.ray.io/en/latest/ray-observability/user-guides/debug-apps/general-debugging.html"
_HYDRA = "https://hydra.cc/docs/advanced/override_grammar/basic/"


@dataclass(frozen=True, slots=True)
class About:
    """A check's name in SARIF, what it finds, why that matters, and where to read on."""

    name: str
    severity: Severity
    title: str
    text: str
    uri: str


ABOUT: Mapping[Check, About] = {
    Check.MISSPELT: About(
        "MisspeltVariable",
        Severity.ERROR,
        "The variable's name is misspelt.",
        "NCCL and PyTorch look a variable up by its exact name and say nothing of one that they do not know: the "
        "setting has no effect. The nearest real name is given.",
        _NCCL,
    ),
    Check.READ_BY_NOTHING: About(
        "ReadByNothing",
        Severity.ERROR,
        "No version of NCCL, PyTorch or a network plugin reads the variable.",
        "Some names are passed on from script to script although no code ever read them (NCCL_TIMEOUT, NCCL_IB_MTU). "
        "They give false confidence: remove them, and set what does exist.",
        _NCCL,
    ),
    Check.READ_BY_ANOTHER: About(
        "ReadByAnother",
        Severity.NOTE,
        "The variable is not read by the library that its name speaks of.",
        "Variables that begin with NCCL_ may be read by PyTorch or by a network plugin alone; where that is not "
        "loaded, they do nothing.",
        _TORCH,
    ),
    Check.DEPRECATED: About(
        "DeprecatedVariable",
        Severity.WARNING,
        "The variable has a successor.",
        "The old name is still read, but a later version may drop it; where both are set, the successor counts.",
        _NCCL,
    ),
    Check.REMOVED: About(
        "RemovedVariable",
        Severity.ERROR,
        "The version in use no longer reads the variable.",
        "NCCL says nothing of a variable that it no longer knows: the setting has no effect.",
        _NCCL,
    ),
    Check.NOT_YET: About(
        "VariableOfALaterVersion",
        Severity.ERROR,
        "The version in use does not read the variable yet.",
        "The variable came with a later version than the one that this job runs: the setting has no effect.",
        _NCCL,
    ),
    Check.BAD_VALUE: About(
        "BadValue",
        Severity.ERROR,
        "The value is none that the setting takes.",
        "NCCL reads a number up to the first letter and takes what it has so far, without a word: 4M is 4, true is 0. "
        "PyTorch and the frameworks stop at such a value.",
        _NCCL,
    ),
    Check.CONTRADICTION: About(
        "Contradiction",
        Severity.WARNING,
        "Two settings contradict each other.",
        "One of the two has no effect, or together they do what neither says.",
        _NCCL,
    ),
    Check.HARMFUL_COPY: About(
        "HarmfulCopy",
        Severity.WARNING,
        "The value is copied from another site, and does harm where it does not fit.",
        "Buffer sizes, traffic classes, GID indices and device lists fit one site's hardware. Copied, they cost "
        "bandwidth or break the connection.",
        _NCCL,
    ),
    Check.LEFTOVER: About(
        "DebuggingLeftover",
        Severity.WARNING,
        "The setting is left over from debugging.",
        "What narrows down a failure (a transport switched off, synchronous launches, tracing) costs speed or hides "
        "the next failure when it stays.",
        _NCCL,
    ),
    Check.OUT_OF_REACH: About(
        "OutOfReach",
        Severity.ERROR,
        "The setting does not arrive at the processes that are to read it.",
        "Ray, mpirun, containers, ssh and some options of srun hand over only what they are told to: an export in the "
        "launch script then changes nothing for the workers.",
        _RAY,
    ),
    Check.KEY_IGNORED: About(
        "KeyIgnored",
        Severity.ERROR,
        "The framework accepts the key and does nothing with it.",
        "A key that is kept for old configurations, and that no code reads, gives false confidence.",
        _HYDRA,
    ),
    Check.KEY_ABORTS: About(
        "KeyAborts",
        Severity.ERROR,
        "The framework stops at the key or at its value.",
        "Hydra stops at keys that its configuration lacks, argparse at flags that it does not know, Ray and Kubernetes "
        "at environment values that are no texts.",
        _HYDRA,
    ),
}
