"""A secret in any field of a log, a dump, a configuration or a rule stands in no output, in no spelling.

A name is shown as the user gave it: a place that is redacted leads nowhere.
"""

from __future__ import annotations

import html
import io
import json
import sys
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest
from poisoned_job import poisoned, site_rules
from produced import produced

from nccl_logscan import scan
from nccl_logscan.rulebook.load import rulebook_with

sys.path.append(str(Path(__file__).parents[1] / "report"))

from secret_kinds import PASSWORDS, TOKENS, VALUES

SECRETS = {
    "a token": ("({})", TOKENS["Hugging Face"]),
    "a key behind its name": ("WANDB_API_KEY={}", VALUES["a W&B key"]),
    "a password": ("db_password={}", PASSWORDS["long"]),
    "a signature": ("k?X-Amz-Signature={}&x=1", VALUES["a W&B key"]),
    "a web token": ("token={}", TOKENS["JSON web token"]),
}


@pytest.fixture(scope="module", params=SECRETS)
def printed(request, tmp_path_factory):
    """The secret of a kind, and all outputs about jobs that hold it."""
    around, secret = SECRETS[request.param]
    folder = tmp_path_factory.mktemp("secrets")
    content = around.format(secret)
    site_rules(folder / "rules", {"secret": content})
    return secret, produced(
        poisoned(folder / "jobs", content, "secret", called="job"), rulebook_with([folder / "rules"])
    )


def spellings(secret):
    yield secret
    yield html.escape(secret)
    yield quote(secret, safe="")
    yield json.dumps(secret)[1:-1]


def test_no_output_holds_a_secret(printed):
    secret, outputs = printed
    assert len(outputs) >= 20
    shown = {}
    for output, texts in outputs.items():
        for sent in texts:
            text = sent.decode("utf-8", "replace")
            if sent.startswith(b"PAR1"):
                text = pl.read_parquet(io.BytesIO(sent)).write_json()
            if found := [spelling for spelling in spellings(secret) if spelling in text]:
                at = text.index(found[0])
                shown[output] = text[max(0, at - 60) : at + 60]
    assert shown == {}


def test_a_key_that_stands_bare_is_told_by_its_name_elsewhere(tmp_path):
    secret = VALUES["a W&B key"]
    failure = "node-1:71:99 [0] ibvwrap.cc:1 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory"
    (tmp_path / "trainer.log").write_text(
        f"node-1:71:71 [0] NCCL INFO WANDB_API_KEY set by environment to {secret}\n"
        f"{failure}\n[rank0]: RuntimeError: NCCL error for run {secret}: unhandled system error\n"
    )
    result = scan([tmp_path / "trainer.log"])
    assert "RuntimeError" in result.to_json()
    for text in (result.to_json(), result.to_html(), result.to_text()):
        assert secret not in text
