import pytest

from nccl_logscan.diagnosis.gpus import Gpus, pci_of
from nccl_logscan.events.dialects.nccl import read
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import Position


@pytest.mark.parametrize(
    ("bus_id", "pci"), [("60", "0:0:6"), ("3b000", "0:3b:0"), ("10000cb000", "10000:cb:0"), ("1b000", "0:1b:0")]
)
def test_nccl_s_bus_id_is_the_pci_address(bus_id, pci):
    assert pci_of(bus_id) == pci


def test_ranks_are_those_of_the_largest_communicator():
    init = (
        "a:{pid}:{pid} [0] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks {nranks} cudaDev 0 nvmlDev 0 busId 60"
    )
    gpus = Gpus()
    for pid, rank, nranks in ((1, 0, 2), (1, 5, 8), (1, 1, 4)):
        line = LogLine(Position("log", 1, 0), init.format(pid=pid, rank=rank, nranks=nranks) + " - Init COMPLETE")
        gpus.feed(read(line), None)
    assert (gpus.ranks_on("a"), gpus.at("a", "0000:00:06.0"), gpus.one_size) == ((5,), (5, 0), False)
