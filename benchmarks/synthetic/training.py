"""What the rest of a training job's log holds: steps, rollouts, samples, data, checkpoints, warnings and caught errors.

The job trains with reinforcement learning: torchrun under `srun --label` starts the trainers, Ray and vLLM make the
rollouts, and all of them write into one log. Lines are shaped as in the lab's logs and in public reports.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from benchmarks.synthetic.job import GPUS, Job, Rank
from benchmarks.synthetic.slots import Block, block

_BLOCK = 1 << 18
_METRICS = (
    *(f"global_seqlen/{name}" for name in ("min", "max", "minmax_diff", "balanced_min", "balanced_max", "mean")),
    *(f"actor/{name}" for name in ("entropy", "kl_loss", "kl_coef", "pg_loss", "pg_clipfrac", "ppo_kl", "grad_norm")),
    *(
        f"critic/{name}/{how}"
        for name in ("score", "rewards", "advantages", "returns", "values")
        for how in ("mean", "max", "min")
    ),
    *(f"{name}_length/{how}" for name in ("response", "prompt") for how in ("mean", "max", "min", "clip_ratio")),
    *(
        f"{unit}/{name}"
        for unit in ("timing_s", "timing_per_token_ms")
        for name in ("gen", "reward", "old_log_prob", "ref", "values", "adv", "update_critic", "update_actor", "step")
    ),
    *(f"perf/{name}" for name in ("mfu/actor", "max_memory_allocated_gb", "max_memory_reserved_gb", "cpu_memory_used")),
    *(f"val-core/{name}/acc/mean@{n}" for name in ("aime24", "math500", "gpqa", "gsm8k") for n in (1, 8, 16, 32)),
)
Paragraph = Callable[[random.Random, Job], list[str]]


def blocks(chance: random.Random, job: Job, how_many: int, size: int = _BLOCK) -> list[Block]:
    """Different blocks of about `size` bytes, to be filled again and again."""
    paragraphs = [paragraph for paragraph, _ in _PARAGRAPHS]
    weights = [weight for _, weight in _PARAGRAPHS]
    made = []
    for _ in range(how_many):
        lines: list[str] = []
        length = 0
        while length < size:
            paragraph = chance.choices(paragraphs, weights)[0](chance, job)
            lines += paragraph
            length += sum(map(len, paragraph))
        made.append(block(lines))
    return made


def calm_step(job: Job) -> Block:
    """A step of all ranks, with nothing beside it."""
    return block(
        line for first in range(0, len(job.ranks), GPUS) for line in _step_of(job, job.ranks[first : first + GPUS])
    )


def _ray(rank: Rank, *, name: str = "WorkerDict", colour: bool = False) -> str:
    tag = f"({name} pid={rank.pid + 100_000}, ip={rank.address})"
    return f"\x1b[36m{tag}\x1b[0m " if colour else f"{tag} "


def _one_host(chance: random.Random, job: Job) -> list[Rank]:
    node = chance.randrange(job.nodes)
    return job.ranks[GPUS * node : GPUS * node + GPUS]


def _steps(chance: random.Random, job: Job) -> list[str]:
    return _step_of(job, _one_host(chance, job))


def _step_of(job: Job, ranks: list[Rank]) -> list[str]:
    return [
        f"{job.prefix(rank)}{{py}} | rank{rank.number} | INFO | trainer:125 - step: {{step}}/{{steps}} loss={{f5}} "
        f"grad_norm={{f3}} lr=3.0e-05 time={{f3}}s data={{f3}}s mem={{gib}}GiB/79.11GiB\n"
        for rank in ranks
    ]


def _throughput(chance: random.Random, job: Job) -> list[str]:
    return [
        f"{job.prefix(rank)}[{{day}}] [rank {rank.number}] step {{step}} | {{i5}} tokens/s/gpu | TFLOPS {{f2}} | "
        f"fwd {{ms}} ms "
        f"| bwd {{ms}} ms | optimizer {{ms}} ms | grad sync {{ms}} ms | peak {{gib}} GiB | retries 0\n"
        for rank in _one_host(chance, job)
    ]


def _megatron(chance: random.Random, job: Job) -> list[str]:
    last = job.ranks[-1]
    line = (
        f"{job.prefix(last)} [{{day}}] iteration {{step}}/  {{steps}} | consumed samples: {{samples}} | elapsed "
        "time per "
        "iteration (ms): {ms} | throughput per GPU (TFLOP/s/GPU): {f2} | learning rate: {sci} | global batch size:  "
        "1024 | lm loss: {sci} | load_balancing_loss: {sci} | loss scale: 1.0 | grad norm: {f3} | number of skipped "
        "iterations:   0 | number of nan iterations:   0 |\n"
    )
    timers = [
        f"{job.prefix(last)}    {name} {'.' * (44 - len(name))}: ({{ms}}, {{ms}})\n"
        for name in ("forward-backward", "forward-compute", "backward-compute", "all-grads-sync", "optimizer")
    ]
    return (
        [line, f"{job.prefix(last)}(min, max) time across ranks (ms):\n", *timers] if chance.random() < 0.3 else [line]
    )


def _deepspeed(chance: random.Random, job: Job) -> list[str]:
    first = job.prefix(job.ranks[0])
    return [
        (
            f"{first}[{{py}}] [INFO] [logging.py:107:log_dist] [Rank 0] step={{step}}, skipped=0, lr=[{{sci}}, "
            f"{{sci}}], "
            "mom=[[0.9, 0.95], [0.9, 0.95]]\n"
        ),
        (
            f"{first}[{{py}}] [INFO] [timer.py:264:stop] epoch=0/micro_step={{step}}/global_step={{step}}, "
            "RunningAvgSamplesPerSec={f16}, CurrSamplesPerSec={f16}, MemAllocated={gib}GB, MaxMemAllocated={gib}GB\n"
        ),
        (
            f"{first}[{{py}}] [INFO] [utils.py:782:see_memory_usage] MA {{gib}} GB         Max_MA {{gib}} GB      "
            "   CA "
            "{gib} GB         Max_CA {i2} GB\n"
        ),
    ][: chance.randint(1, 3)]


def _workers(chance: random.Random, job: Job) -> list[str]:
    rank, colour = chance.choice(job.ranks), chance.random() < 0.6
    prefix = _ray(rank, colour=colour)
    repeated = "\x1b[32m [repeated 7x across cluster]\x1b[0m" if colour else " [repeated 7x across cluster]"
    return [
        (
            f"{prefix}INFO:{{py}}:Before generate_sequences, memory allocated (GB): {{gib}}, memory reserved "
            f"(GB): {{gib}}, "
            "device memory used/total (GB): {gib}/79.11\n"
        ),
        (
            f"{prefix}INFO:{{py}}:After building sharding manager, memory allocated (GB): {{gib}}, memory "
            "reserved (GB): "
            f"{{gib}}, device memory used/total (GB): {{gib}}/79.11{repeated}\n"
        ),
        (
            f"{prefix}Actor of the policy: seqlen {{i4}}, entropy {{f5}}, kl {{f5}}, clip fraction "
            f"{{f3}}, "
            f"pg loss {{f5}}, grad norm {{f3}}{repeated}\n"
        ),
        (
            f"{prefix}[Rank {rank.number}] rollout {{hex12}}: {{i3}} sequences, {{i7}} tokens, {{f2}} s, longest "
            f"{{i4}}, "
            "stopped by length {i2}, reward mean {f3}\n"
        ),
    ][: chance.randint(2, 4)]


def _metrics(chance: random.Random, job: Job) -> list[str]:
    driver = f"(TaskRunner pid={job.ranks[0].pid + 99_000}) "
    if chance.random() < 0.6:
        driver = f"\x1b[36m{driver[:-1]}\x1b[0m "
    return [driver + "step:{step} - " + " - ".join(f"{name}:{{f16}}" for name in _METRICS) + "\n"]


def _vllm(chance: random.Random, job: Job) -> list[str]:
    rank = chance.choice(job.ranks)
    engine = f"(EngineCore_DP{rank.node} pid={rank.pid + 50_000}) INFO {{vllm}} "
    return [
        (
            f"{engine}[loggers.py:236] Engine {rank.node:03d}: Avg prompt throughput: {{ms}} tokens/s, Avg generation "
            "throughput: {ms} tokens/s, Running: {i2} reqs, Waiting: {i2} reqs, GPU KV cache usage: {f2}%, "
            "Prefix cache hit "
            "rate: {f2}%\n"
        ),
        f"{engine}[block_pool.py:378] Successfully reset prefix cache\n",
        (
            f'{_ray(rank, name="vLLMHttpServer")}INFO:     {rank.address}:{{i5}} - "POST /v1/completions HTTP/1.1" '
            "200 OK\n"
        ),
        f"{_ray(rank, name='vLLMHttpServer')}INFO {{vllm}} [async_llm.py:273] Added request {{hex12}}-{{i5}}.\n",
    ][: chance.randint(1, 4)]


def _bars(chance: random.Random, job: Job) -> list[str]:
    rank = chance.choice(job.ranks)
    name = chance.choice(("Rollout", "Loading checkpoint shards", "Processed prompts", "Train", "Eval"))
    if name == "Train":
        bar = "Train: {percent}|{bar}| {step}/{steps} [{i2}:{i2}:{i2}<1{i2}:{i2}:{i2}, {f2}s/it, loss={f5}, lr=3e-5]"
    else:
        bar = f"{name}: {{i2}}%|{{bar}}| {{i3}}/{{i4}} [{{i2}}:{{i2}}<1:{{i2}}:{{i2}}, {{f2}}it/s]"
    if chance.random() < 0.5:
        return [f"{job.prefix(rank)}{bar}\n"]
    return [f"{job.prefix(rank)}{bar}", *[f"\r{bar}"] * chance.randint(2, 12), "\n"]


def _data(chance: random.Random, job: Job) -> list[str]:
    rank = chance.choice(job.ranks)
    prefix = f"{job.prefix(rank)}{{py}} | rank{rank.number} | "
    return [
        (
            f"{prefix}DEBUG | data:88 - worker {chance.randrange(12)}: opened s3://corpus/tokens/shard-{{i5}}.tar "
            "({i7} documents, {gib} GiB), shuffle buffer {i5}, prefetch {i2}\n"
        ),
        (
            f"{prefix}DEBUG | data:131 - packed {{i4}} documents into {{i3}} sequences of 8192, padding {{f2}}%, "
            "truncated "
            "{i2}, longest {i5}\n"
        ),
        f"{prefix}INFO | data:45 - loading shard data-{{i5}}.parquet, rows {{i7}}-{{i7}}, sha1 {{hex40}}\n",
    ][: chance.randint(1, 3)]


def _checkpoints(chance: random.Random, job: Job) -> list[str]:
    here = _one_host(chance, job)
    first = here[0]
    return [
        (
            f"{job.prefix(first)}  saving checkpoint at iteration {{step}} to /lustre/run-7/checkpoints in torch_dist "
            "format\n"
        ),
        *(
            f"{job.prefix(rank)}{{py}} | rank{rank.number} | INFO | checkpoint:203 - wrote "
            f"__{rank.number}_{{i2}}.distcp, "
            "{gib} GiB in {f2} s ({f2} GB/s), {hex40}\n"
            for rank in here
        ),
        (
            f"{job.prefix(first)}  successfully saved checkpoint from iteration {{step}} to /lustre/run-7/checkpoints "
            "[ t 1/1 ]\n"
        ),
    ]


def _warnings(chance: random.Random, job: Job) -> list[str]:
    rank = chance.choice(job.ranks)
    packages = f"{job.prefix(rank)}/opt/env/lib/python3.12/site-packages"
    return chance.choice(
        [
            [
                (
                    f"{packages}/torch/optim/lr_scheduler.py:{{i3}}: UserWarning: Detected call of "
                    "`lr_scheduler.step()` "
                    "before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the opposite "
                    "order.\n"
                ),
                f"{job.prefix(rank)}  warnings.warn(\n",
            ],
            [
                (
                    f"{packages}/transformers/tokenization_utils_base.py:{{i4}}: FutureWarning: Token indices "
                    "sequence length "
                    "is longer than the specified maximum sequence length for this model ({i5} > 8192).\n"
                )
            ],
            [
                (
                    f"{job.prefix(rank)}W{{glog}} {rank.pid} torch/_dynamo/convert_frame.py:1016] [{{i2}}/8] "
                    "torch._dynamo hit "
                    "config.recompile_limit (8); function: 'forward' (/workspace/model/attention.py:{i3})\n"
                )
            ],
            [
                (
                    f"{job.prefix(rank)}{{py}} | rank{rank.number} | WARNING | trainer:210 - gradient norm {{f2}} "
                    "above 5.0 at step "
                    "{step}, clipped; {i2} tensors affected, largest layers.{i2}.mlp.down_proj\n"
                )
            ],
        ]
    )


def _samples(chance: random.Random, job: Job) -> list[str]:
    driver = f"(TaskRunner pid={job.ranks[0].pid + 99_000}) "
    lengths = [chance.randint(1, 3) for _ in range(chance.randint(1, 6))]
    return [
        f"{driver}[prompt] {{phrase1}}{{phrase2}}{{word}}?\n",
        f"{driver}[response] {{phrase3}}{{phrase1}}{{word}}\n",
        *(f"{driver}{'{phrase2}{phrase3}{phrase4}{phrase1}' * length}{{word}}.\n" for length in lengths),
        f"{driver}[ground_truth] {{i4}}\n",
        f"{driver}[score] {{f3}}\n",
    ]


def _caught(chance: random.Random, job: Job) -> list[str]:
    rank = chance.choice(job.ranks)
    line = job.prefix(rank)
    if chance.random() < 0.3:
        return [
            (
                f"{line}{{py}} | rank{rank.number} | WARNING | data:301 - shard-{{i5}}.tar: attempt 1 failed, trying "
                "again\n"
            ),
            f"{line}Traceback (most recent call last):\n",
            f'{line}  File "/workspace/data/shards.py", line {{i3}}, in read\n',
            f"{line}    raise ReadTimeoutError(endpoint_url=e.url, error=e)\n",
            (
                f"{line}botocore.exceptions.ReadTimeoutError: Read timeout on endpoint URL: "
                f'"https://s3.example.net/{{i5}}"\n'
            ),
            f"{line}{{py}} | rank{rank.number} | INFO | data:318 - shard-{{i5}}.tar: read on the second attempt\n",
        ]
    return [
        f"{line}{{py}} | rank{rank.number} | WARNING | reward:77 - no answer in sample {{hex12}}, scored 0\n",
        f"{line}Traceback (most recent call last):\n",
        f'{line}  File "/workspace/reward/math_verify.py", line {{i3}}, in compute_score\n',
        f"{line}    parsed = parse(answer, timeout=5)\n",
        f'{line}  File "/workspace/reward/parser.py", line {{i3}}, in parse\n',
        f"{line}    return sympify(latex)\n",
        f"{line}ValueError: could not parse '{{word}} {{i3}} {{word}}' as a number\n",
        f"{line}{{py}} | rank{rank.number} | INFO | reward:81 - {{i3}} of {{i4}} samples scored 0 so far\n",
    ]


def _dicts(chance: random.Random, job: Job) -> list[str]:
    first = job.prefix(job.ranks[0])
    return [
        (
            f"{first}{{'loss': {{f5}}, 'grad_norm': {{f3}}, 'learning_rate': {{sci}}, 'num_tokens': {{i7}}, "
            "'mean_token_accuracy': {f3}, 'epoch': {epoch}}\n"
        ),
        (
            '{"time":"{iso}","level":"info","logger":"scheduler","job":"rl-run-7","queue":{i2},"inflight":{i3},'
            '"latency_ms":{ms},"trace":"{hex40}","message":"assigned {i3} prompts to engine {i2}"}\n'
        ),
    ][chance.randrange(2) :][:1]


_PARAGRAPHS: tuple[tuple[Paragraph, float], ...] = (
    (_steps, 20),
    (_throughput, 12),
    (_megatron, 6),
    (_deepspeed, 6),
    (_workers, 24),
    (_metrics, 1.2),
    (_vllm, 20),
    (_bars, 8),
    (_data, 24),
    (_checkpoints, 2),
    (_warnings, 5),
    (_samples, 8),
    (_caught, 0.03),
    (_dicts, 10),
)
