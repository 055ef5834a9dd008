from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.diagnosis.addresses import AddressBook, canonical


def test_an_address_that_two_hosts_call_theirs_is_neither_s():
    book = AddressBook()
    book.claim("10.0.0.1", "a")
    book.claim("::ffff:10.0.0.1", "b")
    book.claim("10.0.0.2", "b")
    ends = book.ends(("a", "b"))
    assert (ends.named("10.0.0.1"), ends.named("[10.0.0.2]"), ends.named("127.0.0.1")) == (None, "b", None)


def test_a_gid_is_of_the_host_whose_address_stands_beside_it():
    book = AddressBook()
    book.claim("10.0.0.2", "b")
    book.same("10.0.0.2", "fe80::1")
    assert book.ends(("b",)).named("fe80::0:1") == "b"


def test_a_host_s_side_name_is_the_host():
    assert AddressBook().ends(("wren0417",)).named("wren0417-ib.site<48210>") == "wren0417"


@given(st.text(max_size=400))
def test_no_text_is_too_strange_to_be_asked_for_its_address(text):
    once = canonical(text)
    assert once is None or canonical(once) in {once, None}
