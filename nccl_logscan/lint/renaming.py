"""A variable given its real name, or that of its successor."""

from __future__ import annotations

from nccl_logscan.catalogue.domain import takes
from nccl_logscan.catalogue.model import Variable
from nccl_logscan.configs.edit import Edit
from nccl_logscan.lint.made import Made, name_span
from nccl_logscan.lint.values import right_value


def renamed(made: Made, variable: Variable) -> tuple[Edit, ...]:
    """Return the edits that give a setting the name of `variable`; () where none is safe.

    That is where the setting's own value speaks of the name as well, and where `variable` does not take the value, and
    no other one is sure to be meant: until now nobody read it, and a fix must not make a wrong value count.
    """
    span, value = name_span(made), made.placed.value
    if span is None or made.written.count(made.placed.name.encode()) != 1:
        return ()
    domain = variable.domain
    if value is not None and domain.strict and not takes(domain, value) and right_value(value, domain) is None:
        return ()
    return (Edit(span.start, span.end, variable.name.encode()),)
