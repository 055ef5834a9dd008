"""Peel texts as one source would give them."""

from nccl_logscan.lines import LogLine, peel_lines
from nccl_logscan.position import Position
from nccl_logscan.sources import RawLine


def peel_texts(*texts: str) -> list[LogLine]:
    return list(peel_lines(RawLine(Position("train.log", number, 0), text) for number, text in enumerate(texts, 1)))
