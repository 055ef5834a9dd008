"""The shipped model: data and nothing else, quick, and the same as scikit-learn's arithmetic."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from zlib import crc32

import pytest

from nccl_logscan.classifier.data import shipped_messages
from nccl_logscan.classifier.features import terms
from nccl_logscan.classifier.model import SHIPPED, ModelError, read_model, shipped_model
from nccl_logscan.classifier.score import probabilities, suggest
from nccl_logscan.events.mask import template
from nccl_logscan.taxonomy import Category


def test_terms_are_words_and_pairs_without_numbers():
    masked = template("Call to ibv_modify_qp failed with error 110 to 10.0.0.3")
    found = terms(masked)
    assert {"ibv_modify_qp", "failed", "<n>", "ibv_modify_qp failed"} <= set(found)
    assert not any(any(character.isdigit() for character in term) for term in found)
    assert found == list(dict.fromkeys(found))


@pytest.mark.parametrize(
    ("message", "category"),
    [
        ("CUDA out of memory. Tried to allocate 2.00 GiB", Category.GPU_OOM),
        ("Current loss scale already at minimum, cannot decrease it any further", Category.MIXED_PRECISION_OVERFLOW),
        ("NET/IB : mlx5_0:1 Got async event : port error", Category.INFINIBAND),
        ("GPU has fallen off the bus, NVLink error, uncorrectable ECC", Category.GPU_HARDWARE),
    ],
)
def test_what_every_reader_would_say(message, category):
    told = suggest(shipped_model(), template(message))
    assert told is not None
    assert told.category is category
    assert 0 < told.probability <= 1
    assert told.words


@pytest.mark.parametrize(
    "message",
    [
        "",
        "zxqv wobbly flimflam gribble",
        "数学 学习 привет мир",
        "<n> <n> <n>",
        "lorem ipsum dolor sit amet consectetur",
    ],
)
def test_words_that_it_does_not_know_are_no_answer(message):
    assert suggest(shipped_model(), template(message)) is None


def test_probabilities_sum_to_one():
    for message in shipped_messages()[::50]:
        assert sum(probabilities(shipped_model(), message.template)) == pytest.approx(1.0, abs=1e-12)


def test_it_is_what_scikit_learn_says():
    sklearn_text = pytest.importorskip("sklearn.feature_extraction.text")
    linear = pytest.importorskip("sklearn.linear_model")
    np = pytest.importorskip("numpy")
    model = shipped_model()
    names = sorted(model.rows)
    rows = [model.rows.get(name) for name in names]
    vectorizer = sklearn_text.TfidfVectorizer(analyzer=terms, binary=True, vocabulary=names, norm=None)
    weights = np.sqrt([row.weight for row in rows])
    vectorizer.idf_ = weights
    regression = linear.LogisticRegression()
    regression.classes_ = np.array([category.value for category in model.categories])
    regression.coef_ = (np.array([row.coefficients for row in rows]) / weights[:, None]).T
    regression.intercept_ = np.array(model.intercepts)
    templates = [message.template for message in shipped_messages()[::7]]
    told = vectorizer.transform(templates).toarray()
    foreign = np.array([len(set(terms(text)) - set(names)) for text in templates]) * model.foreign_weight
    wanted = regression.predict_proba(told / np.sqrt((told**2).sum(axis=1) + foreign)[:, None])
    for text, row in zip(templates, wanted, strict=True):
        assert probabilities(model, text) == pytest.approx(row, abs=1e-9)


def test_a_message_costs_little():
    model, texts = shipped_model(), [message.template for message in shipped_messages()][:500]
    best = min(_seconds(model, texts) for _ in range(5))
    assert best / len(texts) < 10 * 60e-6  # on a busy machine; the figure itself stands in MODEL.md


def _seconds(model, texts):
    started = time.process_time()
    for text in texts:
        suggest(model, text)
    return time.process_time() - started


def test_a_scan_that_asks_it_imports_no_scikit_learn(tmp_path):
    log = tmp_path / "job.log"
    log.write_text(
        "vm:1:2 [0] NCCL INFO Bootstrap : Using eth0\nvm:1:2 [0] x.cc:9 NCCL WARN Quantum flux is inverted\n"
    )
    program = (
        "import sys; from nccl_logscan import scan; from nccl_logscan.report.view import build_view\n"
        f"view = build_view(scan([{str(log)!r}]))\n"
        "print(view['tool']['model_digest'] is not None, 'sklearn' in sys.modules, 'numpy' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["True", "False", "False"]


def spoilt(tmp_path, spoil):
    """A model of the shipped one's first lines, changed, with the sum that belongs to its rows."""
    head, first, *_ = map(json.loads, SHIPPED.read_text("utf-8").splitlines())
    changed, *rows = spoil(head, first)
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    if isinstance(changed, dict):
        changed |= {"rows_crc32": crc32(text.encode())}
    path = tmp_path / "model.jsonl"
    path.write_text(f"{json.dumps(changed)}\n{text}", "utf-8")
    return path


@pytest.mark.parametrize(
    "spoil",
    [
        lambda head, row: [head | {"format": "another"}, row],
        lambda head, row: [{name: head[name] for name in head if name != "thresholds"}, row],
        lambda head, row: [head | {"categories": ["nonsense"]}, row],
        lambda head, row: [head | {"categories": [head["categories"][0]] * len(head["categories"])}, row],
        lambda head, row: [head | {"categories": ["unknown", *head["categories"][1:]]}, row],
        lambda head, row: [head | {"thresholds": [0.5]}, row],
        lambda head, row: [head | {"thresholds": [float("nan")] * len(head["thresholds"])}, row],
        lambda head, row: [head | {"thresholds": [2.0] * len(head["thresholds"])}, row],
        lambda head, row: [head | {"intercepts": "1" * len(head["intercepts"])}, row],
        lambda head, row: [head | {"foreign_weight": -1.0}, row],
        lambda head, row: [head | {"foreign_weight": 10**400}, row],
        lambda head, row: [[head], row],
        lambda *_: ["nonsense"],
    ],
)
def test_what_is_no_model_is_refused(spoil, tmp_path):
    path = spoilt(tmp_path, spoil)
    with pytest.raises(ModelError, match=r"model\.jsonl is no model") as raised:
        read_model(path)
    assert "train" in raised.value.hint


@pytest.mark.parametrize("text", [b"", b"[" * 100_000, b"\xff\xfe", b"\0" * 10])
def test_what_is_no_json_is_no_model(text, tmp_path):
    path = tmp_path / "model.jsonl"
    path.write_bytes(text)
    with pytest.raises(ModelError, match="is no model"):
        read_model(path)


def test_half_a_model_is_refused(tmp_path):
    path = tmp_path / "model.jsonl"
    path.write_bytes(SHIPPED.read_bytes()[:50_000])
    with pytest.raises(ModelError, match="cut off, or changed"):
        read_model(path)


@pytest.mark.parametrize(
    "row",
    [["failed", 1.0], ["failed", "much"], ["failed", 1.0, "x"], ["failed"], ["failed", -1.0, *[0.0] * 18]]
    + [["failed", number, *[0.0] * 18] for number in (float("nan"), float("inf"), 1e300)],
)
def test_a_row_that_is_none_is_refused_when_it_is_asked_for(row, tmp_path):
    model = read_model(spoilt(tmp_path, lambda head, _: [head, row]))
    with pytest.raises(ModelError, match="the row of 'failed'"):
        suggest(model, "failed")


def test_a_pickle_is_no_model(tmp_path):
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps({"format": "nccl-logscan model 1"}))
    with pytest.raises(ModelError, match="is no model"):
        read_model(path)


def test_a_model_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModelError, match="could not be read"):
        read_model(tmp_path / "none.json")


def test_a_scan_that_has_nothing_to_ask_loads_none_of_it(tmp_path):
    log = tmp_path / "job.log"
    log.write_text("vm:1:2 [0] NCCL INFO Bootstrap : Using eth0\nRuntimeError: CUDA out of memory. Tried to allocate\n")
    program = (
        "import sys; from nccl_logscan.cli import main\n"
        f"main([{str(log)!r}, '-q', '-o', {str(tmp_path / 'report.html')!r}])\n"
        "print(any(name.startswith('nccl_logscan.classifier') for name in sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["False"]
