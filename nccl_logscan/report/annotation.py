"""Workflow commands of a GitHub runner: a line each, whatever a log or a file holds."""

from __future__ import annotations

from collections.abc import Mapping

from nccl_logscan.report.visible import harmless_to_runners, visible


def annotation(command: str, properties: Mapping[str, str], message: str) -> str:
    """Return the command (`error`, `warning`, `notice`) with its properties and its message, which may have lines."""
    told = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
    return f"::{command} {told}::{_message(message)}"


def _message(text: str) -> str:
    lines = "\n".join(harmless_to_runners(visible(line)) for line in text.split("\n"))
    return lines.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(visible(text)).replace(":", "%3A").replace(",", "%2C")
