"""Training progress: a step with its numbers, and the line that says that the work is done.

A step is a counter and a loss (or another number that only a training loop prints), each behind its own name. Prose
that mentions a loss has no such pair.
"""

from __future__ import annotations

import re

from nccl_logscan.events.model import Event, TrainEnd, TrainStep, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.lines.model import LogLine

# Expressions are searched in the text in lower case.
_VALUE = r"(?P<value>[-+]?(?:\d{1,20}(?:\.\d{0,20})?(?:e[-+]?\d{1,4})?|\.\d{1,20}|nan|inf(?:inity)?))(?!\w|\.\d|%)"
_IS = r"['\"]?\]?\s{0,3}(?:\[|:|=|is|\|)?\s{0,6}['\"]?(?:tensor\()?"
_COUNT = _IS + r"\[?\s{0,8}(?P<step>\d{1,12})(?!\w|\.\d|\()"

_LOSS = deferred(
    r"loss(?<![a-z]loss)(?:[_/](?:step|epoch|avg|mean|total|train|train/total|value|ema|sum"
    r"|sync)){0,2}" + _IS + _VALUE
)
_GRAD_NORM = deferred(
    r"(?:grad(?:ient)?[ _-]?norm|\bgnorm"
    r"|global[_ ](?:grad[_ ])?norm)(?:[_/]\w{1,12})?" + _IS + _VALUE
)
_LOSS_SCALE = deferred(r"(?:loss[ _-]?scale|(?:^|[ ,|])(?:amp_|grad_)?scaler?(?:_scale)?)" + _IS + _VALUE)
_SKIPPED = deferred(
    r"(?:number of (?P<lately>skipped iterations)|\bskipped(?:[_ ](?:steps|iters"
    r"|iterations))?)\s{0,3}[:=]\s{0,6}(?P<value>\d{1,12})"
)
_NAN_ITERATIONS = deferred(r"number of nan iterations\s{0,3}[:=]\s{0,6}(?P<value>\d{1,12})")

# Most telling first: a fairseq line holds `epoch 001: 3575 / 6547` and `num_updates=3560`.
_STEPS = Gate(
    deferred(r"\bn(?:um)?_updates" + _COUNT),
    deferred(r"step(?<![a-z]step)s?(?:_(?:idx|num|id)| (?:number|no))?" + _COUNT),
    deferred(r"iter(?<![a-z]iter)(?:ations?|s)?(?:_(?:idx|num|id)| (?:number|no)|\(train\))?" + _COUNT),
    deferred(r"\bitr" + _COUNT),
    deferred(r"batch(?<![a-z]batch)(?:_(?:idx|num|id)| (?:number|no))?" + _COUNT),
    deferred(r"\bupdate" + _COUNT),
    deferred(r"epoch(?:\(train\))?:?\s{0,4}\[\s{0,6}\d{1,8}(?:/\d{1,8})?\]\s{0,6}\[\s{0,8}(?P<step>\d{1,12})\s{0,4}/"),
    deferred(r"epoch:?\s{0,4}\d{1,8}(?:/\d{1,8})?:?\s{1,8}\[?\s{0,8}(?P<step>\d{1,12})\s?/"),
    deferred(r"epoch:train:\d{1,12}-(?P<step>\d{1,12})batch:"),
    deferred(r"(?:^|\s|\|)(?P<step>\d{1,12})/\d{1,12} \[[\d:]{1,12}<"),
    deferred(r"^\s{0,8}(?P<step>\d{1,12})/\d{1,12} \[[=>.]"),
    deferred(r"\bep(?:och)?(?:\s{0,3}[:=#]?\s{0,3}\[?)\s{0,6}(?P<step>\d{1,8})\b"),
)
# Lines of these shapes are a training loop's without any loss in them.
_WITHOUT_LOSS = (
    deferred(r"\bstep=(?P<step>\d{1,12}), skipped=\d"),  # DeepSpeed's engine
    deferred(r"\biteration +(?P<step>\d{1,12})/ *\d{1,12} \| consumed samples:"),  # Megatron
    deferred(r"\bstep:(?P<step>\d{1,12})(?:/\d{1,12})? (?:val_loss:\S{1,20} )?train_time:"),  # nanoGPT's heirs
    deferred(r"step:(?<!\wstep:)(?P<step>\d{1,12}) - [\w/]{1,60}:"),  # verl
    deferred(r"^ep \d{1,8} train, step (?P<step>\d{1,12}), "),  # RETURNN
    deferred(r"\bcompleted step: (?P<step>\d{1,12}), seconds:"),  # MaxText
)
_BAR = deferred(
    r"(?:train|epoch|training|steps)\b[^|]{0,60}%\|[^|]{0,400}\| ?(?P<step>\d{1,12})/\d{1,12} \[[\d:]{1,12}<"
)  # tqdm's, from the start of a line
_HF_LOSS = deferred(r"\{'loss': '?" + _VALUE)
_HF_EVALUATION = "{'eval_"

_TAIL = r"(?:[.!] |[.! ]{0,6}(?:$|successfully|in \d|after \d|at \d|total|time|took|with exit code 0|saving|[(:,=*#-]))"
_END = deferred(
    r"(?:^\W{0,12}|[-|:>\]] )(?:the |model )?train(?:ing)? (?:run )?(?:is |has |was )?(?:now )?"
    rf"(?:complete|completed|finished|done|ended){_TAIL}"
    rf"|^\W{{0,12}}(?:finished|completed|done) training{_TAIL}"
    r"|^\*{3,8} train metrics \*{3,8}"
    r"|\{'train_runtime':"
    r"|\[after training is done\]"
    r"|^\s{0,8}# Out of bounds values\s{1,4}: 0 OK"
    r"|`Trainer\.fit` stopped: `max_(?:steps|epochs|time)"
    r"|^rank \d{1,6}: \d{1,9} \S{1,24} done$"
    r"|\bFinal validation metrics: "
    r"|^(?:\W{0,12}|.{0,40} - )(?:total )?training time:? {0,4}\d"
    r"|(?P<exit_code>\bexit(?:ed)?(?: with)?(?: code| status):? 0(?!\S))"
    r"|^\s{0,8}--- PASS: |^PASS$"
    r"|^(?-i:DONE)\b[ -]{0,8}(?:rank \d{1,6})?$"
    r"|\bworker group successfully finished\b"
    r"|^INFO:\s{1,8}Application shutdown complete\.$|^Application shutdown complete\.$"
    r"|\bTraining completed\. Do not forget to share your model",
    re.IGNORECASE,
)
_TOLD_WITHOUT_LOSS = Gate(*_WITHOUT_LOSS)
_HF_LOSSES = Gate(_HF_LOSS)
FIRST_GATE = Gate(_LOSS, deferred(re.escape(_HF_EVALUATION)), *_WITHOUT_LOSS, _BAR, _END)


def read(line: LogLine) -> Event | None:
    """Return a step of training or its end; None for any other line."""
    text = line.text
    # A step's line nearly always holds the word: it needs no look for the others.
    if "loss" not in text and not FIRST_GATE.admits(text):
        return None
    if "train_runtime" not in text and (step := _step(line, text.lower())):
        return step
    return _end(line)


def _step(line: LogLine, text: str) -> TrainStep | None:
    if match := _BAR.match(text) or _TOLD_WITHOUT_LOSS.search(text):
        return _measured(line, text, int(match["step"]), _number(_LOSS, text))
    if match := _HF_LOSSES.search(text):
        return _measured(line, text, _counter(text), float(match["value"]))
    if _HF_EVALUATION in text:
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
        **told_by(line),
        step=step,
        loss=loss,
        grad_norm=_number(_GRAD_NORM, text) if "norm" in text else None,
        loss_scale=_number(_LOSS_SCALE, text) if "scale" in text else None,
        skipped=int(skipped["value"]) if skipped and not skipped["lately"] else None,
        skipped_lately=int(skipped["value"]) if skipped and skipped["lately"] else None,
        nan_iterations=int(nan_iterations["value"]) if nan_iterations else None,
    )


def _number(expression: re.Pattern[str], text: str) -> float | None:
    match = expression.search(text)
    return float(match["value"]) if match else None


def _counter(text: str) -> int | None:
    match = _STEPS.search(text)
    return int(match["step"]) if match else None


def _end(line: LogLine) -> TrainEnd | None:
    text = line.text
    match = _END.search(text)
    if match is None:
        return None
    return TrainEnd(
        **told_by(line, text),
        by_exit_code=match["exit_code"] is not None,
    )
