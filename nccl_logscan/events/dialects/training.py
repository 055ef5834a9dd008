"""Training progress: a step with its numbers, and the line that says that the work is done.

A step is a counter and a loss (or another number that only a training loop prints), each behind its own name. Prose
that mentions a loss has no such pair.
"""

from __future__ import annotations

import re

from nccl_logscan.events.dialects.gated import Gated, first_match
from nccl_logscan.events.model import Event, TrainEnd, TrainStep
from nccl_logscan.lines.model import LogLine

# Expressions are searched in the text in lower case.
_VALUE = r"(?P<value>[-+]?(?:\d{1,20}(?:\.\d{0,20})?(?:e[-+]?\d{1,4})?|\.\d{1,20}|nan|inf(?:inity)?))(?!\w|\.\d|%)"
_IS = r"['\"]?\]?\s{0,3}(?:\[|:|=|is|\|)?\s{0,6}['\"]?(?:tensor\()?"
_COUNT = _IS + r"\[?\s{0,8}(?P<step>\d{1,12})(?!\w|\.\d|\()"

_LOSS = re.compile(
    r"loss(?<![a-z]loss)(?:[_/](?:step|epoch|avg|mean|total|train|train/total|value|ema|sum"
    r"|sync)){0,2}" + _IS + _VALUE
)
_GRAD_NORM = re.compile(
    r"(?:grad(?:ient)?[ _-]?norm|\bgnorm"
    r"|global[_ ](?:grad[_ ])?norm)(?:[_/]\w{1,12})?" + _IS + _VALUE
)
_LOSS_SCALE = re.compile(r"(?:loss[ _-]?scale|(?:^|[ ,|])(?:amp_|grad_)?scaler?(?:_scale)?)" + _IS + _VALUE)
_SKIPPED = re.compile(
    r"(?:number of skipped iterations|\bskipped(?:[_ ](?:steps|iters"
    r"|iterations))?)\s{0,3}[:=]\s{0,6}(?P<value>\d{1,12})"
)
_NAN_ITERATIONS = re.compile(r"number of nan iterations\s{0,3}[:=]\s{0,6}(?P<value>\d{1,12})")

# Most telling first: a fairseq line holds `epoch 001: 3575 / 6547` and `num_updates=3560`.
_STEPS: tuple[Gated, ...] = (
    ("n", re.compile(r"\bn(?:um)?_updates" + _COUNT)),
    ("step", re.compile(r"step(?<![a-z]step)s?(?:_(?:idx|num|id)| (?:number|no))?" + _COUNT)),
    ("iter", re.compile(r"iter(?<![a-z]iter)(?:ations?|s)?(?:_(?:idx|num|id)| (?:number|no)|\(train\))?" + _COUNT)),
    ("itr", re.compile(r"\bitr" + _COUNT)),
    ("batch", re.compile(r"batch(?<![a-z]batch)(?:_(?:idx|num|id)| (?:number|no))?" + _COUNT)),
    ("update", re.compile(r"\bupdate" + _COUNT)),
    (
        "epoch",
        re.compile(
            r"epoch(?:\(train\))?:?\s{0,4}\[\s{0,6}\d{1,8}(?:/\d{1,8})?\]\s{0,6}\[\s{0,8}"
            r"(?P<step>\d{1,12})\s{0,4}/"
        ),
    ),
    ("epoch", re.compile(r"epoch:?\s{0,4}\d{1,8}(?:/\d{1,8})?:?\s{1,8}\[?\s{0,8}(?P<step>\d{1,12})\s?/")),
    ("epoch:train:", re.compile(r"epoch:train:\d{1,12}-(?P<step>\d{1,12})batch:")),
    ("<", re.compile(r"(?:^|\s|\|)(?P<step>\d{1,12})/\d{1,12} \[[\d:]{1,12}<")),
    (" [", re.compile(r"^\s{0,8}(?P<step>\d{1,12})/\d{1,12} \[[=>.]")),
    ("ep", re.compile(r"\bep(?:och)?(?:\s{0,3}[:=#]?\s{0,3}\[?)\s{0,6}(?P<step>\d{1,8})\b")),
)
# Lines of these shapes are a training loop's without any loss in them.
_WITHOUT_LOSS: tuple[Gated, ...] = (
    (", skipped=", re.compile(r"\bstep=(?P<step>\d{1,12}), skipped=\d")),  # DeepSpeed's engine
    ("consumed samples:", re.compile(r"\biteration +(?P<step>\d{1,12})/ *\d{1,12} \| consumed samples:")),  # Megatron
    (
        "train_time:",
        re.compile(
            r"\bstep:(?P<step>\d{1,12})(?:/\d{1,12})? (?:val_loss:\S{1,20}"
            r" )?train_time:"
        ),
    ),  # nanoGPT's heirs
    (" - ", re.compile(r"\bstep:(?P<step>\d{1,12}) - [\w/]{1,60}:")),  # verl
    ("train, step ", re.compile(r"^ep \d{1,8} train, step (?P<step>\d{1,12}), ")),  # RETURNN
    (
        "%|",
        re.compile(
            r"^(?:train|epoch|training|steps)\b[^|]{0,60}\|[^"
            r"|]{0,400}\| ?(?P<step>\d{1,12})/\d{1,12} \[[\d:]{1,12}<"
        ),
    ),
    ("completed step: ", re.compile(r"\bcompleted step: (?P<step>\d{1,12}), seconds:")),  # MaxText
)
_HF_LOSS = re.compile(r"\{'loss': '?" + _VALUE)

_TAIL = r"(?:[.!] |[.! ]{0,6}(?:$|successfully|in \d|after \d|at \d|total|time|took|with exit code 0|saving|[(:,-]))"
_END = re.compile(
    r"(?:^\W{0,12}|[-|:>\]] )(?:the |model )?train(?:ing)? (?:run )?(?:is |has |was )?(?:now )?"
    rf"(?:complete|completed|finished|done|ended){_TAIL}"
    rf"|^\W{{0,12}}(?:finished|completed|done) training{_TAIL}"
    r"|^\*{3,8} train metrics \*{3,8}"
    r"|\{'train_runtime':"
    r"|\[after training is done\]"
    r"|^\s{0,8}# (?:Avg bus bandwidth\s{1,8}:|Out of bounds values\s{1,4}: 0 OK|Collective test concluded)"
    r"|`Trainer\.fit` stopped: `max_(?:steps|epochs|time)"
    r"|^rank \d{1,6}: \d{1,9} \S{1,24} done$"
    r"|\bFinal validation metrics: "
    r"|^(?:\W{0,12}|.{0,40} - )(?:total )?training time:? {0,4}\d"
    r"|\bexit(?:ed)?(?: with)?(?: code| status):? 0(?!\S)"
    r"|^\s{0,8}--- PASS: |^PASS$"
    r"|^(?-i:DONE)\b[ -]{0,8}(?:rank \d{1,6})?$"
    r"|\bTraining completed\. Do not forget to share your model",
    re.IGNORECASE,
)


# What each way of saying so holds, so that other lines cost no search.
_END_LITERALS = ("rain", "done", "DONE", "# ", "Final", "PASS", "exit")


def read(line: LogLine) -> Event | None:
    """Return a step of training or its end; None for any other line."""
    text = line.text
    if "train_runtime" in text:
        return _end(line)
    if "oss" in text or "step" in text or "iteration" in text or "LOSS" in text or "%|" in text:
        step = _step(line, text.lower())
        if step is not None:
            return step
    return _end(line)


def _step(line: LogLine, text: str) -> TrainStep | None:
    if match := first_match(_WITHOUT_LOSS, text):
        return _measured(line, text, int(match["step"]), _number(_LOSS, text))
    if "{'loss'" in text and (match := _HF_LOSS.search(text)):
        return _measured(line, text, _counter(text), float(match["value"]))
    if "{'eval_" in text:
        return _measured(line, text, _counter(text), None)
    loss = _number(_LOSS, text)
    if loss is None:
        return None
    step = _counter(text)
    return _measured(line, text, step, loss) if step is not None else None


def _measured(line: LogLine, text: str, step: int | None, loss: float | None) -> TrainStep:
    skipped = _SKIPPED.search(text) if "skipped" in text else None
    nan_iterations = _NAN_ITERATIONS.search(text) if "nan iter" in text else None
    return TrainStep(
        at=line.at,
        origin=line.origin,
        when=line.when,
        message=line.text,
        repeated=line.repeated,
        step=step,
        loss=loss,
        grad_norm=_number(_GRAD_NORM, text) if "norm" in text else None,
        loss_scale=_number(_LOSS_SCALE, text) if "scale" in text else None,
        skipped=int(skipped["value"]) if skipped else None,
        nan_iterations=int(nan_iterations["value"]) if nan_iterations else None,
    )


def _number(expression: re.Pattern[str], text: str) -> float | None:
    match = expression.search(text)
    return float(match["value"]) if match else None


def _counter(text: str) -> int | None:
    match = first_match(_STEPS, text)
    return int(match["step"]) if match else None


def _end(line: LogLine) -> TrainEnd | None:
    text = line.text
    if not any(literal in text for literal in _END_LITERALS):
        return None
    if _END.search(text) is None:
        return None
    return TrainEnd(at=line.at, origin=line.origin, when=line.when, message=text, repeated=line.repeated)
