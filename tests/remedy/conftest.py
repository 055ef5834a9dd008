"""A finding whose rule asks for the steps given."""

from __future__ import annotations

import pytest
from files import finding


@pytest.fixture
def asks_for():
    """Make a finding of steps."""

    def make(*steps, captures=None, name="link"):
        return finding(name, remediation=steps, captures=captures)

    return make
