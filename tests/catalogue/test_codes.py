"""The catalogue of codes: one meaning a number and list, each with its source."""

import re
from collections import Counter

from nccl_logscan.catalogue.codes import CodeKind, codes
from nccl_logscan.events.dialects.process import _BY_NAME


def test_a_number_is_one_code_of_its_list():
    assert max(Counter((code.kind, code.number) for code in codes()).values()) == 1


def test_a_name_is_one_code_of_its_list():
    assert max(Counter((code.kind, code.name) for code in codes()).values()) == 1


def test_every_list_has_codes():
    assert {code.kind for code in codes()} == set(CodeKind)


def test_a_code_says_something_and_has_a_source():
    for code in codes():
        assert code.text or code.meaning, code
        assert re.match("https://", code.source)


def test_signals_are_those_that_the_program_reads_in_logs():
    ours = {code.name: code.number for code in codes() if code.kind is CodeKind.SIGNAL}
    assert _BY_NAME.items() <= ours.items()
