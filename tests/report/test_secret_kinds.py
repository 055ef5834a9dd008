"""Secrets of every kind are taken out in every spelling; what only looks like one stays."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from secret_kinds import NAMES, PASSWORD_NAMES, PASSWORDS, PHRASES, SPELLINGS, TOKENS, VALUES

from nccl_logscan.report.redact import REDACTED, redact, secrets_in

ROOT = Path(__file__).parents[2]
COLOURED = "\x1b[33m{}\x1b[0m"
AROUND = ("{}", "got {}.", "key {}, then", '"{}"', "x={}&y=1", "[rank3]: {} refused", "({})", "a/{}/b")


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_is_told_by_its_form(kind):
    for around in AROUND:
        assert TOKENS[kind] not in redact(around.format(TOKENS[kind])), around


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", NAMES)
def test_a_value_is_told_by_its_name(name, spelling):
    for kind, value in VALUES.items():
        shown = redact(SPELLINGS[spelling].format(name=name, value=value))
        assert value not in shown, kind
        assert name in shown


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", PASSWORD_NAMES)
def test_a_password_may_be_any_word(name, spelling):
    for kind, value in PASSWORDS.items():
        assert value not in redact(SPELLINGS[spelling].format(name=name, value=value)), kind


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_value_is_told_by_what_stands_around_it(phrase):
    text, kind = PHRASES[phrase]
    value = {**VALUES, **PASSWORDS}[kind]
    shown = redact(text.format(value))
    assert value not in shown
    assert REDACTED in shown


def test_the_body_of_a_key_is_told_behind_a_prefix():
    line = TOKENS["NVIDIA"].removeprefix("nvapi-")
    assert line not in redact(f"[1,3]<stdout>: {line}")


@pytest.mark.parametrize(
    "text",
    [
        "process_mfile_token (lib/utils/args.c:302): match error",
        "tokens/s: 12345.6 tokens=4096 num_tokens: 128k tokenizer=/models/llama3 pad_token=<pad>",
        "num_key_value_heads=8 key_padding_mask=None attn_key: torch.float32",
        "secret: none, api_key=None, api_key = <your key>, token=$HF_TOKEN password_file",
        "GPU-8f3c2d1e-4b5a-6978-8a9b-0c1d2e3f4a5b uuid, guid 0x08c0eb0300a1b2c3, commId 0xd51b3a5f1c6e2b70",
        "basic configuration, digest mismatch, Bearer of bad news",
        "backward_pass=12.3ms forward_pass: 1.2e3 compass=north",
        "PWD=/root/work2024 OLDPWD=/home/user1",
        "tcp://10.0.0.1:29500 ssh://node-1:22 user@node-17.example.com git@github.com:org/repo2.git",
        "authorization failed for user 1000; authentication plugin auth_munge.so",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact(text) == text


def test_of_our_own_logs_only_known_lines_change():
    known = set((ROOT / "tests" / "report" / "secrets_in_fixtures.txt").read_text("utf-8").splitlines())
    listed = subprocess.run(["git", "ls-files", "-z", "fixtures"], cwd=ROOT, capture_output=True, check=False).stdout
    if not listed:
        pytest.skip("this is no checkout")
    changed = set()
    for name in listed.decode().split("\0"):
        path = ROOT / name
        if not name or not path.is_file() or name.startswith("fixtures/lint") or path.suffix in {".xz", ".gz", ".zst"}:
            continue
        text = path.read_bytes()
        if b"\0" in text:
            continue
        changed |= {shown for line in text.decode("utf-8", "replace").splitlines() if (shown := redact(line)) != line}
    assert sorted(shown.strip()[:200] for shown in changed if shown.strip()[:200] not in known) == []


@pytest.mark.parametrize(
    "piece",
    [
        "mysql ",
        "curl -u a",
        "Cookie: a=",
        "://a:b",
        "://aaaaaaaaaaaaaaaaaaaa",
        "?key=",
        "api key",
        "secret=",
        "token\\",
        "wandb login ",
    ],
)
def test_a_hostile_line_takes_time_in_step_with_its_length(piece):
    def seconds(length):
        text = piece * (length // len(piece))
        started = time.process_time()
        list(secrets_in(text))
        return time.process_time() - started

    seconds(1000)
    assert seconds(200_000) < 16 * max(seconds(50_000), 0.002)
