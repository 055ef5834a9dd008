"""URLs told from paths, and what of them may be shown."""

from __future__ import annotations

import re

from nccl_logscan.expressions import deferred

URL = deferred(r"(?:[a-z][a-z0-9+.-]+::)*([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_LOGIN = deferred(r"(?<=://)[^/?#]*@")
QUERY = deferred(r"\?[^?]*=.*|#.*", re.DOTALL)


def is_url(given: str) -> bool:
    """Tell a URL from a path."""
    return URL.match(given) is not None


def shown(url: str) -> str:
    """Return a URL without its login and its query."""
    return QUERY.sub("", _LOGIN.sub("", url))
