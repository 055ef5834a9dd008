"""Secrets whose name stands apart from them are in no diff of any command."""

from __future__ import annotations

import pytest

from nccl_logscan.advise.patch import patch
from nccl_logscan.advise.run import Run, framework_called
from nccl_logscan.advise.view import advise
from nccl_logscan.configs.read import read_text
from nccl_logscan.configs.secrets import holds_secret, hunks_of
from nccl_logscan.lint.mend import mend
from nccl_logscan.lint.model import Check, Versions
from nccl_logscan.lint.run import lint
from nccl_logscan.remedy.change import diff_text
from nccl_logscan.report.lint.mend import diff_of
from nccl_logscan.report.redact import holds_no_secret

PODS = {
    "next-line.yaml": """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - name: train
      env:
        - name: NCCL_TIMEOUT
          value: "7"
        - name: DB_PASSWORD
          value: "hunter2x"
""",
    "braces.yaml": """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - name: train
      env:
        - {name: NCCL_TIMEOUT, value: "7"}
        - {name: DB_PASSWORD, value: "hunter2x"}
""",
    "pod.json": """\
{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "train", "env": [
  {"name": "NCCL_TIMEOUT", "value": "7"},
  {"name": "DB_PASSWORD",
   "value": "hunter2x"}
]}]}}
""",
}
RUN = Run(7 * 10**9, 2, 8, "ib", framework_called("torchrun"), "kubernetes")


@pytest.mark.parametrize("name", PODS)
def test_a_secret_below_or_behind_its_name_is_in_no_diff(name):
    config = read_text(name, PODS[name].encode())
    remarks = lint([config], Versions())
    fixes = [remark.fix for remark in remarks if remark.name == "NCCL_TIMEOUT"]
    assert fixes
    shown = [diff_text(config, fix, holds_no_secret) or "" for fix in fixes]
    shown += [diff_of(change).text.decode() for change in mend([config], Versions(), Check)]
    shown.append(patch(advise(RUN, ()), config, holds_no_secret).diff.decode())

    assert not [text for text in shown if "hunter2x" in text]


def test_a_secret_far_from_the_change_hides_nothing():
    text = PODS["next-line.yaml"].replace('          value: "7"\n', '          value: "7"\n' + "        # why\n" * 4)
    config = read_text("pod.yaml", text.encode())
    [fix] = [remark.fix for remark in lint([config], Versions()) if remark.name == "NCCL_TIMEOUT"]

    assert '-          value: "7"\n' in diff_text(config, fix, holds_no_secret)


def test_the_lines_of_hunks_are_those_of_the_earlier_file():
    assert hunks_of("--- a/x\n+++ b/x\n@@ -3,2 +3 @@\n a\n-b\n@@ -9 +8,2 @@\n c\n+d\n") == ((3, 4), (9, 9))


def test_only_settings_in_the_lines_count():
    config = read_text("pod.yaml", PODS["next-line.yaml"].encode())
    assert [holds_secret(config, [lines], holds_no_secret) for lines in ((1, 8), (8, 9), (10, 10))] == [
        False,
        True,
        True,
    ]
