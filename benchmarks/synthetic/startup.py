"""What NCCL 2.30.7 writes with NCCL_DEBUG=INFO (INIT, ENV, GRAPH and NET) while a job's communicators come up.

Wordings are those of the lab's logs of 2.30.7 and, for InfiniBand, of the catalogue of NCCL's formats.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from benchmarks.synthetic.job import GPUS, Job, Rank

_CHANNELS = {"world": 16, "tp": 24, "dp": 16, "ep": 8, "pp": 4, "cp": 16}
_BUSES = ("1b000", "43000", "52000", "61000", "9d000", "c3000", "d1000", "df000")
_ENVIRONMENT = (
    "NCCL_SOCKET_IFNAME set by environment to bond0",
    "NCCL_IB_HCA set to mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7",
    "NCCL_IB_GID_INDEX set by environment to 3.",
    "NCCL_IB_TC set by environment to 106.",
    "NCCL_IB_TIMEOUT set by environment to 22.",
    "NCCL_IB_RETRY_CNT set by environment to 7.",
    "NCCL_IB_QPS_PER_CONNECTION set by environment to 4.",
    "NCCL_NVLS_ENABLE set by environment to 1.",
    "NCCL_NET_GDR_LEVEL set by environment to PHB",
    "NCCL_CROSS_NIC set by environment to 0.",
)
_RUN_OF_LINES = 3  # that a rank writes before another one's lines come between


class Startup:
    """Lines of a job's start, interleaved between its ranks."""

    def __init__(self, job: Job, chance: random.Random) -> None:
        """`chance` decides the order, pointers and times; nothing else does."""
        self._job = job
        self._chance = chance
        self._bodies: dict[tuple[str, int], tuple[list[str], list[str]]] = {}
        self._rounds: Counter[str] = Counter()

    def processes(self, ranks: Sequence[Rank]) -> list[list[str]]:
        """Each rank's lines before its first communicator: version, plugins, network, topology."""
        return [self._process(rank) for rank in ranks]

    def communicators(self, kind: str) -> list[list[str]]:
        """Each rank's lines, in the order of the ranks, while the next communicator of this kind comes up on it."""
        self._rounds[kind] += 1
        lines = {
            rank.number: self._member(kind, group, index)
            for group in self._job.groups(kind)
            for index, rank in enumerate(group)
        }
        return [lines[number] for number in sorted(lines)]

    def communicator_of(self, rank: Rank, kind: str) -> list[str]:
        """One rank's lines while its next communicator of this kind comes up."""
        self._rounds[kind] += 1
        group, index = self._job.seat(rank, kind)
        return self._member(kind, group, index)

    def interleaved(self, of_ranks: Sequence[list[str]]) -> list[str]:
        """The lines as they reach a shared file: each rank's own order kept, ranks mixed, a few lines at a time."""
        turns = [turn for turn, lines in enumerate(of_ranks) for _ in range(0, len(lines), _RUN_OF_LINES)]
        self._chance.shuffle(turns)
        at = [0] * len(of_ranks)
        mixed: list[str] = []
        for turn in turns:
            mixed += of_ranks[turn][at[turn] : at[turn] + _RUN_OF_LINES]
            at[turn] += _RUN_OF_LINES
        return mixed

    def _process(self, rank: Rank) -> list[str]:
        header = _header(rank, rank.pid)
        magic = f"0x{self._chance.getrandbits(64):016x}"
        return [header + body for body in _process_bodies(rank.local, rank.address, magic)]

    def _comm_id(self, kind: str, group: Sequence[Rank]) -> str:
        """The same on all ranks of a communicator, also where each rank has a file and a chance of its own."""
        chance = random.Random(f"{self._job.seed} {kind} {self._rounds[kind]} {group[0].number}")  # noqa: S311
        return f"0x{chance.getrandbits(64):016x}"

    def _member(self, kind: str, group: Sequence[Rank], index: int) -> list[str]:
        rank, chance = group[index], self._chance
        thread = rank.pid + chance.randrange(300, 9_000)
        header, proxy = _header(rank, thread), _header(rank, thread + 1)
        pointer = f"0x{0x7F00_0000_0000 | chance.getrandbits(36) << 4:x}"
        comm = (
            f"[Rank {index}] ncclCommInitRankConfig comm {pointer} rank {index} nranks {len(group)} cudaDev "
            f"{rank.local} nvmlDev {rank.local} busId {_BUSES[rank.local]} commId "
            f"{self._comm_id(kind, group)}"
        )
        seconds = chance.random()
        connecting, connected = self._connections(kind, group, index)
        nodes = len({member.node for member in group})
        members_here = sum(1 for member in group if member.node == rank.node)
        return [
            f"{header}{comm} - Init START\n",
            (
                f"{header}Bootstrap timings total {1.05 * seconds:.6f} (create {0.00003 + seconds / 9000:.6f}, send "
                f"{0.0001 + seconds / 900:.6f}, recv {seconds:.6f}, ring {seconds / 40:.6f}, delay 0.000001)\n"
            ),
            (
                f"{header}comm {pointer} rank {index} nRanks {len(group)} nNodes {nodes} localRanks {members_here} "
                f"localRank {rank.local % members_here} MNNVL 0\n"
            ),
            *[header + body for body in connecting],
            f"{proxy}[Proxy Service] Device {rank.local} CPU core {chance.randrange(112)}\n",
            f"{proxy}proxy listening socket at {rank.address}<{chance.randrange(32_768, 61_000)}>\n",
            f"{header}threadThresholds 8/8/64 | {8 * len(group)}/8/64 | 512 | 512\n",
            (
                f"{header}{_CHANNELS[kind]} coll channels, 0 collnet channels, {16 if nodes > 1 else 0} nvls channels, "
                f"32 p2p channels, {2 if nodes > 1 else 32} p2p channels per peer\n"
            ),
            f"{header}CC Off, workFifoBytes 1048576\n",
            f"{header}{comm} - Init COMPLETE\n",
            (
                f"{header}Init timings - ncclCommInitRankConfig: rank {index} nranks {len(group)} total "
                f"{2.3 + seconds:.2f} (kernels 0.37, alloc {seconds / 3:.2f}, bootstrap {seconds:.2f}, allgathers "
                f"{seconds / 7:.2f}, topo 0.05, graphs {seconds / 5:.2f}, connections {seconds / 2:.2f}, rest 0.02)\n"
            ),
            *[header + body for body in connected],
        ]

    def _connections(self, kind: str, group: Sequence[Rank], index: int) -> tuple[list[str], list[str]]:
        """Bodies that are the same whenever a communicator of this kind comes up on this rank."""
        key = (kind, group[index].number)
        if key not in self._bodies:
            self._bodies[key] = (_before_connecting(kind, group, index), _transports(kind, group, index))
        return self._bodies[key]


def _header(rank: Rank, thread: int) -> str:
    return f"{rank.host}:{rank.pid}:{thread} [{rank.local}] NCCL INFO "


def _process_bodies(local: int, address: str, magic: str) -> list[str]:
    adapters = "".join(f" [{n}]mlx5_{n}:1/RoCE" for n in range(GPUS))
    return [
        line + "\n"
        for line in (
            "ENV/Plugin: Could not find: libnccl-env.so",
            *_ENVIRONMENT,
            f"Socket handshake magic {magic} (built-in default)",
            f"Bootstrap: Using bond0:{address}<0>",
            "cudaDriverVersion 13000",
            "NCCL version 2.30.7+cuda13.0",
            "NCCL git version HEAD a5187fa2e",
            "NET/Plugin: Could not find: libnccl-net.so",
            *_adapters(),
            f"NET/IB : Using{adapters} [RO]; OOB bond0:{address}<0>",
            "Initialized NET plugin IB",
            "Assigned NET plugin IB to comm",
            "RMA/Plugin: Could not find: libnccl-rma.so",
            "GIN/Plugin: Could not find: libnccl-gin.so",
            "Using network IB",
            "Loaded NVML from libnvidia-ml.so.1",
            "RAS client listening socket at 127.0.0.1<28028>",
            f"MNNVL busId 0x{_BUSES[local]} fabric UUID 0.0 cliqueId 0x0 state 3 healthMask 0x0",
            "TOPO/NET : Importing network plugins to topology",
            *_topology(),
            (
                f"ncclTopoGetCpuAffinity: Affinity for GPU {local} is "
                f"{48 * (local // 4)}-{48 * (local // 4) + 47}. (GPU "
                f"affinity = {48 * (local // 4)}-{48 * (local // 4) + 47} ; CPU affinity = 0-95)."
            ),
            f"NVLS multicast support is available on dev {local} (NVLS_NCHANNELS 16)",
            f"Rank {local}: 8 Net devices",
            "Local Net device counts across ranks: min 8 max 8",
        )
    ]


@lru_cache(maxsize=1)
def _adapters() -> list[str]:
    return [
        f"NET/IB: [{n}] mlx5_{n}:uverbs{n}:1/RoCE provider=Mlx5 speed=400000 context=0x55d0c1{n}2b{n}80 "
        f"pciPath=/sys/devices/pci0000:{0x15 + 0x11 * n:02x}/0000:{0x15 + 0x11 * n:02x}:01.0/0000:{0x18 + 0x11 * n:02x}"
        ":00.0 ar=1 oooRqSize=0"
        for n in range(GPUS)
    ]


@lru_cache(maxsize=1)
def _topology() -> list[str]:
    dump = ["=== System : maxBw 48.0 totalBw 478.8 ==="]
    for numa in range(2):
        dump.append(f"CPU/0-{numa} (1/2/-1)")
        for local in range(4 * numa, 4 * numa + 4):
            bus = _BUSES[local]
            dump += [
                f"+ PCI[48.0] - PCI/0-{bus[:2]}0{bus[3:]} (1000c03015d9100b)",
                f"              + PCI[48.0] - GPU/0-{bus} ({local})",
                "                            + NVL[478.8] - NVS/0-0",
                f"              + PCI[48.0] - NIC/0-{bus[:2]}1{bus[3:]}",
                f"                            + NET[50.0] - NET/0-{local} (0/{local}/0/50.000000)",
            ]
    return [*dump, "=========================================="]


def _before_connecting(kind: str, group: Sequence[Rank], index: int) -> list[str]:
    channels, size = _CHANNELS[kind], len(group)
    before, after = (index - 1) % size, (index + 1) % size
    trees = "".join(
        f" [{n}] {(2 * index + 1) if 2 * index + 1 < size else -1}/{(2 * index + 2) if 2 * index + 2 < size else -1}/-1"
        f"->{index}->{(index - 1) // 2 if index else -1}"
        for n in range(channels)
    )
    lines = [f"Ring {n:02d} : {before} -> {index} -> {after}" for n in range(channels)]
    if index == 0:  # only a communicator's first rank tells the rings
        ring = " ".join(str(member) for member in range(size))
        lines += [f"Channel {n:02d}/{channels:02d} : {ring}" for n in range(channels)]
    lines += [
        f"Trees{trees}",
        "P2P Chunksize set to 131072",
        "Check P2P Type isAllDirectP2p 1 directMode 0 isAllCudaP2p 1",
        "PROFILER/Plugin: Could not find: libnccl-profiler.so",
        "TUNER/Plugin: Could not find: libnccl-tuner.so",
    ]
    return [line + "\n" for line in lines]


def _transports(kind: str, group: Sequence[Rank], index: int) -> list[str]:
    size = len(group)
    peers = {(index + 1) % size: "ring"}
    if kind == "ep":
        peers |= dict.fromkeys((peer for peer in range(size) if peer != index), "all to all")
    lines = [line for peer, use in peers.items() if peer != index for line in _transport(kind, group, index, peer, use)]
    nets = any(member.node != group[index].node for member in group)
    lines.append(f"Connected all rings, use ring PXN 0 GDR {int(nets)}\n")
    if nets:
        parent = (index - 1) // 2 if index else 1
        lines += [*_transport(kind, group, index, parent, "tree"), "Connected all trees\n"]
    else:
        lines.append("Connected NVLS tree\n")
    return lines


def _transport(kind: str, group: Sequence[Rank], index: int, peer: int, use: str) -> list[str]:
    """The channels to one peer: over NVLink on the same host, over the network with both directions otherwise."""
    rank, other = group[index], group[peer]
    to = f"{index}[{rank.local}] -> {peer}[{other.local}]"
    back = f"{peer}[{other.local}] -> {index}[{rank.local}]"
    shared, connection = ("/Shared", 1) if use == "all to all" else ("", 0)
    channels = range(2 if use == "all to all" else _CHANNELS[kind])
    if rank.node == other.node:
        how = "P2P/CUMEM/read" if use == "all to all" else "P2P/CUMEM"
        return [f"Channel {n:02d}/{connection} : {to} via {how}\n" for n in channels]
    ways = [(back, "receive"), (to, "send")]
    return [
        f"Channel {n:02d}/{connection} : {way} [{verb}] via NET/IB/{(rank.local + n) % GPUS}/GDRDMA{shared}\n"
        for way, verb in ways
        for n in channels
    ]
