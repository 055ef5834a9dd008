"""NCCL's lines by version (from the message catalogue)."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.simulation.job import Group, Job
from tests.simulation.scenario import numbers
from tests.simulation.torch_words import local_time

_STATUS = {12: "IBV_WC_RETRY_EXC_ERR", 5: "IBV_WC_WR_FLUSH_ERR"}


class NcclWords:
    """One version's words, of the processes of a job."""

    def __init__(self, version: str, job: Job, rng: random.Random) -> None:
        self.version, self.job, self.rng = version, job, rng
        self.at_least = numbers(version)

    def info(self, rank: int, text: str, thread: int = 0) -> str:
        """An INFO line."""
        return f"{self._process(rank, thread)} NCCL INFO {text}"

    def warn(self, rank: int, at: float, where: str, function: str, text: str, thread: int = 0) -> Iterator[str]:
        """A WARN: an empty line precedes it, and from 2.26.2 on a stamp."""
        stamp = f"[{local_time(at):%Y-%m-%d %H:%M:%S}] " if self.at_least >= (2, 26, 2) else ""
        named = f"({function}) " if self.at_least >= (2, 30, 7) else ""
        yield ""
        yield f"{stamp}{self._process(rank, thread)} {where} {named}NCCL WARN {text}"

    def _process(self, rank: int, thread: int) -> str:
        job = self.job
        pid = job.pids[rank]
        return f"{job.host_names[job.host(rank)]}:{pid}:{pid + thread} [{job.local(rank)}]"

    def start_up(self, rank: int, groups: list[Group], version: str, driver: str, level: str) -> Iterator[str]:
        """The lines of communicators that are made without trouble."""
        job, ours = self.job, numbers(version)
        bare = f"NCCL version {version}+cuda12.4"
        if rank == 0 and (level == "WARN" or ours < (2, 22, 3)):
            yield bare
        if level != "INFO":
            return
        if ours >= (2, 22, 3):
            yield self.info(rank, bare)
        address = job.addresses[job.host(rank)]
        blank = " " if ours < (2, 23, 4) else ""
        yield self.info(rank, f"Bootstrap{blank}: Using eth0:{address}<0>")
        yield self.info(rank, f"cudaDriverVersion {driver}")
        if job.scenario.network == "ib":
            devices = "".join(f" [{local}]mlx5_{local}:1/IB" for local in range(job.scenario.gpus))
            yield self.info(rank, f"NET/IB : Using{devices} [RO]; OOB eth0:{address}<0>")
            yield self.info(rank, "Using network IB")
        else:
            yield self.info(rank, "NET/IB : No device found.")
            yield self.info(rank, f"NET/Socket : Using [0]eth0:{address}<0>")
            yield self.info(rank, "Using network Socket")
        for group in groups:
            yield from self._communicator(rank, group, ours)

    def _communicator(self, rank: int, group: Group, version: tuple[int, ...]) -> Iterator[str]:
        job = self.job
        inner, size, local = group.ranks.index(rank), len(group.ranks), job.local(rank)
        comm = f"0x55{self.rng.getrandbits(36):010x}"
        following = group.ranks[(inner + 1) % size]
        near = job.host(following) == job.host(rank)
        net = f"NET/IB/{local}" if job.scenario.network == "ib" else "NET/Socket/0"
        way = "P2P/CUMEM" if near else f"[send] via {net}"
        via = f"via {way}" if near else way
        hop = f"{inner}[{local}] -> {(inner + 1) % size}[{job.local(following)}]"
        if version >= (2, 18, 3):
            yield self.info(rank, self._init(comm, group, rank, version, "Init START"))
        yield self.info(rank, f"Channel 00/0 : {hop} {via}")
        yield self.info(rank, f"Channel 01/0 : {hop} {via}")
        yield self.info(rank, "Connected all rings")
        yield self.info(rank, self._init(comm, group, rank, version, "Init COMPLETE"))

    def _init(self, comm: str, group: Group, rank: int, version: tuple[int, ...], end: str) -> str:
        inner, local = group.ranks.index(rank), self.job.local(rank)
        call = "ncclCommInitRank " if version >= (2, 21, 5) else ""
        if end == "Init START" and version >= (2, 29, 2):
            call = f"[Rank {inner}] {call}"
        nvml = f" nvmlDev {local}" if version >= (2, 18, 3) else ""
        ident = f" commId 0x{group.comm:x}" if version >= (2, 16, 2) else ""
        return (
            f"{call}comm {comm} rank {inner} nranks {len(group.ranks)} cudaDev {local}{nvml} "
            f"busId {self.job.bus[local]:x}000{ident} - {end}"
        )

    def port_error(self, rank: int, at: float, adapter: str) -> Iterator[str]:
        """The event that an adapter's port is down."""
        if self.at_least >= (2, 28, 7):
            text = f"NET/IB : {adapter}:1 Got non-fatal async event: port error(10)"
        elif self.at_least >= (2, 23, 4):
            text = f"NET/IB : {adapter}:1 Got async error event: port error"
        elif self.at_least >= (2, 20, 3):
            text = f"NET/IB : {adapter}:1 Got async event : port error"
        else:
            text = "NET/IB : Got async event : port error"
        yield from self.warn(rank, at, self._file("net_ib", 133), "ncclIbAsyncThreadMain", text, 37)

    def completion(self, rank: int, at: float, peer: str, adapter: str) -> tuple[list[str], str]:
        """A transfer to or from a peer that failed: its lines, and the text alone."""
        way, at_least = self.rng.choice(("Send", "Recv")), self.at_least
        end = f" hca {adapter}" if at_least >= (2, 22, 3) else ""
        if at_least >= (2, 29, 2):
            text = f"NET/IB: Got completion from peer {peer} with status={_STATUS[12]}(12) opcode=IBV_WC_SEND(0) vendor_err=129 {way}{end}"
        elif at_least >= (2, 28, 7):
            text = f"NET/IB: Got completion from peer {peer} with status={_STATUS[12]}(12) opcode=IBV_WC_SEND(0) reqSize=0 vendor_err=129 req_type={way}{end}"
        elif at_least >= (2, 20, 3):
            blank = " " if at_least < (2, 22, 3) else ""
            text = f"NET/IB{blank}: Got completion from peer {peer} with status=12 opcode=32763 len=0 vendor err 129 ({way}){end}"
        elif at_least >= (2, 18, 1):
            text = f"NET/IB : Got completion from peer {peer} with error 12, opcode 0, len 0, vendor err 129 ({way})"
        else:
            text = f"NET/IB : Got completion from peer {peer} with error 12, opcode 0, len 0, vendor err 129"
        return [*self.warn(rank, at, self._file("net_ib", 1295), "ncclIbTest", text, 41), *self._trail(rank)], text

    def peer_gone(self, rank: int, at: float, peer: str) -> tuple[list[str], str]:
        """A socket whose other end is gone: its lines, and the text alone."""
        at_least, reset = self.at_least, self.rng.random() < 0.5
        if at_least >= (2, 16, 2):
            text = f"socketProgress: Connection closed by remote peer {peer}"
            if reset:
                function = "ncclOsSocketProgressOpt" if at_least >= (2, 29, 2) else "socketProgressOpt"
                text = f"{function}: Call to recv from {peer} failed : Connection reset by peer"
        else:
            text = (
                f"Net : Call to recv from {peer} failed : Connection reset by peer"
                if reset
                else (f"Net : Connection closed by remote peer {peer}")
            )
        return [*self.warn(rank, at, "misc/socket.cc:49", "socketProgress", text, 41), *self._trail(rank)], text

    def _trail(self, rank: int) -> list[str]:
        if self.job.scenario.nccl_debug != "INFO":
            return []
        spots = (
            ("transport/net.cc:1302", "recvProxyProgress", ""),
            ("proxy.cc:698", "progressOps", ""),
            ("proxy.cc:878", "ncclProxyProgress", " [Progress Thread]"),
        )
        return [
            self.info(rank, f"{where}{f' ({function})' if self.at_least >= (2, 30, 7) else ''} -> 6{end}", 41)
            for where, function, end in spots
        ]

    def _file(self, stem: str, line: int) -> str:
        if self.at_least >= (2, 28, 7) and stem == "net_ib":
            return f"transport/net_ib/{'common' if line < 500 else 'p2p'}.cc:{line}"
        return f"transport/{stem}.cc:{line}"
