"""What rules advise to set exists, and is no dead key."""

import re

import pytest

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.rulebook.load import builtin_rulebook

ADVISED = sorted(
    {
        (part, rule.id, step.do_not)
        for rule in builtin_rulebook().rules.values()
        for step in (*rule.confirm, *rule.remediation)
        for part in re.split(r", | or | and ", step.setting or "")
        if part
    }
)


@pytest.mark.parametrize(("name", "rule", "is_a_warning"), ADVISED, ids=str)
def test_a_setting_that_a_rule_names_is_in_the_catalogue(name, rule, is_a_warning):
    options = catalogue().options_called(name)
    variable = catalogue().variable(name)
    assert options or variable, rule
    if options and variable is None and not is_a_warning:
        assert not all(option.dead for option in options), rule
