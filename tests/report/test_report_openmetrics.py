"""The verdict as metrics: what reads Prometheus' text reads them, and what reads OpenMetrics as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_of
from prometheus_client.parser import text_string_to_metric_families as prometheus_of

from nccl_logscan.pipeline import scan
from nccl_logscan.report.openmetrics import render_openmetrics
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.taxonomy import Category

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
LABELS = {"version", "rules_digest", "category", "level", "role", "rule", "rank", "host", "adapter"}


def view_of(name):
    return build_view(scan([str(CASES / name)], builtin_rulebook()))


def samples_of(text):
    """The samples by name, once both parsers have read the same."""
    both = []
    for families in (list(openmetrics_of(text)), list(prometheus_of(text))):
        assert all(family.documentation for family in families)
        # The textfile collector knows no other types that we could use, and takes no time beside a sample.
        assert {family.type for family in families} == {"gauge"}
        assert all(sample.timestamp is None for family in families for sample in family.samples)
        both.append([(s.name, s.labels, s.value) for family in families for s in family.samples])
    assert both[0] == both[1]
    named = {}
    for name, labels, value in both[0]:
        assert set(labels) <= LABELS
        named.setdefault(name.removeprefix("nccl_logscan_"), []).append((labels, value))
    return named


@pytest.mark.parametrize("name", ["lab/m8-timeout-rank5", "field/net002", "lab/ds-overflow", "lab/m8-healthy"])
def test_a_case_tells_its_category_and_how_sure(name):
    view = view_of(name)
    samples = samples_of(render_openmetrics(view))

    states = {labels["category"]: value for labels, value in samples["verdict"]}
    assert set(states) == set(Category)
    assert [category for category, value in states.items() if value] == [view["verdict"]["category"]]
    assert samples["failed"] == [({}, float(view["verdict"]["category"] != "none"))]
    assert samples["confidence_ratio"] == [({}, view["verdict"]["confidence"])]
    assert samples["read_lines"] == [({}, view["coverage"]["lines"])]
    roles = {labels["role"]: value for labels, value in samples["findings"]}
    assert sum(roles.values()) == len(view["findings"])
    assert ("culprit_info" in samples) == (view["verdict"]["culprit"]["rank"] is not None)


def test_the_text_ends_as_openmetrics_asks_and_says_when_the_scan_ended():
    text = render_openmetrics(view_of("lab/ds-overflow"), now=1_796_096_753.25)

    assert text.endswith("\nnccl_logscan_scan_timestamp_seconds 1796096753.25\n# EOF\n")


@pytest.mark.parametrize("name", ["sample_result", "unknown_result", "huge_result", "hostile_result"])
def test_any_result_is_read_and_bounded(name, request):
    text = render_openmetrics(build_view(request.getfixturevalue(name)))

    samples_of(text)
    assert len(text.splitlines()) < 500
    assert "\x1b" not in text
    assert "\r" not in text


def test_labels_are_escaped(sample_result):
    view = build_view(sample_result)
    view["verdict"]["culprit"] |= {"host": 'a"} 9\\\nnccl_logscan_failed 0', "adapter": None}
    samples = samples_of(render_openmetrics(view))

    assert samples["failed"] == [({}, 1.0)]
    assert samples["culprit_info"] == [({"rank": "11", "host": 'a"} 9\\^Jnccl_logscan_failed 0'}, 1.0)]
