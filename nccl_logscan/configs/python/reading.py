"""From Python's syntax tree to the settings that a program makes."""

from __future__ import annotations

import re
from collections.abc import Callable

import tree_sitter

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.embedded.splice import script_in, shell_script, words_in
from nccl_logscan.configs.embedded.texts import Inner, read_inner
from nccl_logscan.configs.mappings.framework_keys import framework_of_keys
from nccl_logscan.configs.mappings.tree import Scalar
from nccl_logscan.configs.mappings.variable_names import ENVIRONMENTS, RUNTIME_ENVIRONMENTS, is_telling, is_variable
from nccl_logscan.configs.model import Config, Form, Launch, LineIndex, Placed
from nccl_logscan.configs.pins import pins_in
from nccl_logscan.configs.python.tree import Worth, dotted, source, telling_nodes, text_of, worth
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span

_ENVIRON = "os.environ"
_ENVIRONMENT_NAME = deferred(r"(?:\w+\.)*\w*env(?:s|iron|ironment|_vars|_variables)?", re.IGNORECASE)
_COMMAND_NAME = deferred(r"(?:^|_)(?:cmd|command|argv)(?:$|_)", re.IGNORECASE)
_DEEPEST = 4
_MOST_KEYS = 200
_SHELLS = frozenset({"os.system", "os.popen", "subprocess.getoutput"})
_RUNS = frozenset(f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen"))
_POSITIONAL = frozenset(f"torch.multiprocessing.{name}" for name in ("set_start_method", "set_sharing_strategy"))
"""Calls whose one setting has no keyword."""
_FRAMEWORKS = {
    "torch": "pytorch",
    "accelerate": "accelerate",
    "transformers": "transformers",
    "trl": "trl",
    "lightning": "lightning",
    "pytorch_lightning": "lightning",
    "deepspeed": "deepspeed",
    "ray": "ray",
    "vllm": "vllm",
    "sglang": "sglang",
    "megatron": "megatron-lm",
    "nemo": "nemo",
    "horovod": "horovod",
    "verl": "verl",
    "torchtitan": "torchtitan",
    "openrlhf": "openrlhf",
    "swift": "ms-swift",
    "colossalai": "colossal-ai",
    "jax": "jax/xla",
}


def read_python(syntax: str, name: str, data: bytes) -> Config:
    """Return what a program sets, in the file's order."""
    reading = _Reading(name, data)
    nodes = telling_nodes(data)
    for node in nodes:
        if node.type in ("import_statement", "import_from_statement"):
            reading.note_import(node)
    for node in nodes:
        reading.take(node)
    placed = sorted(reading.placed, key=lambda one: (one.span.start, one.span.end))
    pins = pins_in(data.decode("utf-8", "replace")) if b"==" in data else {}
    return Config(name, syntax, data, tuple(placed), tuple(reading.launches), pins)


class _Reading:
    """One program's settings as they are found."""

    def __init__(self, name: str, data: bytes) -> None:
        self.placed: list[Placed] = []
        self.launches: list[Launch] = []
        self._name = name
        self._data = data
        self._lines = LineIndex(data)
        self._imported: dict[str, str] = {}
        self._seen: set[int] = set()

    def note_import(self, node: tree_sitter.Node) -> None:
        """Keep what the names of an import stand for: import os as o, from os import environ as e."""
        module = dotted(node.child_by_field_name("module_name"), self._data)
        for child in node.named_children:
            aliased = child.type == "aliased_import"
            name = dotted(child.child_by_field_name("name") if aliased else child, self._data)
            if name is None or name == module:
                continue
            local = dotted(child.child_by_field_name("alias"), self._data) if aliased else name.partition(".")[0]
            meant = f"{module}.{name}" if module else (name if aliased else name.partition(".")[0])
            self._imported[local or name] = meant

    def take(self, node: tree_sitter.Node) -> None:
        """Place what a node sets."""
        match node.type:
            case "assignment":
                self._assignment(node)
            case "augmented_assignment":
                if self._meant(node.child_by_field_name("left")) == _ENVIRON:
                    self._environment(node.child_by_field_name("right"), Form.PYTHON_ENVIRON)
            case "call":
                self._call(node)
            case "dictionary":
                self._pairs(node, Form.ENV_MAPPING, is_telling)
                self._deepspeed(node)
            case "delete_statement":
                for child in node.named_children:
                    self._subscript(child, child, None, Form.UNSET)

    def _meant(self, node: tree_sitter.Node | None) -> str | None:
        """Return a dotted name with its first part as the imports mean it."""
        name = dotted(node, self._data)
        if name is None:
            return None
        first, dot, rest = name.partition(".")
        return self._imported.get(first, first) + dot + rest

    def _assignment(self, node: tree_sitter.Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        if left.type == "subscript":
            for _ in range(_DEEPEST):
                if right is not None and right.type == "assignment":
                    right = right.child_by_field_name("right")
            self._subscript(left, node, right, Form.PYTHON_ENVIRON)
            return
        name = dotted(left, self._data)
        last = name.rpartition(".")[2] if name else ""
        if last in RUNTIME_ENVIRONMENTS:
            self._runtime(right)
        elif last in ENVIRONMENTS or (name and _ENVIRONMENT_NAME.fullmatch(name)):
            self._environment(right, Form.RUNTIME_ENV if last == "env_vars" else Form.ENV_MAPPING)
        elif _COMMAND_NAME.search(last) and right.type in ("string", "list"):
            # It is run further down, by a call that does not tell what it runs.
            self._shell(right)

    def _subscript(
        self, node: tree_sitter.Node, whole: tree_sitter.Node, value: tree_sitter.Node | None, form: Form
    ) -> None:
        """Place os.environ["X"] = value; for any other mapping where its name or the key's tells."""
        if node.type != "subscript":
            return
        holder = node.child_by_field_name("value")
        key = text_of(node.child_by_field_name("subscript"), self._data)
        held = self._meant(holder)
        if key is None:
            return
        if held == _ENVIRON:
            self._place(key, Kind.ENV, form, whole, value)
        elif is_telling(key) or (held and _ENVIRONMENT_NAME.fullmatch(held) and is_variable(key)):
            runtime = holder is not None and "env_vars" in (source(holder, self._data) or "")
            given = Form.RUNTIME_ENV if runtime else Form.ENV_MAPPING
            self._place(key, Kind.ENV, form if form is Form.UNSET else given, whole, value)

    def _call(self, node: tree_sitter.Node) -> None:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        name = self._meant(function)
        if arguments is None or arguments.type != "argument_list":
            return
        given = [child for child in arguments.named_children if child.type != "comment"]
        first = given[0] if given else None
        match name:
            case "os.environ.setdefault" | "os.putenv":
                key = text_of(first, self._data)
                if key and len(given) > 1:
                    sets = name == "os.putenv"
                    self._place(key, Kind.ENV, Form.PYTHON_ENVIRON, node, given[1], fallback=not sets)
            case "os.environ.pop" | "os.unsetenv":
                if key := text_of(first, self._data):
                    self._place(key, Kind.ENV, Form.UNSET, node, None)
            case "os.environ.update":
                for argument in given:
                    self._environment(argument, Form.PYTHON_ENVIRON)
            case "dict":
                self._keywords(given, Form.ENV_MAPPING, is_telling)
            case "timedelta" | "datetime.timedelta" | "datetime.datetime.timedelta":
                # A duration is worth what it is given; that is the value of a setting and none itself.
                pass
            case _:
                self._arguments(name or self._last(function), name, given)
                if name in _SHELLS or name in _RUNS:
                    self._shell(first)
                elif name in _POSITIONAL and first is not None and first.type == "string":
                    short = name.rpartition(".")[2]
                    self._place(f"{short}()", Kind.PYTHON_KWARG, Form.PYTHON_KWARG, first, first, "pytorch")

    def _last(self, function: tree_sitter.Node | None) -> str | None:
        """Return the name behind the last dot of what is called on an expression."""
        if function is None or function.type != "attribute":
            return None
        return dotted(function.child_by_field_name("attribute"), self._data)

    def _arguments(self, name: str | None, meant: str | None, given: list[tree_sitter.Node]) -> None:
        """Place a call's keywords as NAME(keyword=), environments among them by their variables."""
        if name is None:
            return
        short = name.rpartition(".")[2]
        framework = _FRAMEWORKS.get((meant or "").partition(".")[0])
        for argument in given:
            if argument.type != "keyword_argument":
                continue
            word = dotted(argument.child_by_field_name("name"), self._data)
            value = argument.child_by_field_name("value")
            if word is None or value is None:
                continue
            if word in RUNTIME_ENVIRONMENTS:
                self._runtime(value)
            elif word in ENVIRONMENTS and value.type in ("dictionary", "call", "binary_operator"):
                self._environment(value, Form.RUNTIME_ENV if word == "env_vars" else Form.ENV_MAPPING)
            else:
                self._place(f"{short}({word}=)", Kind.PYTHON_KWARG, Form.PYTHON_KWARG, argument, value, framework)

    def _runtime(self, node: tree_sitter.Node | None) -> None:
        """Place the env_vars of a runtime_env, be it a dictionary or a call: RuntimeEnv(env_vars=...) is one itself."""
        if node is None or node.type != "dictionary":
            return
        for pair in node.named_children:
            if pair.type == "pair" and text_of(pair.child_by_field_name("key"), self._data) == "env_vars":
                self._environment(pair.child_by_field_name("value"), Form.RUNTIME_ENV)

    def _environment(self, root: tree_sitter.Node | None, form: Form) -> None:
        """Place the variables of {...}, dict(...), {**os.environ, ...}, a | b."""
        stack = [(root, 0)]
        while stack:
            node, depth = stack.pop()
            if node is None or depth > _DEEPEST:
                continue
            if node.type == "dictionary":
                self._pairs(node, form, is_variable)
                stack += [(part, depth + 1) for part in node.named_children if part.type == "dictionary_splat"]
            elif node.type in ("dictionary_splat", "binary_operator", "parenthesized_expression"):
                stack += [(part, depth + 1) for part in node.named_children]
            elif node.type == "keyword_argument":
                self._keywords([node], form, is_variable)
            elif node.type == "call" and dotted(node.child_by_field_name("function"), self._data) == "dict":
                arguments = node.child_by_field_name("arguments")
                stack += [(part, depth + 1) for part in (arguments.named_children if arguments else ())]

    def _pairs(self, node: tree_sitter.Node, form: Form, wanted: Callable[[str], bool]) -> None:
        for pair in node.named_children:
            if pair.type != "pair":
                continue
            key = text_of(pair.child_by_field_name("key"), self._data)
            if key and wanted(key):
                self._place(key, Kind.ENV, form, pair, pair.child_by_field_name("value"))

    def _deepspeed(self, root: tree_sitter.Node) -> None:
        """Place the keys of a DeepSpeed configuration that is written as a dictionary, by their dotted paths."""
        if root.named_child_count > _MOST_KEYS:
            return
        if framework_of_keys({key for key, _, _ in _entries(root, self._data)}, None, None) != "deepspeed":
            return
        stack = [(root, "")]
        while stack:
            node, path = stack.pop()
            for name, pair, value in _entries(node, self._data):
                if value.type == "dictionary":
                    if path.count(".") < _DEEPEST:
                        stack.append((value, f"{path}{name}."))
                else:
                    self._place(path + name, Kind.JSON_KEY, Form.MAPPING, pair, value, "deepspeed")

    def _keywords(self, given: list[tree_sitter.Node], form: Form, wanted: Callable[[str], bool]) -> None:
        for argument in given:
            word = dotted(argument.child_by_field_name("name"), self._data)
            if argument.type == "keyword_argument" and word and wanted(word):
                self._place(word, Kind.ENV, form, argument, argument.child_by_field_name("value"))

    def _place(  # noqa: PLR0917 - a setting's facts, as the calls find them
        self,
        name: str,
        kind: Kind,
        form: Form,
        whole: tree_sitter.Node,
        value: tree_sitter.Node | None,
        framework: str | None = None,
        *,
        fallback: bool = False,
    ) -> None:
        start = whole.start_byte
        if start in self._seen or (value is not None and value.type == "ERROR"):
            return
        self._seen.add(start)
        said = self._worth(value) if value is not None else Worth(None)
        begin, end = said.at or ((value.start_byte, value.end_byte) if value is not None else (0, 0))
        self.placed.append(
            Placed(
                name=name,
                value=said.text,
                kind=kind,
                form=form,
                at=self._lines.position(self._name, start),
                column=self._lines.column_of(start),
                span=Span(start, whole.end_byte),
                value_span=Span(begin, end) if value is not None else None,
                scalar=said.type,
                framework=framework,
                fallback=fallback or said.fallback,
            )
        )

    def _worth(self, value: tree_sitter.Node) -> Worth:
        """Return what a value is worth; a name of an imported module (torch.bfloat16) is as good as a literal."""
        said = worth(value, self._data)
        if value.type == "call" and said.text is None:
            return self._got(value)
        name = dotted(value, self._data) if said.text is None and value.type == "attribute" else None
        return Worth(name) if name and name.partition(".")[0] in self._imported else said

    def _got(self, call: tree_sitter.Node) -> Worth:
        """os.environ.get("X", "5") → 5, which holds where the caller's environment has no other."""
        arguments = call.child_by_field_name("arguments")
        given = arguments.named_children if arguments is not None else []
        name = self._meant(call.child_by_field_name("function"))
        if name not in ("os.environ.get", "os.getenv") or len(given) != 2:
            return Worth(None)
        text = text_of(given[1], self._data)
        return (
            Worth(text, fallback=True, at=(given[1].start_byte, given[1].end_byte)) if text is not None else Worth(None)
        )

    def _shell(self, node: tree_sitter.Node | None) -> None:
        """Place what a command sets that is given as one plain string or as a list of them."""
        inner = _command(node, self._data) if node is not None else None
        config = read_inner(inner, self._name, self._lines) if inner else None
        if config:
            self.placed.extend(config.settings)
            self.launches.extend(config.launches)


def _entries(node: tree_sitter.Node, data: bytes) -> list[tuple[str, tree_sitter.Node, tree_sitter.Node]]:
    """Return the pairs of a dictionary that have a string as their key: the string, the pair, the value."""
    found = []
    for pair in node.named_children:
        key = text_of(pair.child_by_field_name("key"), data) if pair.type == "pair" else None
        value = pair.child_by_field_name("value")
        if key and value is not None:
            found.append((key, pair, value))
    return found


def _command(node: tree_sitter.Node, data: bytes) -> Inner | None:
    """Return a command as a script at its place; None where a part of it is not plain."""
    if node.type == "list":
        words = [_plain_string(child, data) for child in node.named_children if child.type != "comment"]
        scalars = [word for word in words if word is not None]
        script = shell_script(scalars)
        if len(scalars) < len(words):
            return None
        splice = script_in(script, data) if script else words_in(scalars, data)
        return Inner("command.sh", splice, (), words=script is None) if splice else None
    scalar = _plain_string(node, data)
    splice = script_in(scalar, data) if scalar else None
    return Inner("command.sh", splice, ()) if splice else None


def _plain_string(node: tree_sitter.Node, data: bytes) -> Scalar | None:
    """Return a string without a prefix and escapes."""
    text = text_of(node, data) if node.type == "string" else None
    if text is None or data[node.start_byte + 1 : node.end_byte - 1] != text.encode("utf-8", "replace"):
        return None
    return Scalar(node.start_byte, node.end_byte, text, "text", chr(data[node.start_byte]))
