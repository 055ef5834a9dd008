"""A report inside a notebook: in a frame of its own, so that neither's style reaches the other."""

from __future__ import annotations

from html import escape

# No scripts, no forms and an origin of its own: a log may be written by a stranger, and a notebook may do anything.
# A reference may be opened in a new tab, which is then a page like any other.
_SANDBOX = "allow-popups allow-popups-to-escape-sandbox"
_FRAME_STYLE = (
    "display:block;box-sizing:border-box;width:100%;height:40rem;max-height:80vh;min-height:20rem;"
    "border:1px solid #8888;resize:vertical"
)


def framed(page: str, text: str) -> str:
    """Return a page as HTML for inside another page, with the same as text below it.

    Who shows notebooks without frames (a forge, an e-mail, a notebook that is not trusted) still shows the text.
    """
    return (
        f'<iframe title="nccl-logscan report" sandbox="{_SANDBOX}" style="{_FRAME_STYLE}" srcdoc="{escape(page)}">'
        f"</iframe>\n<details><summary>The verdict as text</summary><pre>{escape(text)}</pre></details>"
    )
