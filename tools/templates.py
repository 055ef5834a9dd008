"""Compiles the templates of the HTML report to nccl_logscan/report/compiled_templates.py.

python tools/templates.py [--check]

The translation is Jinja2's; only what it imports is replaced by nccl_logscan/report/page.py. Style sheets and scripts
are no templates: all of the folder become one text each, style.css and page.js first, and their digests, by which
the page's policy lets them act, are computed here. With --check nothing is written, and the exit code is 1 where the
templates were changed since they were compiled.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import sys
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import nccl_logscan.report
from nccl_logscan.report.filters import FILTERS, finalise

FOLDER = Path(nccl_logscan.report.__file__).with_name("templates")
COMPILED = FOLDER.with_name("compiled_templates.py")
_HEAD = '''"""The templates of the HTML report, compiled. Written by: python tools/templates.py."""

from nccl_logscan.report.page import Macro, environment, escape, loop_context, markup_join, missing, nothing

DIGEST = "{digest}"
SCRIPT_DIGEST = {script_digest!r}
STYLE_DIGEST = {style_digest!r}

'''
_FOUND = re.compile(r"    try:\n        (t_\d+ = environment\.\w+\['\w+'\])\n    except KeyError:\n(?:        .*\n){3}")


def main() -> int:
    """Compile, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the compiled templates are fresh")
    if not parser.parse_args().check:
        COMPILED.write_text(compiled(), "utf-8")
        return 0
    if COMPILED.is_file() and f'"{digest()}"' in COMPILED.read_text("utf-8"):
        return 0
    print(f"{COMPILED} is stale: run python tools/templates.py", file=sys.stderr)
    return 1


def environment() -> Environment:
    """Return the environment in which our templates mean what they mean."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalise,
    )
    made.filters.update(FILTERS)
    return made


def digest() -> str:
    """Return a digest over all templates."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sorted(FOLDER.iterdir()))).hexdigest()


def compiled() -> str:
    """Return the module."""
    names = sorted(path.name for path in FOLDER.glob("*.j2"))
    functions = "\n\n".join(_function(name) for name in names)
    table = "".join(f"    {name!r}: {_called(name)},\n" for name in names)
    digests = {"script_digest": _policy_digest(script()), "style_digest": _policy_digest(style())}
    head = _HEAD.format(digest=digest(), **digests)
    texts = f"STYLE = {style()!r}\n\nSCRIPT = {script()!r}\n"
    return f"{head}\n{functions}\n\nTEMPLATES = {{\n{table}}}\n\n{texts}"


def style() -> str:
    """Return what stands in the page's style element."""
    return _within("style", "\n".join(path.read_bytes().decode() for path in _files(".css", "style.css")))


def script() -> str:
    """Return what stands in the page's script element: each file in a scope of its own."""
    scoped = (f'(() => {{\n"use strict";\n{path.read_bytes().decode()}}})();\n' for path in _files(".js", "page.js"))
    return _within("script", "".join(scoped))


def _files(suffix: str, first: str) -> list[Path]:
    return sorted(FOLDER.glob(f"*{suffix}"), key=lambda path: (path.name != first, path.name))


def _within(element: str, text: str) -> str:
    """Return a text that an element holds as it is, whatever a parser of HTML makes of its parts."""
    for ending in (f"</{element}", f"<{element}", "<!--", "\r"):
        if ending in text.lower():
            raise SystemExit(f"error: a {element} of {FOLDER} holds {ending!r}, which ends or changes its element")
    return text


def _policy_digest(text: str) -> str:
    """Return the name of a text in a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _called(template: str) -> str:
    return "_" + template.removesuffix(".j2").replace(".", "_")


def _function(template: str) -> str:
    made = environment()
    source, path, _ = made.loader.get_source(made, template)  # type: ignore[union-attr] # it has one
    code = made.compile(source, template, path, raw=True)
    code = code[code.index("def root(") :].partition("\nblocks = ")[0].rstrip() + "\n"
    code = _FOUND.sub(r"    \1\n", code)
    code = code.replace("LoopContext(", "loop_context(").replace("cond_expr_undefined = Undefined", "")
    return code.replace("cond_expr_undefined(", "nothing(").replace("def root(", f"def {_called(template)}(")


if __name__ == "__main__":
    sys.exit(main())
