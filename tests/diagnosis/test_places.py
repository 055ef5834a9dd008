import pytest

from nccl_logscan.diagnosis.attempts import Attempts
from nccl_logscan.diagnosis.places import (
    Content,
    LocalPlace,
    Places,
    attempt_in_name,
    host_in_kernel_log_name,
    local_place_in_name,
    rank_in_name,
)

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB\n"
)
KEY = "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in <module>\n    x()\nKeyError: 'labels'\n"
INIT = (
    "{host}:{pid}:{pid} [{local}] NCCL INFO ncclCommInitRankConfig comm 0x1 rank {rank} nranks {world} cudaDev {local} "
    "nvmlDev {local} busId {bus}000 commId 0xabc - Init COMPLETE\n"
)


def init(rank: int, world: int, host: str = "n1", local: int | None = None) -> str:
    local = rank if local is None else local
    return INIT.format(host=host, pid=4000 + rank, local=local, rank=rank, world=world, bus=f"{16 + local:x}")


def settled(names, ranks=None, *, hosts=None, world=0, launchers=(), pids=None) -> Places:
    places = Places()
    for name in names:
        places.learn(name)
    hosts = hosts or {}
    all_hosts = tuple(dict.fromkeys(host for several in hosts.values() for host in several))
    places.settle(Content(ranks or {}, hosts, launchers, all_hosts, world), (pids or {}).get)
    return places


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("logs/rank3.log", 3),
        ("rank-03.txt", 3),
        ("out/rank_12/stderr.txt", 12),
        ("trainer.global_rank7.err", 7),
        ("local_rank3.log", None),
        ("local-rank-3.log", None),
        ("rank3/rank4.log", None),
        ("franka3.log", None),
    ],
)
def test_a_name_tells_a_global_rank_where_it_says_one(name, rank):
    assert rank_in_name(name) == rank


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("none_ab12/attempt_0/3/stderr.log", LocalPlace("none_ab12/", 3)),
        ("t/none_ab12/attempt_1/0/error.json", LocalPlace("t/none_ab12/", 0)),
        ("n1/local_rank3.log", LocalPlace("n1/local_rank*.log", 3)),
        ("rank3.log", None),
    ],
)
def test_a_torchelastic_folder_and_a_local_rank_tell_a_place_on_a_node(name, place):
    assert local_place_in_name(name) == place


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("dmesg-n07.txt", "n07"),
        ("dmesg_gpu-3.log", "gpu-3"),
        ("n07.dmesg.txt", "n07"),
        ("hosts/n07/kern.log", "n07"),
        ("logs/dmesg.txt", None),
        ("dmesg-2.log", None),
        ("dmesg.txt", None),
        ("dmesg.txt.gz", None),
        ("rank3.log", None),
    ],
)
def test_the_name_of_a_kernel_s_log_tells_the_host(name, host):
    assert host_in_kernel_log_name(name) == host


def test_content_counts_where_a_name_contradicts_it_and_the_report_says_so():
    places = settled(["rank0.log", "rank1.log"], {"rank0.log": {0}, "rank1.log": {5}})
    assert places.rank_of("rank1.log") is None
    assert places.notes == ("rank1.log is named after rank 1, but its lines are those of rank 5: the lines count",)


def test_of_names_that_count_from_one_the_silent_one_is_read_the_same_way():
    names = [f"rank{number}.log" for number in range(1, 5)]
    places = settled(names, {"rank1.log": {0}, "rank2.log": {1}})
    assert (places.rank_of("rank4.log"), len(places.notes)) == (3, 2)


def test_a_name_whose_only_sibling_is_wrong_is_not_believed():
    assert settled(["rank1.log", "rank2.log"], {"rank1.log": {0}}).rank_of("rank2.log") is None


def test_slurm_s_tasks_are_ranks_if_they_are_all_there():
    names = [f"train_4711_{task}.out" for task in range(4)]
    assert [settled(names).rank_of(name) for name in names] == [0, 1, 2, 3]
    assert settled(names, world=8).rank_of(names[1]) is None
    assert settled(names[1:]).rank_of(names[1]) is None
    assert settled(names[1:], {names[2]: {2}}, world=4).rank_of(names[1]) == 1


def test_node_files_are_no_rank_files():
    assert settled([f"node{number}.log" for number in range(4)], world=4).ranks == {}


def test_a_pid_in_a_name_tells_the_process():
    places = settled(["nccl.vm.1364.log", "worker-6f0c-01000000-4242.out"], pids={1364: 2, 4242: 5})
    assert places.ranks == {"nccl.vm.1364.log": 2, "worker-6f0c-01000000-4242.out": 5}


def test_a_node_s_first_rank_is_known_by_any_of_its_files():
    names = [f"run_{node}/attempt_0/{local}/stderr.log" for node in "ab" for local in range(4)]
    places = settled(names, {names[1]: {5}, names[6]: {2}}, world=8)
    assert [places.global_rank(name, local) for name, local in zip(names, [0, 1, 2, 3] * 2, strict=True)] == [
        *(4, 5, 6, 7),
        *(0, 1, 2, 3),
    ]


def test_the_order_of_nodes_is_not_guessed():
    names = [f"run_{node}/attempt_0/{local}/stderr.log" for node in "ab" for local in range(4)]
    assert settled(names, world=8).global_rank(names[0], 0) is None
    assert settled(names[:4], world=16).global_rank(names[0], 0) is None
    assert settled(names[:4], world=4).global_rank(names[2], 2) == 2
    numbered = [f"node{node}/run/attempt_0/{local}/stderr.log" for node in range(2) for local in range(4)]
    assert settled(numbered, world=8).global_rank(numbered[7], 3) == 7


def test_a_host_is_known_by_a_file_s_name_if_the_job_knows_it():
    places = settled(["train-n07.out", "x-n08.out", "y.log"], hosts={"y.log": {"n07", "n09"}})
    assert places.hosts == {"train-n07.out": "n07"}


@pytest.mark.parametrize(
    ("name", "attempt"), [("r/attempt_2/0/stderr.log", 2), ("x/attempts.log", None), ("restart-1/rank0.log", 1)]
)
def test_an_attempt_is_told_by_a_name(name, attempt):
    assert attempt_in_name(name) == attempt


def test_an_input_of_no_attempt_is_taken_for_one_of_the_last():
    attempts = Attempts(["r/attempt_0/0/stderr.log", "r/attempt_1/0/stderr.log", "driver.log"])
    assert attempts.of("driver.log") == 1
    assert attempts.before(1) == {"r/attempt_0/0/stderr.log"}
    assert attempts.latest_with(["r/attempt_0/0/stderr.log"]) == 0


def test_a_process_is_told_by_the_name_of_its_nccl_file(scan):
    logs = {
        "nccl.n1.4000.log": init(0, 2),
        "nccl.n1.4001.log": init(1, 2),
        "worker-aa-01000000-4001.err": KEY,
        "worker-bb-01000000-4000.err": "starting\n",
    }
    culprit = scan(logs).diagnosis.culprit
    assert (culprit.rank, culprit.host) == (1, "n1")


def test_an_attempt_that_was_restarted_is_no_evidence_against_the_next(scan):
    logs = {
        "none_x/attempt_0/0/stderr.log": "starting\n",
        "none_x/attempt_0/1/stderr.log": OOM,
        "none_x/attempt_1/0/stderr.log": KEY,
        "none_x/attempt_1/1/stderr.log": "starting\n",
    }
    diagnosis = scan(logs).diagnosis
    assert (diagnosis.category, diagnosis.culprit.rank) == ("user_code", 0)
    assert any(reason.startswith("An earlier attempt failed") for reason in diagnosis.reasons)


def test_the_same_failure_in_two_attempts_is_that_of_the_last_one(scan):
    logs = {
        "none_x/attempt_0/3/stderr.log": OOM,
        "none_x/attempt_1/1/stderr.log": OOM,
        "none_x/attempt_1/3/stderr.log": "starting\n",
    }
    diagnosis = scan(logs).diagnosis
    assert (diagnosis.category, diagnosis.culprit.rank) == ("gpu_oom", 1)


def test_an_attempt_that_says_nothing_leaves_the_verdict_to_the_one_before(scan):
    logs = {"none_x/attempt_0/0/stderr.log": OOM, "none_x/attempt_1/0/stderr.log": "starting\n"}
    assert scan(logs).diagnosis.category == "gpu_oom"


def test_an_attempt_that_trained_on_shows_that_the_one_before_was_lived_through(scan):
    steps = "".join(f"step: {number}/30 loss=0.99 grad_norm=0.01\n" for number in range(30)) + "Training completed\n"
    logs = {"none_x/attempt_0/0/stderr.log": OOM, "none_x/attempt_1/0/stderr.log": steps}
    assert scan(logs).diagnosis.category == "none"


def test_the_report_notes_a_name_that_contradicts_its_lines(scan):
    result = scan({"rank0.log": init(0, 2), "rank2.log": init(1, 2) + KEY})
    assert any("rank2.log is named after rank 2" in note for note in result.notes)
    assert result.diagnosis.culprit.rank == 1


def test_the_kernel_s_log_of_a_host_names_the_host(scan):
    xid = "[ 4711.123456] NVRM: Xid (PCI:0000:11:00): 79, pid=4001, name=python, GPU has fallen off the bus.\n"
    culprit = scan({"dmesg-n2.txt": xid, "train.log": init(0, 2) + init(1, 2, host="n2", local=1)}).diagnosis.culprit
    assert (culprit.host, culprit.rank) == ("n2", 1)


def test_a_worker_s_error_json_tells_its_exception_and_by_its_folder_its_rank(scan):
    stack = 'Traceback (most recent call last):\\n  File \\"/w/train.py\\", line 3, in main\\n    f()\\nKeyError: 5\\n'
    told = f'{{"message": "KeyError: 5", "extraInfo": {{"py_callstack": "{stack}", "timestamp": "1764567890"}}}}'
    error = f'{{"message": {told}}}'
    result = scan({"none_x/attempt_0/3/error.json": error})
    assert (result.diagnosis.category, result.diagnosis.culprit.rank) == ("user_code", 3)
    [moment] = result.timeline
    assert moment.when is not None
    assert moment.when.value.isoformat() == "2025-12-01T05:44:50+00:00"


def test_of_two_hosts_the_first_to_fail_is_told_by_what_both_clocks_saw(scan):
    """n2's clock is 12 s ahead: its line looks later, and is the first."""
    stamped = "[2026-03-03 10:00:{second:02}] "
    starts = {"n1": (0, 1), "n2": (12, 13)}

    def log(host: str, rank: int, failed: int) -> str:
        lines = [
            stamped.format(second=second) + init(rank, 2, host=host, local=0).replace("COMPLETE", phase)
            for second, phase in zip(starts[host], ("START", "COMPLETE"), strict=True)
        ]
        warn = f"{host}:{4000 + rank}:77 [0] enqueue.cc:37 NCCL WARN Cuda failure 2 'out of memory'\n"
        return "".join(lines) + stamped.format(second=failed) + warn

    result = scan({"a.log": log("n1", 0, 30), "b.log": log("n2", 1, 38)})
    assert result.diagnosis.culprit.rank == 1
    assert any(reason.startswith("The clocks of n1 and n2 differ by 12.0 s ±") for reason in result.diagnosis.reasons)
    assert {moment.aligned.clock for moment in result.timeline if moment.aligned} == {"n1"}
    unknown = scan({"a.log": log("n1", 0, 30), "b.log": log("n2", 1, 43)})
    assert unknown.diagnosis.culprit.rank is None
