"""NCCL's lines by version (from the message catalogue)."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.simulation.job import Group, Job
from tests.simulation.scenario import numbers
from tests.simulation.torch_words import Speaker, local_time

_PROXY = 41  # thread ids, counted from the process's own
_ASYNC = 37


class NcclWords:
    """One version's words, of the processes of a job."""

    def __init__(self, version: str, job: Job, rng: random.Random) -> None:
        self.job, self.rng = job, rng
        self.version = numbers(version)

    def info(self, rank: int, text: str, thread: int = 0) -> str:
        """An INFO line."""
        return f"{self._process(rank, thread)} NCCL INFO {text}"

    def warn(self, who: Speaker, where: str, text: str, thread: int = _PROXY) -> Iterator[str]:
        """A WARN: an empty line precedes it, and from 2.26.2 on a stamp; `where`: file, line and function."""
        stamp = f"[{local_time(who.at):%Y-%m-%d %H:%M:%S}] " if self.version >= (2, 26, 2) else ""
        yield ""
        yield f"{stamp}{self._process(who.rank, thread)} {self._where(where)}NCCL WARN {text}"

    def _where(self, where: str) -> str:
        site, function = where.split()
        return f"{site} ({function}) " if self.version >= (2, 30, 7) else f"{site} "

    def _process(self, rank: int, thread: int) -> str:
        job, pid = self.job, self.job.pids[rank]
        return f"{job.host_names[job.host(rank)]}:{pid}:{pid + thread} [{job.local(rank)}]"

    def start_up(self, rank: int, groups: list[Group], driver: str = "12040") -> Iterator[str]:
        """The lines of a process that makes its communicators without trouble."""
        job, level = self.job, self.job.scenario.nccl_debug
        bare = f"NCCL version {'.'.join(map(str, self.version))}+cuda12.4"
        if rank == 0 and (level == "WARN" or self.version < (2, 22, 3)):
            yield bare
        if level != "INFO":
            return
        if self.version >= (2, 22, 3):
            yield self.info(rank, bare)
        address = job.addresses[job.host(rank)]
        blank = " " if self.version < (2, 23, 4) else ""
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
            yield from self._communicator(rank, group)

    def _communicator(self, rank: int, group: Group) -> Iterator[str]:
        job = self.job
        inner, size, local = group.ranks.index(rank), len(group.ranks), job.local(rank)
        comm = f"0x55{self.rng.getrandbits(36):010x}"
        following = group.ranks[(inner + 1) % size]
        near = job.host(following) == job.host(rank)
        net = f"NET/IB/{local}" if job.scenario.network == "ib" else "NET/Socket/0"
        way = "via P2P/CUMEM" if near else f"[send] via {net}"
        hop = f"{inner}[{local}] -> {(inner + 1) % size}[{job.local(following)}]"
        if self.version >= (2, 18, 3):
            yield self.info(rank, self._init(comm, group, rank, "Init START"))
        yield self.info(rank, f"Channel 00/0 : {hop} {way}")
        yield self.info(rank, f"Channel 01/0 : {hop} {way}")
        yield self.info(rank, "Connected all rings")
        yield self.info(rank, self._init(comm, group, rank, "Init COMPLETE"))

    def _init(self, comm: str, group: Group, rank: int, end: str) -> str:
        inner, local = group.ranks.index(rank), self.job.local(rank)
        call = "ncclCommInitRank " if self.version >= (2, 21, 5) else ""
        if end == "Init START" and self.version >= (2, 29, 2):
            call = f"[Rank {inner}] {call}"
        nvml = f" nvmlDev {local}" if self.version >= (2, 18, 3) else ""
        ident = f" commId 0x{group.comm:x}" if self.version >= (2, 16, 2) else ""
        return (
            f"{call}comm {comm} rank {inner} nranks {len(group.ranks)} cudaDev {local}{nvml} "
            f"busId {self.job.bus[local]:x}000{ident} - {end}"
        )

    def port_error(self, who: Speaker, adapter: str) -> Iterator[str]:
        """The event that an adapter's port is down."""
        if self.version >= (2, 28, 7):
            text = f"NET/IB : {adapter}:1 Got non-fatal async event: port error(10)"
        elif self.version >= (2, 23, 4):
            text = f"NET/IB : {adapter}:1 Got async error event: port error"
        elif self.version >= (2, 20, 3):
            text = f"NET/IB : {adapter}:1 Got async event : port error"
        else:
            text = "NET/IB : Got async event : port error"
        folder = "net_ib/common.cc" if self.version >= (2, 28, 7) else "net_ib.cc"
        yield from self.warn(who, f"transport/{folder}:133 ncclIbAsyncThreadMain", text, _ASYNC)

    def completion(self, who: Speaker, peer: str) -> tuple[list[str], str]:
        """A transfer to or from a peer whose retries are exhausted: its lines, and the text alone."""
        way, version = self.rng.choice(("Send", "Recv")), self.version
        hca = f" hca mlx5_{self.job.local(who.rank)}" if version >= (2, 22, 3) else ""
        blank = " " if version < (2, 22, 3) else ""
        named, older = "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0)", "opcode 0, len 0, vendor err 129"
        if version >= (2, 29, 2):
            rest = f"{named} vendor_err=129 {way}"
        elif version >= (2, 28, 7):
            rest = f"{named} reqSize=0 vendor_err=129 req_type={way}"
        elif version >= (2, 20, 3):
            rest = f"status=12 opcode=32763 len=0 vendor err 129 ({way})"
        elif version >= (2, 18, 1):
            rest = f"error 12, {older} ({way})"
        else:
            rest = f"error 12, {older}"
        text = f"NET/IB{blank}: Got completion from peer {peer} with {rest}{hca}"
        folder = "net_ib/p2p.cc" if version >= (2, 28, 7) else "net_ib.cc"
        return [*self.warn(who, f"transport/{folder}:1295 ncclIbTest", text), *self._trail(who.rank)], text

    def peer_gone(self, who: Speaker, peer: str) -> tuple[list[str], str]:
        """A socket whose other end is gone: its lines, and the text alone."""
        closed = f"Connection closed by remote peer {peer}"
        reset = f"Call to recv from {peer} failed : Connection reset by peer"
        first, second = ("socketProgress", "socketProgressOpt") if self.version >= (2, 16, 2) else ("Net ", "Net ")
        if self.version >= (2, 29, 2):
            second = "ncclOsSocketProgressOpt"
        text = f"{first}: {closed}" if self.rng.random() < 0.5 else f"{second}: {reset}"
        return [*self.warn(who, "misc/socket.cc:49 socketProgress", text), *self._trail(who.rank)], text

    def _trail(self, rank: int) -> list[str]:
        if self.job.scenario.nccl_debug != "INFO":
            return []
        calls = (
            "transport/net.cc:1302 recvProxyProgress",
            "proxy.cc:698 progressOps",
            "proxy.cc:878 ncclProxyProgress",
        )
        lines = [self.info(rank, f"{self._where(call)}-> 6", _PROXY) for call in calls]
        return [*lines[:-1], f"{lines[-1]} [Progress Thread]"]
