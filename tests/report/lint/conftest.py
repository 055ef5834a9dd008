from collections.abc import Callable

import pytest

from nccl_logscan.configs.read import read_text
from nccl_logscan.lint.model import Versions
from nccl_logscan.lint.run import lint
from nccl_logscan.report.lint.view import LintView, lint_view


@pytest.fixture
def view_of() -> Callable[..., LintView]:
    """Lint {name: text or bytes} as one job and return the view of it."""

    def viewed(files: dict[str, str | bytes], **versions: str) -> LintView:
        data = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
        configs = [config for name, text in data.items() if (config := read_text(name, text))]
        known = Versions(versions.get("nccl"), versions.get("torch"))
        return lint_view(lint(configs, known), configs, known)

    return viewed


@pytest.fixture
def hostile() -> dict[str, str | bytes]:
    """Files whose names, lines and values try what a terminal, a page or a CI runner might obey."""
    return {
        "<b>,:%.env": 'NCCL_DEBUG="</script><script>alert(1)</script>"\n',
        "esc\x1b[2J.env": "NCCL_ALGO=\x1b[31mred\nNCCL_PROTO='::error::obey me'\nNCCL_NTHREADS=\u202e1\n",
        "runner.env": "::error file=x::y\nNCCL_IB_RETRY_CNT=##[error]100%\r\nNCCL_TIMEOUT=1\n",
        "secret.env": "NCCL_TIMEOUT=hf_abcdefghijklmnopqrstuvwx\nNCCL_DEBUG=hf_abcdefghijklmnopqrstuvwx\n",
        "long.env": b"NCCL_DEBUG=" + b"x" * 200_000 + b"\n",
        "lone.env": b"NCCL_DEBUG=\xff\xfe\xed\xa0\x80\n",
    }
