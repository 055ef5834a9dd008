import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.catalogue.domain import read_as, takes, whole_number
from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.catalogue.model import Domain, Form, Parser

STRTOLL = Domain(Form.INTEGER, parser=Parser.STRTOLL, strict=True)
STOI = Domain(Form.INTEGER, parser=Parser.STOI, strict=True)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("4M", "4"),
        ("true", "0"),
        ("0x10", "16"),
        ("010", "8"),
        ("08", "0"),
        (" 12 s", "12"),
        ("-3x", "-3"),
        ("0xz", "0"),
    ],
)
def test_strtoll_reads_the_leading_digits(value, number):
    assert read_as(STRTOLL, value) == number


@pytest.mark.parametrize(("value", "number"), [("30m", "30"), ("0x10", "0"), ("010", "10"), ("ten", None)])
def test_stoi_reads_the_leading_decimal_digits_and_ends_the_program_without(value, number):
    assert read_as(STOI, value) == number


@pytest.mark.parametrize("value", ["0x10", "010", " 5", "5 ", "+5", "-5", "0"])
def test_every_way_of_writing_a_number_is_one(value):
    assert takes(STRTOLL, value)


@pytest.mark.parametrize("value", ["5M", "08", "5,000", "5_000", "0x", "1e3", "5.0", "five", "- 5"])
def test_what_is_only_read_in_part_is_not_taken(value):
    assert not takes(STRTOLL, value)


def test_bounds_are_inclusive():
    domain = Domain(Form.INTEGER, at_least=0, at_most=31, parser=Parser.STRTOLL)
    assert takes(domain, "0")
    assert takes(domain, "31")
    assert not takes(domain, "32")
    assert not takes(domain, "-1")


def test_case_counts_unless_it_is_ignored():
    assert not takes(Domain(Form.CHOICE, ("SYS",)), "sys")
    assert takes(Domain(Form.CHOICE, ("SYS",), ignores_case=True), "sys")


def test_an_empty_value_is_unset_for_nccl_and_ends_pytorch():
    assert takes(STRTOLL, "")
    assert not takes(STOI, "")


@given(st.integers(-(2**62), 2**62))
def test_numbers_are_read_as_they_are_written(number):
    assert whole_number(STRTOLL, str(number)) == number
    assert whole_number(STRTOLL, hex(number)) == number
    assert whole_number(STOI, str(number)) == number


@given(st.sampled_from(list(catalogue().variables.values())), st.text(max_size=40))
def test_no_text_at_all_raises(variable, value):
    assert takes(variable.domain, value) in {True, False}
    read_as(variable.domain, value)


@pytest.mark.parametrize("value", ["eth0," * 20_000, "^" * 80_000, "ring," * 20_000, "9" * 80_000])
@pytest.mark.parametrize("name", ["NCCL_SOCKET_IFNAME", "NCCL_ALGO", "NCCL_BUFFSIZE", "NCCL_COMM_ID"])
def test_a_value_of_any_length_is_looked_at_in_no_time(name, value):
    takes(catalogue().variables[name].domain, value)
    takes(catalogue().variables[name].domain, value[:4_000] + " ")
