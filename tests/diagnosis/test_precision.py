import pytest


def apex(*scales: float) -> str:
    return "".join(
        f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}\n" for scale in scales
    )


def hf(loss: object, norm: object = 1.0) -> str:
    return f"{{'loss': {loss}, 'grad_norm': {norm}, 'learning_rate': 1e-05, 'epoch': 0.1}}\n"


def megatron(*lines: tuple[int, float, int], interval: int = 1) -> str:
    """Lines of (iteration, loss scale, iterations skipped since the line before); no loss where all were."""
    return "".join(
        f" iteration {step:8}/   50000 | consumed samples: {step * 16:12} | "
        + ("" if skipped >= interval else "lm loss: 2.391120E+00 | ")
        + f"loss scale: {scale} | number of skipped iterations: {skipped:3} | number of nan iterations:   0 |\n"
        for step, scale, skipped in lines
    )


@pytest.mark.parametrize(
    ("log", "category"),
    [
        pytest.param(apex(32768.0, 16384.0, 8192.0) + hf(1.2) * 5, "none", id="the search at the start"),
        pytest.param(
            hf(1.2) + apex(32768.0) + hf(1.1) * 5 + apex(32768.0) + hf(1.0) * 2, "none", id="a rare one later"
        ),
        pytest.param(apex(*(2.0**power for power in range(15, -3, -1))), "mixed_precision_overflow", id="below one"),
        pytest.param(apex(*(2.0**power for power in range(40, 22, -1))), "mixed_precision_overflow", id="without end"),
        pytest.param(hf(1.2) * 3 + hf("nan", "nan") * 3, "mixed_precision_overflow", id="NaN to the end"),
        pytest.param(hf(1.2) * 3 + hf("nan", "nan") + hf(1.2) * 3, "none", id="one NaN"),
        pytest.param(hf(1.2) * 3 + hf("inf", "nan") * 3, "mixed_precision_overflow", id="infinite to the end"),
        pytest.param(hf(1.2) * 3 + hf(1.1, "nan") * 6, "mixed_precision_overflow", id="NaN gradients to the end"),
        pytest.param(megatron((7, 1.0, 1), (8, 1.0, 1)), "mixed_precision_overflow", id="Megatron, all skipped at 1"),
        pytest.param(
            megatron(*((step, 128.0, 1) for step in range(7, 17))),
            "mixed_precision_overflow",
            id="Megatron, all skipped at a minimum above 1",
        ),
        pytest.param(
            megatron(*((step, 1.0, 6) for step in range(10, 60, 10)), interval=10),
            "mixed_precision_overflow",
            id="Megatron, most skipped at 1",
        ),
        pytest.param(
            megatron(*((step, 2.0 ** (33 - step), 1) for step in range(1, 8)), (8, 2.0**26, 0), (9, 2.0**26, 0)),
            "none",
            id="Megatron's search at the start",
        ),
        pytest.param(
            megatron((10, 2.0**23, 10), (20, 2.0**16, 7), (30, 2.0**16, 0), (40, 2.0**15, 1), interval=10),
            "none",
            id="Megatron's search, a line every ten steps",
        ),
        pytest.param(megatron(*((step, 1.0, 0) for step in range(7, 12))), "none", id="Megatron with bfloat16"),
        pytest.param(hf(1.2) * 3 + hf(1.1, "inf") * 3 + hf(1.0) * 3, "none", id="a clipped gradient"),
    ],
)
def test_a_search_is_told_from_a_collapse(scan, log, category):
    assert scan(log).diagnosis.category == category


def test_a_job_that_finishes_with_a_nan_loss_has_failed(scan):
    log = hf(1.2) + hf("nan") * 4 + "{'train_runtime': 12.0, 'train_loss': nan, 'epoch': 1.0}\n"
    result = scan(log)
    assert result.diagnosis.category == "mixed_precision_overflow"
    assert "NaN" in result.diagnosis.headline


def test_a_constant_scale_of_one_is_how_bfloat16_logs(scan):
    line = (
        " iteration {:8d}/  240000 | consumed samples:       186368 | elapsed time per iteration (ms): 126411.0 | "
        "learning rate: 1.365E-05 | global batch size:  1024 | lm loss: 2.391120E+00 | loss scale: 1.0 | grad norm: "
        "0.231 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
    )
    assert scan("".join(line.format(number) for number in range(30))).diagnosis.category == "none"


STEP = "[rank{rank}]: step: {step}/30 loss={loss} grad_norm=0.01\n"


def test_the_one_rank_that_prints_for_the_job_is_not_to_blame_for_its_nan(scan):
    other = (
        "n1:10:10 [1] NCCL INFO ncclCommInitRank comm 0x1 rank 1 nranks 2 cudaDev 1 busId 70 commId 0x2 - Init START\n"
    )
    losses = "".join(STEP.format(rank=0, step=step, loss=1.0 if step < 5 else "nan") for step in range(1, 12))
    result = scan({"rank0.log": losses, "rank1.log": other})
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("mixed_precision_overflow", None)


def test_a_rank_that_alone_prints_nan_while_others_print_numbers_is_named(scan):
    log = "".join(
        STEP.format(rank=rank, step=step, loss="nan" if rank == 1 and step > 5 else 1.0)
        for step in range(1, 12)
        for rank in (0, 1, 2)
    )
    result = scan(log)
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("mixed_precision_overflow", 1)
