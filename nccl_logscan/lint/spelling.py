"""Which real variable an unknown name was meant to be, and which unknown names are somebody's own."""

from __future__ import annotations

from functools import cache, lru_cache

from nccl_logscan.catalogue.load import Catalogue, catalogue
from nccl_logscan.catalogue.model import Reader
from nccl_logscan.expressions import deferred

# What people call their own shell variables: places, versions, and arguments that they collect.
_OWN_WORDS = frozenset(
    """
    ARCH ARG ARGS ARRAY BASE BENCH BIN BRANCH BUILD CMD COMMAND COMMIT CONF CONFIG CONTAINER COUNT DEB
    DIR DIRECTORY ENV ENVIRONMENT ENVS EXE EXPORTS EXTRA FILE FLAG FLAGS FOLDER GIT HOME HOST HOSTS
    IMAGE INC INCLUDE INCLUDES INSTALL JOBS LIB LIBDIR LIBRARIES LIBRARY LIBS LIST LOC LOCATION LOG LOGDIR
    LOGFILE LOGS MAJOR MINOR NAME OPT OPTION OPTIONS OPTS OUTPUT PACKAGE PARAMS PATCH PATH PKG
    PREFIX RELEASE REPO RESULT RESULTS ROOT SCRIPT SETTINGS SO SOURCE SRC STATIC SUFFIX TAG TEST TESTS
    URL VAR VARS VENV VER VERSION WHEEL
    """.split()  # noqa: SIM905 - fifty words in quotes are no easier to read
)
# Plugins, forks and other builds of NCCL read names of their own, of which the catalogue knows only some.
_FOREIGN = deferred(
    r"NCCL_(?:FASTRAK|GPUDIRECTTCPX|TCPX|GIB|SHARP|IBEXT|PLUGIN|TELEMETRY|CTRAN|COLLTRACE|CVAR|MSCCL|MSCCLPP|RCCL|OFI"
    r"|INSPECTOR|CHECKPOINT|BUILD|PROFILER|TUNER|NETWORK_OPERATOR|TOPO_EXT|UCX|PXN_EXT|TESTS?|PERF|REDUCTION|SLOW_RANK|CTXT|HCCL|AMD)(?:_|$)"
    # PyTorch's other back ends have variables like NCCL's: ProcessGroupUCC.cpp reads TORCH_UCC_BLOCKING_WAIT.
    r"|TORCH_(?:UCC|GLOO|MPI|XCCL|HCCL|MCCL|MTIA|HPU|NPU|XPU|MUSA|MLU)_"
)
# NCCL with a letter missing, doubled or swapped; MCCL_, HCCL_, RCCL_ and the like are other libraries.
_NEARLY_NCCL = deferred(r"(?:TORCH_)?(?:NCLL|NCLC|NLCC|NCL|NCC|NCCCL|NNCCL|NCCLL|NNCL|NVCCL)(?=_|[A-Z])")
_LOOKS_MEANT = deferred(r"(?:NCCL|TORCH_NCCL|TORCH_|OFI_NCCL_|GLOO_)")
_SHORT = 6
"""Up to this many letters after the prefix, one wrong letter makes a name near, beyond it two."""

_LONG = 16
"""Letters from which on one wrong letter is a slip also in a name of another library, of which few are known."""
_WORDS = 3
"""A name of fewer words says too little for one to be left out of it: NCCL_IFNAME may be anything."""
_LONGEST_WORD = 8
_SHORTEST_STEM = 3
"""Letters of a word that stand for all of it: CONN for CONNECTION."""


@lru_cache(16_384)
def meant(name: str) -> str | None:
    """Return the real name that an unknown one was meant to be; None where it is not near, or is somebody's own.

    `NCCL_ALGOS` was meant to be NCCL_ALGO, `NCCL_ARGS` was not, although it is as near.
    """
    if not looks_meant(name):
        return None
    upper, known = name.upper(), catalogue()
    if _FOREIGN.match(upper):
        # Of another library's names only those that are known tell what was meant: NCCL_SHARP_MAX_COMMS.
        return _one_letter_off(name, known)
    if is_own(name):
        # NCCL_VERSION is anybody's, NCCL_IB_ROCE_VERSION has the words of one name alone.
        return _word_left_out(name, known) if name.count("_") >= _WORDS else None
    if upper != name:
        # The environment tells upper from lower case; a name in lower case is a program's own where it is not the same.
        return upper if upper in known.variables else None
    return (
        _same_words(name, known)
        or _other_prefix(name, known)
        or _near(name, known)
        or _word_left_out(name, known)
        or _shortened(name, known)
    )


def _one_letter_off(name: str, known: Catalogue) -> str | None:
    found = known.nearest(name)
    if found is None or len(name) < _LONG or not _FOREIGN.match(found):
        return None
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - only for a name that is not known

    return found if OSA.distance(name, found) == 1 else None


def looks_meant(name: str) -> bool:
    """Return whether a name looks as if NCCL or PyTorch should read it."""
    upper = name.upper()
    return bool(_LOOKS_MEANT.match(upper) or _NEARLY_NCCL.match(upper))


def is_own(name: str) -> bool:
    """Return whether an unknown name is one that people or plugins use for themselves."""
    words = name.upper().split("_")
    return words[-1] in _OWN_WORDS or bool(_FOREIGN.match(name.upper()))


def _same_words(name: str, known: Catalogue) -> str | None:
    """NCCL_DISABLE_IB → NCCL_IB_DISABLE."""
    words = sorted(name.split("_"))
    found = [real for real in known.variables if len(real) == len(name) and sorted(real.split("_")) == words]
    return found[0] if len(found) == 1 else None


def _other_prefix(name: str, known: Catalogue) -> str | None:
    """TORCH_NCCL_DEBUG → NCCL_DEBUG, NCCL_DUMP_ON_TIMEOUT → TORCH_NCCL_DUMP_ON_TIMEOUT."""
    other = name.removeprefix("TORCH_") if name.startswith("TORCH_") else f"TORCH_{name}"
    return other if other in known.variables and "NCCL_" in other else None


def _word_left_out(name: str, known: Catalogue) -> str | None:
    """NCCL_MERGE_NICS → NCCL_IB_MERGE_NICS, where only one name has a word more."""
    words = name.split("_")
    if len(words) < _WORDS:
        return None
    longer = (real for real in known.variables if len(name) < len(real) <= len(name) + _LONGEST_WORD)
    found = [real for real in longer if _has_one_more(real.split("_"), words)]
    return found[0] if len(found) == 1 else None


def _shortened(name: str, known: Catalogue) -> str | None:
    """NCCL_IB_QPS_PER_CONN → NCCL_IB_QPS_PER_CONNECTION, where the words of only one name begin so."""
    words = name.split("_")
    if len(words) < _WORDS or len(words[-1]) < _SHORTEST_STEM:
        return None
    starting = (real for real in known.variables if len(real) > len(name) and real.startswith(words[0]))
    found = [real for real in starting if _begin_alike(words, real.split("_"))]
    return found[0] if len(found) == 1 else None


def _begin_alike(words: list[str], longer: list[str]) -> bool:
    if len(words) != len(longer):
        return False
    pairs = zip(words, longer, strict=True)
    return all(real == word or (len(word) >= _SHORTEST_STEM and real.startswith(word)) for word, real in pairs)


def _has_one_more(longer: list[str], words: list[str]) -> bool:
    if len(longer) != len(words) + 1:
        return False
    differs = next((at for at, (one, other) in enumerate(zip(longer, words, strict=False)) if one != other), len(words))
    return longer[differs + 1 :] == words[differs:]


def _nearest_of(names: tuple[str, ...], name: str) -> str | None:
    from rapidfuzz import process  # noqa: PLC0415 - only for a name that is not known
    from rapidfuzz.distance import OSA  # noqa: PLC0415

    found = process.extractOne(name, names, scorer=OSA.distance, score_cutoff=2)
    return found[0] if found else None


@cache
def _unread() -> tuple[str, ...]:
    """NCCL_TIME_OUT → NCCL_TIMEOUT, which nothing reads either."""
    known = catalogue().variables
    return tuple(name for name, variable in known.items() if variable.reader is Reader.NOBODY)


@cache
def _gone() -> tuple[str, ...]:
    """NCCL_WORK_FIFO_DEPT → NCCL_WORK_FIFO_DEPTH, which NCCL read once."""
    known = catalogue().variables
    return tuple(name for name, variable in known.items() if variable.removed_in and variable.verified)


def _near(name: str, known: Catalogue) -> str | None:
    read = known.nearest(name)
    if read is None and known.variable(name):
        return None
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - as above

    # Of two names that are as near, the one that is read was meant.
    all_near = (read, _nearest_of(_gone(), name), _nearest_of(_unread(), name))
    found = min(filter(None, all_near), key=lambda real: OSA.distance(name, real), default=None)
    if found is None or not found.startswith(("NCCL_", "TORCH_", "OFI_NCCL_", "GLOO_")):
        return None
    differs = OSA.distance(name, found)
    stem = found.removeprefix("TORCH_").removeprefix("NCCL_")
    allowed = 1 if len(stem) <= _SHORT else 2
    return found if differs <= allowed else None
