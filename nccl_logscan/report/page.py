"""Runs the templates of the HTML report as `tools/templates.py` has compiled them, without Jinja2.

Jinja2 translates a template to Python; to import it and to translate ours took as long as two thirds of all else that
a small scan does. The translation is shipped (`compiled_templates.py`), and here is what it asks of its surroundings:
of Jinja2's environment, contexts, macros and filters the parts that our templates use, with the same results. A name
that a template asks for in vain raises LookupError, as with Jinja2's StrictUndefined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import getitem
from types import SimpleNamespace
from typing import Any, NoReturn

from markupsafe import Markup, escape

from nccl_logscan.report.filters import FILTERS, finalise

missing: Any = object()
EVALUATION = SimpleNamespace(autoescape=True)


def page_of(template: str, values: Mapping[str, Any]) -> str:
    """Return what a template prints for some values."""
    return "".join(_root_of(template)(Context(values)))


class Context:
    """The names that a template sees: those given from outside, and its own."""

    eval_ctx = EVALUATION

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self.vars: dict[str, Any] = {}
        self.exported_vars: set[str] = set()

    def resolve_or_missing(self, name: str) -> Any:
        """Return the value of a name, or `missing`."""
        return self.vars[name] if name in self.vars else self._given.get(name, missing)

    def get_all(self) -> dict[str, Any]:
        """Return every name with its value."""
        return {**self._given, **self.vars}

    def call(self, function: Callable[..., Any], *arguments: Any, _loop_vars: object = None, **named: Any) -> Any:
        """Call a macro or a method."""
        return function(*arguments, **named)


class Template:
    """One compiled template."""

    new_context = staticmethod(lambda values, _shared, own: Context({**values, **own}))

    def __init__(self, name: str) -> None:
        self.root_render_func = _root_of(name)

    def _get_default_module(self, _context: Context) -> SimpleNamespace:
        """Return the template's macros."""
        context = Context({})
        for _ in self.root_render_func(context):
            pass
        return SimpleNamespace(**{name: context.vars[name] for name in context.exported_vars})


class Macro:
    """A macro: called with arguments, it gives markup."""

    def __init__(self, _env: object, function: Callable[..., str], _name: str, names: Sequence[str], *_: Any) -> None:
        self._function = function
        self._count = len(names)

    def __call__(self, *arguments: Any) -> Markup:
        """Return what the macro prints."""
        rest = [missing] * (self._count - len(arguments))
        return Markup(self._function(*arguments, *rest))  # noqa: S704 - the macro escapes what it prints


class Loop:
    """What a template may ask of the loop that it is in."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.first = index == 1


def loop_context(values: Iterable[Any], _undefined: object) -> Iterator[tuple[Any, Loop]]:
    """Yield each value with its place in the loop."""
    return ((value, Loop(index)) for index, value in enumerate(values, 1))


def undefined(hint: str = "", name: str = "") -> NoReturn:
    """Refuse a name that is not there."""
    raise LookupError(hint or f"{name} is undefined")


def nothing(_hint: str) -> str:
    """Return what an inline `if` without `else` prints."""
    return ""


def attribute(value: Any, name: str) -> Any:
    """Return a record's entry or an object's attribute."""
    return value[name] if isinstance(value, dict) and name in value else getattr(value, name)


def markup_join(parts: Iterable[Any]) -> str:
    """Join parts as `~` does: to markup if one of them is."""
    listed = list(parts)
    return Markup("").join(listed) if any(hasattr(part, "__html__") for part in listed) else "".join(map(str, listed))


# --- Jinja2's own filters and tests, as our templates use them ---------------------------------------------


def _default(value: Any, otherwise: Any, _also_for_false: bool) -> Any:
    return value or otherwise


def _sorted_entries(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted(value.items(), key=lambda entry: entry[0].lower())


def _join(_evaluation: object, values: Iterable[Any], between: str) -> str:
    return between.join(map(str, values))


def _selected(_context: object, values: Iterable[Any], name: str, test: str = "true", *given: Any) -> Iterator[Any]:
    return (value for value in values if _TESTS[test](attribute(value, name), *given))


def _mapped(_context: object, values: Iterable[Any], *, attribute: str) -> Iterator[Any]:
    return (value[attribute] for value in values)


def _rejected(_context: object, values: Iterable[Any], name: str, test: str = "true", *given: Any) -> Iterator[Any]:
    return (value for value in values if not _TESTS[test](attribute(value, name), *given))


def _without(_context: object, values: Iterable[Any], test: str) -> Iterator[Any]:
    return (value for value in values if not _TESTS[test](value))


_TESTS: Mapping[str, Callable[..., bool]] = {
    "equalto": lambda value, other: value == other,
    "in": lambda value, among: value in among,
    "none": lambda value: value is None,
    "true": bool,
}
environment = SimpleNamespace(
    concat="".join,
    filters={
        **FILTERS,
        "default": _default,
        "dictsort": _sorted_entries,
        "int": int,
        "join": _join,
        "length": len,
        "map": _mapped,
        "list": lambda _evaluation, values: list(values),
        "reject": _without,
        "rejectattr": _rejected,
        "round": round,
        "selectattr": _selected,
    },
    finalize=finalise,
    get_template=lambda name, _parent: Template(name),
    getattr=attribute,
    getitem=getitem,
    tests=_TESTS,
    undefined=undefined,
)
__all__ = ["Macro", "environment", "escape", "loop_context", "markup_join", "missing", "nothing", "page_of"]


def _root_of(template: str) -> Callable[[Context], Iterator[str]]:
    # The compiled templates import from here.
    from nccl_logscan.report.compiled_templates import TEMPLATES  # noqa: PLC0415

    return TEMPLATES[template]
