"""LogLine to Event: says what each line is."""

from nccl_logscan.events.model import EVENT_TYPES, Event
from nccl_logscan.events.tokenise import Tokeniser

__all__ = ["EVENT_TYPES", "Event", "Tokeniser"]
