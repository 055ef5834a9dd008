"""Data classes as the standard library makes them, whose methods are written when one is first called.

The standard library compiles up to seven methods for a class when its module is loaded, a third of a millisecond. The
program has 250 such classes, of which the scan of a small log makes records of sixty: compiled at once they would take
longer than all else that such a scan does. `dataclass`, `field` and `replace` mean what they mean there, as far as the
program uses them; `dataclasses.fields`, `asdict`, `is_dataclass` and a match statement take the classes for their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar, cast, dataclass_transform, overload

from nccl_logscan.kept import code_of

_T = TypeVar("_T")
_MISSING: Any = object()


class _Field(NamedTuple):
    """What is known of a field; `factory` makes a default of its own for each record."""

    default: Any = _MISSING
    factory: Any = _MISSING
    init: bool = True
    repr: bool = True
    compare: bool = True
    kw_only: bool = False


_PLAIN = _Field()
_PLAIN_NAMED = _Field(kw_only=True)


class _Shape(NamedTuple):
    """What a class was declared to be."""

    fields: Mapping[str, _Field]
    annotations: Mapping[str, Any]
    frozen: bool


@overload
def field(*, default: _T, init: bool = True, repr: bool = True, compare: bool = True, kw_only: bool = False) -> _T: ...
@overload
def field(
    *,
    default_factory: Callable[[], _T],
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
    kw_only: bool = False,
) -> _T: ...
def field(
    *,
    default: Any = _MISSING,
    default_factory: Any = _MISSING,
    init: bool = True,
    repr: bool = True,  # noqa: A002 - as the standard library has it
    compare: bool = True,
    kw_only: bool = False,
) -> Any:
    """Say more of a field than its type and default."""
    return _Field(default, default_factory, init, repr, compare, kw_only)


@overload
def dataclass(cls: type[_T], /) -> type[_T]: ...
@overload
def dataclass(
    *, frozen: bool = False, slots: bool = False, kw_only: bool = False, eq: bool = True
) -> Callable[[type[_T]], type[_T]]: ...
@dataclass_transform(field_specifiers=(field,))
def dataclass(
    cls: type[Any] | None = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
    eq: bool = True,
) -> Any:
    """Make a class of fields, as the standard library's decorator does."""

    def made(cls: type[Any]) -> type[Any]:
        return _made(cls, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq)

    return made if cls is None else made(cls)


def replace(record: _T, /, **changes: Any) -> _T:
    """Return a record with some fields changed."""
    fields = _shape_of(type(record)).fields
    kept = {name: getattr(record, name) for name, own in fields.items() if own.init and name not in changes}
    return type(record)(**kept, **changes)


def _shape_of(cls: type[Any]) -> _Shape:
    return cast("_Shape", cls.__record_shape__)


def _made(cls: type[Any], *, frozen: bool, slots: bool, kw_only: bool, eq: bool) -> type[Any]:
    body = dict(vars(cls))
    home: list[type[Any]] = []
    shape = _declared(cls, body, frozen=frozen, kw_only=kw_only)
    for name in body.get("__annotations__", ()):
        if name not in shape.fields:
            continue
        default = shape.fields[name].default
        if slots or default is _MISSING:
            body.pop(name, None)
        else:
            body[name] = default
    body.update(
        __record_shape__=shape,
        __dataclass_fields__=_FieldsLater(),
        __dataclass_params__=_Parameters(frozen),
        __match_args__=tuple(name for name, own in shape.fields.items() if own.init and not own.kw_only),
        __init__=_later("__init__", _init, home),
    )
    body.setdefault("__repr__", _repr)
    if eq:
        body.setdefault("__eq__", _later("__eq__", _eq, home))
        if body.get("__hash__") is None:
            body["__hash__"] = _later("__hash__", _hash, home) if frozen else None
    if frozen:
        body.update(__setattr__=_refuse_to_set, __delattr__=_refuse_to_delete)
    if slots:
        inherited = {name for base in cls.__mro__[1:] for name in getattr(base, "__slots__", ())}
        body["__slots__"] = tuple(name for name in shape.fields if name not in inherited)
        if frozen:
            body.setdefault("__getstate__", _state)
            body.setdefault("__setstate__", _set_state)
    body.pop("__dict__", None)
    body.pop("__weakref__", None)
    metaclass: Any = type(cls)
    made: type[Any] = metaclass(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    home.append(made)
    return made


def _declared(cls: type[Any], body: Mapping[str, Any], *, frozen: bool, kw_only: bool) -> _Shape:
    fields: dict[str, _Field] = {}
    annotations: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        shape = vars(base).get("__record_shape__")
        if shape is not None:
            fields.update(shape.fields)
            annotations.update(shape.annotations)
    for name, annotation in body.get("__annotations__", {}).items():
        if annotation.startswith("ClassVar"):
            continue
        given = body.get(name, _MISSING)
        if given is _MISSING:
            fields[name] = _PLAIN_NAMED if kw_only else _PLAIN
        elif type(given) is _Field:
            fields[name] = given._replace(kw_only=True) if kw_only else given
        else:
            fields[name] = _Field(given, kw_only=kw_only)
        annotations[name] = annotation
    return _Shape(fields, annotations, frozen)


# --- methods, when they are called ---------------------------------------------------------------------------


def _later(name: str, write: Callable[[type[Any]], Callable[..., Any]], home: list[type[Any]]) -> Any:
    """Return a method of the class in `home` that puts the written one in its place when it is called."""

    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        owner = home[0]
        if vars(owner)[name] is method:
            setattr(owner, name, write(owner))
        return vars(owner)[name](self, *arguments, **named)

    return method


def _init(owner: type[Any]) -> Callable[..., None]:
    shape = _shape_of(owner)
    known: dict[str, Any] = {"MISSING": _MISSING, "set_": object.__setattr__}
    positional: list[str] = []
    named: list[str] = []
    body: list[str] = []
    for name, own in shape.fields.items():
        value = name
        if own.factory is not _MISSING:
            known[f"make_{name}"] = own.factory
            value = f"make_{name}() if {name} is MISSING else {name}" if own.init else f"make_{name}()"
            default = "=MISSING"
        elif own.default is not _MISSING:
            known[f"default_{name}"] = own.default
            value = name if own.init else f"default_{name}"
            default = f"=default_{name}"
        else:
            default = ""
        if own.init:
            (named if own.kw_only else positional).append(name + default)
        body.append(f"set_(self, {name!r}, {value})" if shape.frozen else f"self.{name} = {value}")
    parameters = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    return _function(owner, f"def __init__({parameters}):", body or ["pass"], known)


def _eq(owner: type[Any]) -> Callable[..., Any]:
    names = [name for name, own in _shape_of(owner).fields.items() if own.compare]
    body = [
        "if other.__class__ is not self.__class__: return NotImplemented",
        f"return ({_tuple('self', names)}) == ({_tuple('other', names)})",
    ]
    return _function(owner, "def __eq__(self, other):", body, {})


def _hash(owner: type[Any]) -> Callable[..., Any]:
    names = [name for name, own in _shape_of(owner).fields.items() if own.compare]
    return _function(owner, "def __hash__(self):", [f"return hash(({_tuple('self', names)}))"], {})


def _tuple(record: str, names: list[str]) -> str:
    return "".join(f"{record}.{name}, " for name in names)


def _function(owner: type[Any], head: str, body: list[str], known: dict[str, Any]) -> Callable[..., Any]:
    scope = {**known, "__name__": owner.__module__}
    exec(code_of("\n ".join([head, *body])), scope)  # noqa: S102 - of the names of a class's fields and nothing else
    function: Any = next(scope[name] for name in ("__init__", "__eq__", "__hash__") if name in scope)
    function.__qualname__ = f"{owner.__qualname__}.{function.__name__}"
    return cast("Callable[..., Any]", function)


def _repr(self: Any) -> str:
    fields = _shape_of(type(self)).fields
    shown = (f"{name}={getattr(self, name)!r}" for name, own in fields.items() if own.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(_self: Any, name: str, _value: object) -> None:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - dear, and only needed for a defect

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: Any, name: str) -> None:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - as above

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in _shape_of(type(self)).fields]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(_shape_of(type(self)).fields, state, strict=True):
        object.__setattr__(self, name, value)


# --- what the standard library asks of its own ---------------------------------------------------------------


class _Parameters(NamedTuple):
    """What a class of the standard library's asks a base: frozen and unfrozen classes do not mix."""

    frozen: bool


class _FieldsLater:
    """The standard library's fields of a class, made when something asks for them."""

    def __get__(self, _record: object, cls: type[Any]) -> dict[str, Any]:
        owner: Any = next(base for base in cls.__mro__ if vars(base).get("__dataclass_fields__") is self)
        made = _standard_fields(_shape_of(owner))
        owner.__dataclass_fields__ = made
        return made


def _standard_fields(shape: _Shape) -> dict[str, Any]:
    import dataclasses  # noqa: PLC0415 - dear, and no scan asks for them

    made: dict[str, Any] = {}
    for name, own in shape.fields.items():
        default = {} if own.default is _MISSING else {"default": own.default}
        factory = {} if own.factory is _MISSING else {"default_factory": own.factory}
        one: Any = dataclasses.field(
            **default, **factory, init=own.init, repr=own.repr, compare=own.compare, kw_only=own.kw_only
        )
        one.name, one.type = name, shape.annotations[name]
        one._field_type = dataclasses._FIELD  # type: ignore[attr-defined] # what tells it from an InitVar
        made[name] = one
    return made
