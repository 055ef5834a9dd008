def info(host: str, pid: int, text: str) -> str:
    return f"{host}:{pid}:{pid} [0] NCCL INFO {text}\n"


def test_two_banners_with_different_versions(scan):
    log = info("n1", 1, "NCCL version 2.24.3+cuda12.4") + info("n2", 2, "NCCL version 2.27.5+cuda12.9")
    result = scan(log)
    assert result.diagnosis.category == "version_mismatch"
    assert "2.24.3 on n1:1" in result.diagnosis.headline


def test_a_version_is_known_by_how_it_words_its_start(scan):
    """Up to 2.21.5 only rank 0 prints the banner."""
    older = info("n1", 1, "cudaDriverVersion 12040") + "NCCL version 2.18.3+cuda12.1\n"
    newer = info("n2", 2, "Using non-device net plugin version 0")
    result = scan(older + newer)
    assert result.diagnosis.category == "version_mismatch"
    assert "2.19.1 to 2.21.5 on n2:2" in result.diagnosis.headline


def test_a_banner_belongs_to_the_process_with_its_launcher_s_mark(scan):
    log = "".join(
        f"[1,{rank}]<stdout>:{line}"
        for rank, line in (
            (0, info("n1", 1, "cudaDriverVersion 12040")),
            (1, info("n1", 2, "Using non-device net plugin version 0")),
            (0, "NCCL version 2.18.3+cuda12.1\n"),
        )
    )
    headline = scan(log).diagnosis.headline
    assert "2.18.3 on n1:1" in headline
    assert "2.19.1 to 2.21.5 on n1:2" in headline


def test_a_host_behind_the_rest_of_another_line_is_no_process_of_its_own(scan):
    log = "".join(info("n1", pid, f"Bootstrap : Using eth0:10.0.0.{pid}<0>") * 2 for pid in (1, 2))
    torn = "commId 0xf4b5c" + info("n1", 2, "ncclCommInitRankConfig comm 0x5 rank 1 nranks 2")
    assert "version_mismatch/nccl-versions-differ" not in {finding.rule.id for finding in scan(log + torn).findings}


def test_one_version_words_all_its_lines_alike(scan):
    start = (
        info("n1", 1, "Bootstrap: Using eth0:10.0.0.1<0>")
        + info("n1", 1, "NCCL version 2.27.5+cuda12.9")
        + info("n2", 2, "Bootstrap: Using eth0:10.0.0.2<0>")
        + info("n2", 2, "Initialized NET plugin Socket")
    )
    assert "version_mismatch/nccl-versions-differ" not in {finding.rule.id for finding in scan(start).findings}


def test_a_rank_that_never_comes_leaves_the_communicator_incomplete(scan):
    begun = "ncclCommInitRank comm 0x1 rank {} nranks 3 cudaDev 0 nvmlDev 0 busId 60 commId 0x5 - Init START"
    result = scan(info("n1", 1, begun.format(0)) + info("n2", 2, begun.format(2)))
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("collective_timeout", 1)


def test_an_empty_file_among_others_is_a_silent_rank(scan):
    logs = {"rank0.log": info("n1", 1, "Using network Socket"), "rank1.log": ""}
    result = scan(logs)
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("collective_timeout", 1)


def test_drivers_that_differ_between_hosts_are_compared(scan):
    log = info("n1", 1, "cudaDriverVersion 12040") + info("n2", 2, "cudaDriverVersion 12020")
    result = scan(log)
    assert result.diagnosis.category == "heterogeneous_driver"
    assert [difference.name for difference in result.job.differences] == ["CUDA driver"]


def test_settings_that_differ_between_hosts_are_listed(scan):
    log = info("n1", 1, "NCCL_BUFFSIZE set by environment to 4194304.") + info(
        "n2", 2, "NCCL_BUFFSIZE set by environment to 1048576."
    )
    [difference] = scan(log).job.differences
    assert dict(difference.values) == {"1048576": ("n2",), "4194304": ("n1",)}


RAISED = (
    "[rank{rank}]: Traceback (most recent call last):\n"
    '[rank{rank}]:   File "/w/train.py", line 3, in <module>\n'
    "[rank{rank}]:     dist.barrier()\n"
    "[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, internal error - "
    "please report this issue to the NCCL developers, NCCL version {version}\n"
)
TRUNCATED = "n2:2:2 [0] bootstrap.cc:87 NCCL WARN Message truncated : received 64 bytes instead of 8\n"


def test_pytorch_s_errors_tell_versions_that_differ(scan):
    log = info("n1", 1, "NCCL version 2.21.5+cuda12.4") + TRUNCATED
    assert scan(log + RAISED.format(rank=1, version="2.18.3")).diagnosis.category == "version_mismatch"
    assert scan(log + RAISED.format(rank=1, version="2.21.5")).diagnosis.category == "socket_bootstrap"


OLD_DRIVER = (
    "n2:2:2 [0] init.cc:1 NCCL WARN Cuda failure 'CUDA driver version is insufficient for CUDA runtime version'\n"
)


def test_one_host_s_old_driver_is_a_difference_between_hosts(scan):
    result = scan(info("n1", 1, "Using network IB") + OLD_DRIVER)
    assert (result.diagnosis.category, result.diagnosis.culprit.host) == ("heterogeneous_driver", "n2")


def test_an_old_driver_on_all_hosts_is_no_difference(scan):
    assert scan(OLD_DRIVER + OLD_DRIVER.replace("n2", "n1")).diagnosis.category == "version_mismatch"
