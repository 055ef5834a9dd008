"""Which frameworks and launchers a log shows at work: their own events, module paths, logger names and commands."""

from __future__ import annotations

from functools import cache

from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.events.model import Event, LogText, LossScale, ProcessExit, PythonException
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate

_TEXTS = 50_000
"""Of how many lines and exceptions the words are looked at: what runs a job shows early, and in its tracebacks."""

_BY_EVENT = {
    "ray.event": "ray",
    "slurm.event": "slurm",
    "kubernetes.event": "kubernetes",
    "mpi.event": "openmpi",
    "horovod.event": "horovod",
    "jax.event": "jax/xla",
}
FRAMEWORK_KINDS = frozenset({*_BY_EVENT, "scaler.overflow", "python.exception", "process.exit", "log.text"})
"""The kinds of events that may show a framework."""
_BY_SCALER = {"deepspeed": "deepspeed", "megatron": "megatron-lm", "apex": "apex", "fairseq": "fairseq"}

# What only the program itself writes: a module's path or dotted name, its logger, its command. The bare word does not
# count, since a requirement's list, a folder's name or a message may hold it. The names are the catalogue's.
_WORDS = {
    "verl": r"\bverl[./](?:trainer|workers|utils|single_controller|experimental)\b|\bactor_rollout_ref\.",
    "openrlhf": r"\bopenrlhf[./](?:cli|trainer|models|utils)\b",
    "nemo-rl": r"\bnemo_rl[./](?:algorithms|models|distributed)\b",
    "nemo": r"\bnemo[./](?:collections|lightning|core|utils)\b|\[NeMo [IWE] \d{4}-",
    "llama-factory": r"\bllamafactory[./-](?:cli|train|hparams|launcher|model)\b|\bllmtuner[./]",
    "axolotl": r"\baxolotl[./](?:cli|train|utils|core)\b",
    "ms-swift": r"\bswift[./](?:cli|llm|trainers)\b",
    "trl": r"\btrl[./](?:trainer|scripts|cli)\b",
    "torchtitan": r"\btorchtitan[./](?:train|distributed|components|config|models)\b",
    "megatron-lm": r"\bmegatron[./](?:core|training|legacy|initialize|model|checkpointing|optimizer)\b",
    "lightning": r"\b(?:pytorch_lightning|lightning[./](?:pytorch|fabric))\b",
    "transformers": r"\btransformers[./](?:trainer|training_args|models|modeling_utils)\b|\[INFO\|trainer\.py:"
    # The banner of its Trainer, whose logger's prefix is peeled off before.
    r"|\bInstantaneous batch size per device = ",
    "accelerate": r"\baccelerate[./](?:accelerator|state|commands|utils|launchers|data_loader|checkpointing)\b"
    r"|\baccelerate launch\b",
    "deepspeed": r"\bdeepspeed[./](?:runtime|launcher|comm|utils|ops|inference|accelerator)\b"
    r"|\bDeepSpeed info: version=|\bDeepSpeed Final Optimizer\b|\bSetting ds_accelerator to\b",
    "vllm": r"\bvllm[./](?:engine|worker|executor|v1|entrypoints|distributed|model_executor)\b",
    "sglang": r"\bsglang[./](?:srt|launch_server)\b",
    "colossal-ai": r"\bcolossalai[./](?:booster|zero|initialize|nn|shardformer)\b",
    "slurm": r"\bslurmstepd: |\bsrun: (?:error|job|Job)",
    "kubernetes": r"\bOOMKilled\b|\bkubelet\b|\bkubectl\b",
    "docker": r"\bdocker: Error|\bdocker run\b",
    "pytorch": r"\btorch[./](?:distributed|nn|cuda|utils)\b|\btorchrun\b",
}
_BY_ACTOR = {
    "VllmWorkerProcess": "vllm",
    "EngineCore": "vllm",
    "RayWorkerWrapper": "vllm",
    "RayWorkerVllm": "vllm",
    "WorkerDict": "verl",
}
"""The names under which workers put out their lines: vllm/executor, vllm/v1/engine; verl/single_controller/ray."""
_EXPRESSIONS = {deferred(words): name for name, words in _WORDS.items()}


@cache
def _any_words() -> Gate:
    return Gate(*_EXPRESSIONS)


class Frameworks:
    """Collects the frameworks that events show."""

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}
        self._left = _TEXTS
        self._missing = dict(_EXPRESSIONS)
        self._gate = Gate(*self._missing)

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: words that show a framework, whatever is known already."""
        return Heed.WORDS if isinstance(event, LogText) and _any_words().admits(event.message) else Heed.SAYER

    def feed(self, event: Event) -> None:
        """Note whose event it is, or whose words and paths it holds."""
        self._note(_BY_ACTOR.get((event.origin.actor or "").partition("_")[0]))
        if name := _BY_EVENT.get(event.kind):
            self._seen[name] = None
        elif isinstance(event, LossScale):
            self._note(_BY_SCALER.get(event.framework))
        elif isinstance(event, PythonException):
            self._read(f"{event.file or ''} {event.user_file or ''} {event.exception} {event.text[:1_000]}")
        elif isinstance(event, LogText | ProcessExit) and len(event.message) <= 4_096:
            self._read(event.message)

    def _note(self, name: str | None) -> None:
        if name is not None:
            self._seen[name] = None

    def _read(self, text: str) -> None:
        if self._left <= 0 or not self._missing:
            return
        self._left -= 1
        if not self._gate.admits(text):
            return
        found = [expression for expression in self._missing if expression.search(text)]
        for expression in found:
            self._seen[self._missing.pop(expression)] = None
        if found and self._missing:
            self._gate = Gate(*self._missing)

    def conclude(self) -> tuple[str, ...]:
        """Return their names, by the alphabet."""
        return tuple(sorted(self._seen))
