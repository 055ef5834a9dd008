from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.position import Span
from nccl_logscan.report.redact import REDACTED, redact, redact_marked, redact_value


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("aws: AKIAIOSFODNN7EXAMPLE used", "AKIAIOSFODNN7EXAMPLE"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalr"),
        ("login with hf_AbCdEfGhIjKlMnOpQrStUvWx", "hf_Ab"),
        ("https://x:ghp_0123456789abcdefghij0123456789abcdef@github.com/a/b", "ghp_"),
        ("git clone https://me:hunter2@git.example/a", "hunter2"),
        ("NCCL INFO NCCL_SITE_PASSWORD set by environment to hunter2", "hunter2"),
        ("NCCL INFO NCCL_SITE_TOKEN set by /etc/nccl.conf to 0a1b2c3d4e5f", "0a1b2c"),
        ("Authorization: Bearer 0a1b2c3d4e5f6g7h", "0a1b2c"),
        ("password=hunter2, next", "hunter2"),
        ("--db-password hunter2 --x", "hunter2"),
        ("{'password': 'correct horse'}", "correct horse"),
        ("GET https://b.s3.amazonaws.com/k?X-Amz-Signature=0deadbeef&x=1", "0deadbeef"),
        ("https://a.blob.core.windows.net/c?sv=1&sig=abc%2Bdef", "abc%2Bdef"),
        ("-----BEGIN RSA PRIVATE KEY----- MIIEpAIBAAKCAQEA", "MIIE"),
        ("MIIEpAIBAAKCAQEA7bq1Zx9VxW0yHk3d2pT5sQeRrY8uJmNfLcVbGhKjLpOiUyTr", "MIIE"),
        ("WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567", "01234567"),
        ("export OPENAI_API_KEY='sk-proj-abcdefghijklmnopqrstuv'", "sk-proj"),
        ("- {name: DB_PASSWORD, value: hunter2}", "hunter2"),
        ('{"name": "WANDB_API_KEY", "value": "0123456789abcdef0123456789abcdef01234567"}', "01234567"),
        ("token: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJ"),
    ],
)
def test_a_well_known_secret_is_redacted(text, secret):
    assert secret in text
    assert secret not in redact(text)
    assert REDACTED in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "pad_token=<|endoftext|> eos_token_id=128009 max_tokens: 4096 loss_per_token=1.2345678901e-05",
        "tokens per second: 12345.678, token indices sequence length is longer than 1024",
        "NCCL INFO ncclCommInitRank comm 0x55d4c8a0 rank 3 nranks 8 cudaDev 3 commId 0x9c4a1d2b3e4f5a6b - Init START",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b3f786850e387550fdab836ed",
        "Got completion from peer 10.0.0.24<40211> with status=12",
        "KeyError: 'attention_mask'",
        "could not read the token file; the api key was refused",
        "tcp://10.0.0.1:29500 and http://node-1:8265/api",
        "signal 9 (SIGKILL) received by PID 1234",
    ],
)
def test_an_ordinary_line_is_left_alone(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("HF_TOKEN", "something1", REDACTED),
        ("DB_PASSWORD", "x", REDACTED),
        ("NCCL_DEBUG", "INFO", "INFO"),
        ("NCCL_SOCKET_IFNAME", "eth0", "eth0"),
        ("PWD", "/root/work2024", "/root/work2024"),
    ],
)
def test_a_name_that_says_secret_hides_its_value(name, value, shown):
    assert redact_value(name, value) == shown


def test_marked_columns_follow_the_text():
    text = "password=hunter2hunter2 and NCCL WARN here, password=hunter3"
    start = text.index("NCCL WARN")
    shown, mark = redact_marked(text, Span(start, start + 9))
    assert shown[mark.start : mark.end] == "NCCL WARN"


def test_a_mark_inside_a_secret_grows_to_what_replaced_it():
    shown, mark = redact_marked("password=hunter2hunter2 end", Span(12, 15))
    assert shown[mark.start : mark.end] == REDACTED


fragments = st.lists(
    st.sampled_from(
        [
            "password=",
            "hunter2x9",
            " ",
            "hf_AbCdEfGhIjKlMnOpQrSt",
            "://u:p@",
            "Bearer ",
            "token",
            ":",
            "'",
            "&sig=",
            "é",
        ]
    ),
    max_size=12,
).map("".join)


@given(fragments | st.text())
def test_redacting_twice_changes_nothing_more(text):
    assert redact(redact(text)) == redact(text)


@given(fragments, st.integers(0, 60), st.integers(0, 60))
def test_a_mark_stays_inside_the_text(text, one, other):
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    shown, mark = redact_marked(text, Span(start, end))
    assert 0 <= mark.start <= mark.end <= len(shown)


@pytest.mark.parametrize(
    "piece",
    [
        "token",
        "password",
        "a",
        "://",
        "sk-",
        "eyJ",
        "-----BEGIN ",
        "bearer ",
        "&sig=",
        "'",
        "token,value:",
        "token set by ",
    ],
)
def test_redaction_takes_time_in_step_with_the_length(piece):
    text = "key " + piece * (200_000 // len(piece))
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 2
