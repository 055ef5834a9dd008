"""Votes of failed transfers: the end that all of them share is named, and no end where they do not single one out."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.events.transfers import Manner, failed_transfer
from nccl_logscan.pipeline import scan_text
from nccl_logscan.rulebook.load import builtin_rulebook

WORDINGS = {
    "2.13": "transport/net_ib.cc:1298 NCCL WARN NET/IB : Got completion from peer {peer}<{port}> with error 12, "
    "opcode 0, len 0, vendor err 129",
    "2.19": "transport/net_ib.cc:1465 NCCL WARN NET/IB : Got completion from peer {peer}<{port}> with error 12, "
    "opcode 32698, len 0, vendor err 129 (Recv) localGid ::ffff:{own_gid} remoteGids::ffff:{peer_gid}",
    "2.23": "transport/net_ib.cc:1861 NCCL WARN NET/IB: Got completion from peer {peer}<{port}> with status=12 "
    "opcode=0 len=0 vendor err 129 (Send) localGid ::ffff:{own_gid} remoteGids::ffff:{peer_gid} hca {adapter}",
    "2.28": "transport/net_ib.cc:2261 (ncclIbTest) NCCL WARN NET/IB: Got completion from peer {peer}<{port}> with "
    "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) reqSize=0 vendor_err=129 req_type=Send localGid "
    "::ffff:{own_gid} remoteGids::ffff:{peer_gid} hca {adapter}",
    "2.32": "transport/net_ib/p2p.cc:700 (ncclIbTest) NCCL WARN NET/IB: Got completion from peer {peer}<{port}> with "
    "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129 qp_num=412 Send localGid ::ffff:{own_gid} "
    "remoteGids::ffff:{peer_gid} hca {adapter}",
}
HAS_ADAPTER = {"2.23", "2.28", "2.32"}
ADAPTERS = " ".join(f"[{index}]mlx5_{index}:1/IB" for index in range(8))


class Cluster:
    """Makes the logs of a job, a file a host, with `per_host` ranks each."""

    def __init__(self, hosts: int, version: str = "2.23", per_host: int = 8, info: bool = True) -> None:
        self.names = [f"gpu-{number:03d}" for number in range(hosts)]
        self.version, self.per_host = version, per_host
        self.files = {f"{name}.log": "" for name in self.names}
        self.ports = itertools.count(40_000)
        if info:
            for host, name in enumerate(self.names):
                for local in range(per_host):
                    self._start(host, name, local)

    def _start(self, host: int, name: str, local: int) -> None:
        rank, world = host * self.per_host + local, len(self.names) * self.per_host
        head = f"{name}:{2000 + local}:{2000 + local} [{local}] NCCL INFO "
        self.files[f"{name}.log"] += (
            f"{head}Bootstrap : Using eth0:{self.address(host)}<0>\n"
            f"{head}NET/IB : Using {ADAPTERS} [RO]; OOB eth0:{self.address(host)}<0>\n"
            f"{head}ncclCommInitRank comm 0x1 rank {rank} nranks {world} cudaDev {local} nvmlDev {local} "
            f"busId {0x1B + local * 16:x}000 commId 0xabc - Init COMPLETE\n"
        )

    @staticmethod
    def address(host: int) -> str:
        return f"10.0.{host // 250}.{host % 250 + 1}"

    def fails(self, host: int, peer: int, local: int = 3, times: int = 3) -> None:
        """Let a rank of `host` report, several times over, that it could not reach `peer`."""
        for _ in range(times):
            words = WORDINGS[self.version].format(
                peer=self.address(peer),
                port=next(self.ports),
                own_gid=f"26.{local}.0.{host + 1}",
                peer_gid=f"26.{local}.0.{peer + 1}",
                adapter=f"mlx5_{local}",
            )
            self.says(host, words, local)

    def says(self, host: int, words: str, local: int = 0) -> None:
        name = self.names[host]
        self.files[f"{name}.log"] += f"\n{name}:{2000 + local}:{2500 + local} [{local}] {words}\n"

    def scan(self, *missing: int):
        lost = {f"{self.names[host]}.log" for host in missing}
        return scan_text({name: text for name, text in self.files.items() if name not in lost}, builtin_rulebook())


def culprit(result):
    return result.diagnosis.culprit


@pytest.mark.parametrize("version", WORDINGS)
@pytest.mark.parametrize("hosts", [4, 16, 64])
def test_the_host_that_its_neighbours_cannot_reach_is_bad_whatever_the_version(hosts, version):
    cluster, bad = Cluster(hosts, version, per_host=2), hosts // 2
    cluster.fails(bad - 1, bad, local=1)
    cluster.fails((bad + 1) % hosts, bad, local=1)
    result = cluster.scan()
    assert (result.diagnosis.category, culprit(result).host) == ("infiniband", cluster.names[bad])
    assert culprit(result).adapter == ("mlx5_1" if version in HAS_ADAPTER else None)
    assert cluster.names[bad] in result.diagnosis.headline


def test_the_bad_host_is_named_although_its_file_is_missing():
    cluster = Cluster(4)
    cluster.fails(0, 2)
    cluster.fails(1, 2)
    cluster.fails(3, 2)
    assert (culprit(cluster.scan(2)).host, culprit(cluster.scan(2)).rank) == ("10.0.0.3", None)


def test_the_bad_host_s_own_reports_do_not_make_its_peers_bad():
    cluster = Cluster(16)
    for peer in (4, 6, 9):
        cluster.fails(5, peer)
        cluster.fails(peer, 5)
    assert culprit(cluster.scan()).host == "gpu-005"


def test_a_lone_reporter_of_many_peers_that_talk_well_with_each_other_is_bad_itself():
    cluster = Cluster(4)
    for peer in (0, 2, 3):
        cluster.fails(1, peer)
    assert culprit(cluster.scan()).host == "gpu-001"


def test_nobody_is_accused_by_the_only_file_that_there_is():
    cluster = Cluster(4)
    for peer in (0, 2, 3):
        cluster.fails(1, peer)
    result = cluster.scan(0, 2, 3)
    assert (result.diagnosis.category, culprit(result).host, culprit(result).rank) == ("infiniband", None, None)


@pytest.mark.parametrize("version", WORDINGS)
def test_two_ends_alone_do_not_tell_which_is_bad(version):
    cluster = Cluster(2, version)
    for local in range(8):
        cluster.fails(0, 1, local)
        cluster.fails(1, 0, local)
    result = cluster.scan()
    assert result.diagnosis.category == "infiniband"
    assert (culprit(result).host, culprit(result).rank) == (None, None)
    assert "gpu-000 and gpu-001" in result.diagnosis.headline


def test_a_triangle_accuses_nobody():
    cluster = Cluster(3)
    for host, peer in ((0, 1), (1, 2), (2, 0)):
        cluster.fails(host, peer)
    assert culprit(cluster.scan()).host is None


@pytest.mark.parametrize(("seconds", "host"), [(None, None), (2, None), (30, "gpu-005")])
def test_pairs_that_failed_long_after_the_bad_end_s_accuse_nobody(seconds, host):
    cluster = Cluster(16)
    for place, (reporter, peer) in enumerate(((4, 5), (6, 5), (3, 4), (7, 6))):
        cluster.fails(reporter, peer, times=1)
        name = f"gpu-00{reporter}.log"
        told, _, failed = cluster.files[name].rstrip("\n").rpartition("\n")
        stamp = "" if seconds is None else f"2026-03-03T10:11:{10 + (seconds if place > 1 else 0):02d}.000Z "
        cluster.files[name] = f"{told}\n{stamp}{failed}\n"
    assert culprit(cluster.scan()).host == host


def test_a_ring_that_broke_everywhere_at_once_accuses_no_host_in_one_file():
    cluster = Cluster(4, per_host=1)
    for host in range(4):
        cluster.fails(host, (host + 1) % 4, local=0)
    assert culprit(scan_text("".join(cluster.files.values()), builtin_rulebook())).host is None


def test_two_bad_hosts_accuse_nobody_else():
    cluster = Cluster(16)
    for peer in (1, 2, 3):
        cluster.fails(peer, 0)
    for peer in (9, 10, 11):
        cluster.fails(peer, 8)
    assert culprit(cluster.scan()).host is None


def test_a_rail_is_named_and_no_host():
    cluster = Cluster(16)
    for host in range(16):
        cluster.fails(host, (host + 1) % 16, local=5)
    result = cluster.scan()
    assert (culprit(result).adapter, culprit(result).host) == ("mlx5_5", None)
    assert "mlx5_5" in result.diagnosis.headline


def test_failures_on_all_adapters_between_all_hosts_accuse_nobody():
    cluster = Cluster(8)
    for host in range(8):
        cluster.fails(host, (host + 1) % 8, local=host)
    assert (culprit(cluster.scan()).adapter, culprit(cluster.scan()).host) == (None, None)


def test_a_host_that_fails_on_several_adapters_is_named_without_one():
    cluster = Cluster(8)
    for peer in (1, 2, 4):
        cluster.fails(peer, 3, local=peer)
    assert (culprit(cluster.scan()).host, culprit(cluster.scan()).adapter) == ("gpu-003", None)


def test_the_rank_that_all_failed_channels_lead_to_is_named():
    cluster = Cluster(8)
    for host in range(8):
        for local in range(8):
            there = (host + 1) % 8 * 8 + local
            hop = f"{host * 8 + local}[{local}] -> {there}[{local}] [send] via NET/IB/{local}/GDRDMA"
            cluster.says(host, f"NCCL INFO Channel 0{local}/0 : {hop}", local)
    cluster.fails(3, 4, local=6)
    cluster.fails(4, 5, local=6)
    assert (culprit(cluster.scan()).host, culprit(cluster.scan()).rank) == ("gpu-004", 38)


def test_channels_of_several_communicators_name_no_rank():
    cluster = Cluster(8)
    cluster.says(3, "NCCL INFO Channel 00/0 : 3[6] -> 4[6] [send] via NET/IB/6/GDRDMA", 6)
    cluster.says(
        3, "NCCL INFO ncclCommInitRank comm 0x2 rank 3 nranks 8 cudaDev 6 nvmlDev 6 busId 60 - Init COMPLETE", 6
    )
    cluster.fails(3, 4, local=6)
    cluster.fails(4, 5, local=6)
    assert (culprit(cluster.scan()).host, culprit(cluster.scan()).rank) == ("gpu-004", None)


def test_the_only_rank_of_a_bad_host_is_named():
    cluster = Cluster(8, per_host=1)
    cluster.fails(2, 3, local=0)
    cluster.fails(4, 3, local=0)
    assert (culprit(cluster.scan()).host, culprit(cluster.scan()).rank) == ("gpu-003", 3)


@pytest.mark.parametrize(("hosts", "named"), [(16, "gpu-003"), (5, None)])
def test_the_host_that_reached_nobody_is_the_address_that_nobody_reached(hosts, named):
    cluster = Cluster(hosts, "2.13", info=False)
    for host in range(hosts):
        cluster.says(host, "NCCL INFO Using network IB")
    cluster.fails(2, 3)
    cluster.fails(4, 3)
    cluster.fails(3, 2)
    cluster.fails(3, 4)
    assert culprit(cluster.scan()).host == named


@pytest.mark.parametrize(("order", "named"), [((0, 1, 3, 2), "gpu-000"), ((1, 3, 0, 2), None)])
def test_of_few_hosts_the_one_that_complained_first_reached_nobody(order, named):
    """In a ring of four, who complains after its neighbours may have lost them to a silent host between them."""
    cluster = Cluster(4, "2.13", info=False)
    for host in range(4):
        cluster.says(host, "NCCL INFO Using network IB")
    for host, peer in ((0, 1), (0, 3), (1, 0), (3, 0)):
        cluster.fails(host, peer)
    log = "".join(cluster.files[f"{cluster.names[host]}.log"] for host in order)
    assert culprit(scan_text(log, builtin_rulebook())).host == named


def test_hosts_are_told_apart_by_their_gids_where_only_warnings_were_logged():
    cluster = Cluster(8, "2.19", info=False)
    cluster.fails(2, 3)
    cluster.fails(4, 3)
    cluster.fails(3, 2)
    assert culprit(cluster.scan()).host == "gpu-003"


def test_a_host_s_name_that_holds_its_address_is_found():
    words = WORDINGS["2.13"].format(peer="10.0.0.3", port=4000)
    log = "".join(f"ip-10-0-0-{host}:9:9 [0] {words}\n" for host in (1, 2))
    assert (
        culprit(scan_text(log + "ip-10-0-0-3:9:9 [0] NCCL INFO Using network IB\n", builtin_rulebook())).host
        == "ip-10-0-0-3"
    )


@pytest.mark.parametrize("late", [False, True])
def test_a_port_that_went_down_outweighs_what_its_victims_say(late):
    cluster = Cluster(16)
    for host in range(16):
        if host != 7:
            cluster.fails(host, (host + 1) % 16)
    words = "transport/net_ib.cc:195 NCCL WARN NET/IB : mlx5_3:1 Got async error event: port error"
    cluster.says(7, words, 3)
    if late:
        name = cluster.names[7] + ".log"
        cluster.files[name] = cluster.files.pop(name)
    result = cluster.scan()
    assert (culprit(result).host, culprit(result).adapter) == ("gpu-007", "mlx5_3")


def test_ports_down_on_many_hosts_are_the_switch_s_fault():
    cluster = Cluster(8)
    for host in range(8):
        cluster.says(host, "transport/net_ib.cc:136 NCCL WARN NET/IB : mlx5_3:1 Got async event : port error", 3)
        cluster.fails(host, (host + 1) % 8)
    result = cluster.scan()
    assert (result.diagnosis.category, culprit(result).host, culprit(result).adapter) == ("infiniband", None, "mlx5_3")


def test_links_that_went_down_on_many_hosts_are_nobody_s_fault_alone():
    cluster = Cluster(4)
    for name in cluster.names:
        cluster.files[f"{name}/dmesg.txt"] = "[Tue Mar  3 10:11:12 2026] mlx5_core 0000:9a:00.0 ibp9s0: Link down\n"
    result = cluster.scan()
    assert (result.diagnosis.category, culprit(result).host, culprit(result).adapter) == ("infiniband", None, "ibp9s0")


def test_a_link_that_went_down_in_one_kernel_log_names_its_host():
    cluster = Cluster(4)
    cluster.fails(0, 2)
    cluster.fails(1, 2)
    cluster.files["gpu-002/dmesg.txt"] = "[Tue Mar  3 10:11:12 2026] mlx5_core 0000:9a:00.0 ibp9s0: Link down\n"
    result = cluster.scan()
    assert (result.diagnosis.category, culprit(result).host, culprit(result).adapter) == (
        "infiniband",
        "gpu-002",
        "ibp9s0",
    )


XID = (
    "[Tue Mar  3 10:11:12 2026] NVRM: Xid (PCI:0000:4b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off "
    "the bus.\n"
)


@pytest.mark.parametrize("first", [False, True])
def test_an_xid_outweighs_63_victims_and_names_the_rank_of_its_gpu(first):
    cluster = Cluster(64)
    for host in range(64):
        if host != 21:
            cluster.fails(host, 21)
    kernel = {"kernel/gpu-021/dmesg.txt": XID}
    cluster.files = kernel | cluster.files if first else cluster.files | kernel
    result = cluster.scan()
    assert result.diagnosis.category == "gpu_hardware"
    assert (culprit(result).host, culprit(result).rank, culprit(result).device) == ("gpu-021", 171, 3)


def test_an_xid_on_a_slot_that_many_hosts_have_names_no_rank_where_no_host_is_told():
    cluster = Cluster(4)
    cluster.files["dmesg.txt"] = XID
    result = cluster.scan()
    assert (result.diagnosis.category, culprit(result).rank, culprit(result).host) == ("gpu_hardware", None, None)


def test_an_xid_names_the_rank_of_its_process():
    cluster = Cluster(4)
    cluster.files["kern.log"] = (
        "Mar  3 10:11:12 gpu-002 kernel: NVRM: Xid (PCI:0000:4b:00): 79, pid=2003, name=python, "
        "GPU has fallen off the bus.\n"
    )
    assert (culprit(cluster.scan()).host, culprit(cluster.scan()).rank) == ("gpu-002", 19)


SOCKET = {
    "2.8": "include/socket.h:403 NCCL WARN Connect to {peer}<{port}> failed : Connection timed out",
    "2.13": "misc/socket.cc:403 NCCL WARN Net : Call to recv from {peer}<{port}> failed : No route to host",
    "2.21": "misc/socket.cc:530 NCCL WARN socketPollConnect: Connect to {peer}<{port}> returned 110(Connection "
    "timed out) errno 110(Connection timed out)",
    "2.28": "misc/socket.cc:596 NCCL WARN socketPollConnect: connect to {peer}<{port}> returned Connection timed out, "
    "exceeded error retry count after 35 attempts",
    "2.30": "os/linux.cc:240 NCCL WARN ncclOsSocketPollConnect to {peer}<{port}> failed with error Connection "
    "timed out",
}


@pytest.mark.parametrize("version", SOCKET)
def test_the_host_that_answers_nobody_over_tcp_is_bad(version):
    cluster = Cluster(8)
    for host in (0, 1, 2, 5):
        cluster.says(host, SOCKET[version].format(peer=cluster.address(3), port=next(cluster.ports)))
    result = cluster.scan()
    assert (result.diagnosis.category, culprit(result).host) == ("socket_bootstrap", "gpu-003")


CLOSED = {
    "2.13": "misc/socket.cc:403 NCCL WARN Net : Connection closed by remote peer {peer}<{port}>",
    "2.21": "misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer {peer}<{port}>",
    "2.30": "os/linux.cc:363 (ncclOsSocketProgressOpt) NCCL WARN ncclOsSocketProgressOpt: Call to send to "
    "{peer}<{port}> failed : Connection reset by peer",
}


def test_of_two_hosts_the_one_that_hung_up_is_named():
    cluster = Cluster(2)
    for local in range(8):
        words = CLOSED["2.21"].format(peer=cluster.address(0), port=next(cluster.ports))
        cluster.says(1, words, local)
    assert (culprit(cluster.scan()).host, cluster.scan().diagnosis.category) == ("gpu-000", "process_death")


def test_a_missing_file_s_host_is_not_taken_for_the_first_to_die():
    cluster = Cluster(8, per_host=2)
    for host, peer in ((3, 4), (5, 4), (0, 1), (2, 1), (1, 0)):
        cluster.says(host, CLOSED["2.21"].format(peer=cluster.address(peer), port=next(cluster.ports)))
    assert (culprit(cluster.scan(4)).host, culprit(cluster.scan(4)).rank) == (None, None)


@pytest.mark.parametrize("version", CLOSED)
def test_of_those_who_hung_up_the_one_that_saw_nobody_leave_was_first(version):
    cluster = Cluster(6, per_host=1)
    for host, peer in ((0, 3), (1, 3), (2, 1), (4, 0), (5, 3)):
        cluster.says(host, CLOSED[version].format(peer=cluster.address(peer), port=next(cluster.ports)))
    result = cluster.scan()
    assert (result.diagnosis.category, culprit(result).host, culprit(result).rank) == ("process_death", "gpu-003", 3)


def test_a_process_that_raised_first_is_no_network_fault():
    cluster = Cluster(6, per_host=1)
    for host in (0, 1, 2, 4, 5):
        cluster.says(host, CLOSED["2.21"].format(peer=cluster.address(3), port=next(cluster.ports)))
    cluster.files["gpu-003.log"] += (
        '[rank3]: Traceback (most recent call last):\n[rank3]:   File "/w/train.py", line 3, in <module>\n'
        "[rank3]:     x()\n"
        "[rank3]: KeyError: 'labels'\n"
    )
    result = cluster.scan()
    assert (result.diagnosis.category, culprit(result).rank) == ("user_code", 3)


def test_a_host_that_ran_out_of_memory_explains_the_transfers_that_failed_with_it():
    cluster = Cluster(6)
    for host in (0, 1, 2):
        cluster.fails(host, 3)
    cluster.files["gpu-003.log"] += (
        "Mar  3 10:11:12 gpu-003 kernel: Out of memory: Killed process 2003 (python) total-vm:1kB, "
        "anon-rss:1kB, file-rss:0kB\n"
    )
    assert cluster.scan().diagnosis.category == "host_oom"


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_no_order_of_files_and_no_missing_file_makes_a_victim_the_culprit(seed):
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    cluster = Cluster(8, chance.choice(list(WORDINGS)), per_host=2, info=chance.random() < 0.7)
    bad = chance.randrange(8)
    for peer in range(8):
        if peer != bad and chance.random() < 0.6:
            cluster.fails(peer, bad, chance.randrange(2))
        if peer != bad and chance.random() < 0.3:
            cluster.fails(bad, peer, chance.randrange(2))
    names = list(cluster.files)
    chance.shuffle(names)
    cluster.files = {name: cluster.files[name] for name in names}
    cluster.files["gpu-zzz.log"] = "gpu-zzz:1:1 [0] NCCL INFO Using network IB\n"
    result = cluster.scan(*(host for host in range(8) if chance.random() < 0.2))
    assert culprit(result).host in {None, cluster.names[bad], cluster.address(bad)}
    assert culprit(result).rank in {None, *range(bad * 2, bad * 2 + 2)}


# --- Words -----------------------------------------------------------------------------------------------


MESSAGES = [
    (
        "[../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:4001",
        Manner.CLOSED,
        "10.0.0.2",
    ),
    (
        (
            "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Read error [fd00::2]:4001: Connection "
            "reset by peer"
        ),
        Manner.CLOSED,
        "fd00::2",
    ),
    (
        "ncclOsSocketStartConnect: connect to 10.77.3.1<32835> failed : Network is unreachable",
        Manner.UNANSWERED,
        "10.77.3.1",
    ),
    ("cryptSocketProgressRaw: Connection closed by remote peer 10.0.0.2<4001>", Manner.CLOSED, "10.0.0.2"),
    (
        "socketProgress: Connection closed by remote peer wren0417-ib.site<48210>",
        Manner.CLOSED,
        "wren0417-ib.site",
    ),
    ("socketStartConnect: Connect to 10.8.0.7<55231> failed : Connection refused", Manner.REFUSED, "10.8.0.7"),
    (
        "NET/gIB : Got completion from peer 10.0.0.3<40211> with status=11 opcode=12 len=12 vendor err 12 (Recv)",
        Manner.REJECTED,
        "10.0.0.3",
    ),
    (
        (
            "NET/IB: WQE stall (no CQE): peer=10.0.0.3<4> | local: qpn=1 dev=mlx5_1 port=1 lid=0 "
            "localGid=::ffff:1.2.3.4 | remote: qpn=2 port=1 lid=0 remoteGid=::ffff:1.2.3.5 | "
            "stall_thr=1ns age=2ns inflight=3"
        ),
        Manner.STALLED,
        "10.0.0.3",
    ),
    (
        (
            "NET/OFI Request 0x1 completed with error. RC: 22. Error: 4126 (Unresponsive receiver (reachable by "
            "EFA device but handshake failed) My EFA addr: fi_addr_efa://[fe80::1]:0:142 My host id: "
            "i-07792e0f955a9673b Peer EFA addr: fi_addr_efa://[fe80::2]:0:825 Peer host id: N/A). Completed length: 0"
        ),
        Manner.UNANSWERED,
        "fe80::2",
    ),
    (
        "UCX  ERROR connect(fd=41, dest_addr=10.0.0.9:41233) failed: Connection timed out",
        Manner.UNANSWERED,
        "10.0.0.9",
    ),
]


@pytest.mark.parametrize(("message", "manner", "peer"), MESSAGES)
def test_every_wording_names_its_far_end(message, manner, peer):
    transfer = failed_transfer(message)
    assert transfer is not None
    assert (transfer.manner, transfer.peer) == (manner, peer)


@pytest.mark.parametrize(
    "message",
    [
        "NET/IB : Got completion from peer 10.0.0.3<40211> with error 5, opcode 12, len 12, vendor err 249",
        "socketProgress: Connection closed by remote peer <>",
        "Call to recv failed : Connection reset by peer",
        "[Service thread] Connection closed by localRank 0",
        "",
    ],
)
def test_a_line_without_a_far_end_or_after_another_failure_is_no_vote(message):
    assert failed_transfer(message) is None


@given(st.text(max_size=400))
def test_no_message_makes_the_reader_raise(text):
    for start in ("Got completion from peer ", "gloo/transport/tcp [", " EFA addr: ", "Connect to ", "WQE stall peer="):
        failed_transfer(start + text)
