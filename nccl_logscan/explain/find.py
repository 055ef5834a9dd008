"""All meanings of one name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rapidfuzz import fuzz, process

from nccl_logscan.catalogue.codes import codes
from nccl_logscan.catalogue.concepts import CONCEPTS
from nccl_logscan.catalogue.load import Catalogue
from nccl_logscan.catalogue.model import Kind, Option, Reader
from nccl_logscan.errors import InputError
from nccl_logscan.explain.messages import explain_message, explain_rule
from nccl_logscan.explain.model import Explanation
from nccl_logscan.explain.numbers import explain_codes
from nccl_logscan.explain.settings import explain_concept, explain_option, explain_variable
from nccl_logscan.expressions import deferred
from nccl_logscan.report.redact import redact
from nccl_logscan.rulebook.rule import Rulebook

_LIKE = 75
_SHOWN = 60
_WORD = deferred(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_LONGEST = 8_192
_MOST_NAMES = 3
_OWN_VARIABLES = frozenset({"nccl", "pytorch"})
"""Frameworks whose variables are in the catalogue of variables as well: one meaning, told once."""


def explain(name: str, catalogue: Catalogue, rulebook: Rulebook, nccl: str | None = None) -> tuple[Explanation, ...]:
    """Return every meaning of a name: variable, settings, concept, codes, rule; where it is none, of a message.

    Names are taken in any case, and as NAME=VALUE; of a line that no rule knows, those that stand in it. `nccl` is the
    version of NCCL to answer for.

    Raises:
        InputError: nothing is known of it; the hint has the names that are most like it.
    """
    # A word of the command line that is not UTF-8 has surrogates, which no log and no output can hold.
    name = name.encode("utf-8", "replace").decode().strip()
    found = _named(name, catalogue, rulebook, nccl) or _named(name.partition("=")[0], catalogue, rulebook, nccl)
    found = found or _family(name, catalogue, rulebook, nccl) or explain_message(name, rulebook)
    found = found or _spoken_of(name, catalogue, rulebook, nccl)
    if not found:
        raise InputError(f"nothing is known of '{_shown(name)}'", hint=_hint(name, catalogue, rulebook))
    return found


def _named(name: str, catalogue: Catalogue, rulebook: Rulebook, nccl: str | None) -> tuple[Explanation, ...]:
    if not name:
        return ()
    return (
        *_settings(name, catalogue, rulebook, nccl),
        *((explain_concept(name.casefold(), catalogue),) if name.casefold() in CONCEPTS else ()),
        *explain_codes(name, rulebook, nccl),
        *explain_rule(name, rulebook),
    )


def _settings(name: str, catalogue: Catalogue, rulebook: Rulebook, nccl: str | None) -> tuple[Explanation, ...]:
    options = _options(name, catalogue)
    variable = catalogue.variables.get(name) or catalogue.variables.get(name.upper())
    if variable is None or (options and variable.reader is Reader.OTHER):
        return tuple(explain_option(option, catalogue, rulebook) for option in options)
    own = next((option for option in options if _is_own(option)), None)
    return (
        explain_variable(variable, own, catalogue, rulebook, nccl),
        *(explain_option(option, catalogue, None) for option in options if not _is_own(option)),
    )


def _family(name: str, catalogue: Catalogue, rulebook: Rulebook, nccl: str | None) -> tuple[Explanation, ...]:
    """A name of which only the family is known: UCX_TLS is one of UCX_*."""
    variable = catalogue.variable(name.partition("=")[0])
    return (explain_variable(variable, None, catalogue, rulebook, nccl),) if variable else ()


def _spoken_of(text: str, catalogue: Catalogue, rulebook: Rulebook, nccl: str | None) -> tuple[Explanation, ...]:
    """The names in a line of a script or a log: `export NCCL_DEBUG=INFO`, `failed with ncclSystemError`."""
    known = {*catalogue.variables, *(code.name for code in codes() if not code.name.islower())}
    names = [word for word in dict.fromkeys(_WORD.findall(text[:_LONGEST])) if word in known]
    return tuple(each for name in names[:_MOST_NAMES] for each in _named(name, catalogue, rulebook, nccl))


def _is_own(option: Option) -> bool:
    return option.kind is Kind.ENV and option.framework in _OWN_VARIABLES


def _options(name: str, catalogue: Catalogue) -> tuple[Option, ...]:
    found = catalogue.options_called(name)
    if not found:
        folded = name.casefold()
        found = tuple(
            option
            for option in catalogue.options
            if folded in {option.id.casefold(), *(other.casefold() for other in option.names)}
        )
    return found


def _hint(name: str, catalogue: Catalogue, rulebook: Rulebook) -> str:
    like = process.extract(
        name[:_SHOWN], known_names(catalogue, rulebook), scorer=fuzz.ratio, score_cutoff=_LIKE, limit=3
    )
    if like:
        return f"did you mean {' or '.join(known for known, _, _ in like)}?"
    return "give a variable, a setting, a code such as ncclSystemError or 'Xid 79', or a part of a log line"


def known_names(catalogue: Catalogue, rulebook: Rulebook) -> Iterable[str]:
    """Return every name that can be explained, in order."""
    options = (name for option in catalogue.options for name in option.names)
    return sorted({*catalogue.variables, *options, *CONCEPTS, *(code.name for code in codes()), *rulebook.rules})


def _shown(name: str) -> str:
    told = redact(name)
    return told if len(told) <= _SHOWN else told[:_SHOWN] + "..."
