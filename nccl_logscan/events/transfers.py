"""FailedTransfer: the two ends of a connection that a message says has failed.

Read in NCCL 2.3.5 to 2.32.3 (net_ib.cc, later net_ib/p2p.cc; socket.h, socket.cc, os/linux.cc), its RDMA plugins,
libfabric's EFA provider, Gloo and UCX. Only the far end is in the words; the near end is whoever wrote them.
"""

from __future__ import annotations

import re
from enum import StrEnum

from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass

_LONGEST = 2_000


class Manner(StrEnum):
    """How a transfer failed.

    unanswered: nothing came back. stalled: nothing has come back yet. rejected: the far adapter answered with an error.
    closed: the far kernel said that the process had gone. refused: nobody listened there.
    """

    UNANSWERED = "unanswered"
    STALLED = "stalled"
    REJECTED = "rejected"
    CLOSED = "closed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class FailedTransfer:
    """What a line says of a failed transfer; None where it does not say.

    `peer` is the far end as printed, without a port; `peer_alias` another name of it (a GID, a cloud's host id).
    `own_address` is a GID of the near end, `own_alias` the cloud's id of its host, `adapter` its adapter. `rdma`: over
    InfiniBand, RoCE or EFA rather than TCP.
    """

    manner: Manner
    rdma: bool
    peer: str
    peer_alias: str | None = None
    own_address: str | None = None
    own_alias: str | None = None
    adapter: str | None = None


def failed_transfer(message: str) -> FailedTransfer | None:
    """Return the transfer that a message of NCCL, a plugin, Gloo or UCX says has failed; None if it names no far end.

    A flushed request is none: the queue pair had failed before, and the first of its requests says how.
    """
    if len(message) > _LONGEST:
        message = message[:_LONGEST]
    if "ompletion from peer" in message:
        return _completion(message)
    if " EFA addr: " in message:
        return _efa(message)
    if "gloo/transport/" in message:
        return _gloo(message)
    if "WQE stall" in message:
        return _stall(message)
    return _socket(message)


# --- RDMA ------------------------------------------------------------------------------------------------

_COMPLETION = deferred(
    r"Got completion from peer (\S{1,200}) with (?:error |status=)(?:[A-Za-z_ ]{1,80}\()?(\d{1,3})\b", re.ASCII
)
_OWN_GID = deferred(r"\blocalGid[ =]([0-9A-Fa-f:.]{2,64})", re.ASCII)
# No blank stands before the GID from 2.18 to 2.32: `remoteGids::ffff:10.0.0.3`.
_PEER_GID = deferred(r"\bremoteGids?[ =]?([0-9A-Fa-f:.]{2,64})", re.ASCII)
_ADAPTER = deferred(r" (?:hca |dev=)([\w.-]{1,64})", re.ASCII)
_STALL = deferred(r"peer=(\S{1,200})", re.ASCII)
_EFA = deferred(
    r"My EFA addr: \S{0,20}\[([0-9A-Fa-f:]{2,64})\]\S{0,40}\s{1,4}My host id: (\S{1,64})"
    r"\s{1,4}Peer EFA addr: \S{0,20}\[([0-9A-Fa-f:]{2,64})\]\S{0,40}\s{1,4}Peer host id: ([\w.-]{1,64})",
    re.ASCII,
)
# ibv_wc_status of rdma-core: 12 retries exceeded; answers of the far adapter: 9 invalid request, 10 remote access,
# 11 remote operation, 13 receiver not ready. The rest is the near adapter's own, and 5 a flush.
_UNANSWERED_STATUS = "12"
_REJECTED_STATUS = frozenset(("9", "10", "11", "13"))


def _completion(message: str) -> FailedTransfer | None:
    said = _COMPLETION.search(message)
    if said is None:
        return None
    if said[2] == _UNANSWERED_STATUS:
        manner = Manner.UNANSWERED
    elif said[2] in _REJECTED_STATUS:
        manner = Manner.REJECTED
    else:
        return None
    return _rdma(manner, said[1], message[said.end() :])


def _stall(message: str) -> FailedTransfer | None:
    said = _STALL.search(message)
    return _rdma(Manner.STALLED, said[1], message[said.end() :]) if said else None


def _rdma(manner: Manner, peer: str, rest: str) -> FailedTransfer:
    own, far, adapter = _OWN_GID.search(rest), _PEER_GID.search(rest), _ADAPTER.search(rest)
    return FailedTransfer(
        manner,
        rdma=True,
        peer=_without_port(peer),
        peer_alias=far[1] if far else None,
        own_address=own[1] if own else None,
        adapter=adapter[1] if adapter else None,
    )


def _efa(message: str) -> FailedTransfer | None:
    said = _EFA.search(message)
    if said is None:
        return None
    own, own_id, peer, peer_id = said.groups()
    return FailedTransfer(
        Manner.UNANSWERED,
        rdma=True,
        peer=peer,
        peer_alias=None if peer_id in {"N/A", "N"} else peer_id,
        own_address=own,
        own_alias=None if own_id == "N/A" else own_id,
    )


# --- TCP -------------------------------------------------------------------------------------------------

_PEER = r"(\[[^\]\s]{1,200}\]|[^\s<\[\]]{1,200})"
_SOCKET = deferred(
    r"[Cc]onnection closed by (?:remote )?peer " + _PEER + r"(?=[\s<:]|$)"
    r"|Call to \w{1,20} (?:from |to )" + _PEER + r"(?:<\S{0,20})? failed "
    r"|[Cc]onnect to " + _PEER + r"(?:<\S{0,20})? (?:failed|returned) "
    r"|\b(?:dest|remote)_addr=" + _PEER + r"\) failed",
    re.ASCII,
)
_GLOO = deferred(r"\[([0-9A-Fa-f:.]{2,64})(?:%[\w.-]{1,32})?\]:\d{1,5}", re.ASCII)
_REASONS = (
    ("closed by", Manner.CLOSED),
    ("errno 110", Manner.UNANSWERED),
    ("timed out", Manner.UNANSWERED),
    ("o route to host", Manner.UNANSWERED),
    ("is unreachable", Manner.UNANSWERED),
    ("is down", Manner.UNANSWERED),
    ("in progress", Manner.UNANSWERED),
    ("reset by peer", Manner.CLOSED),
    ("Broken pipe", Manner.CLOSED),
    ("refused", Manner.REFUSED),
)


def _socket(message: str) -> FailedTransfer | None:
    said = _SOCKET.search(message)
    if said is None:
        return None
    peer = next(name for name in said.groups() if name is not None)
    if said.lastindex == 4 and not peer.startswith("["):
        peer = peer.rpartition(":")[0] or peer
    return _over_tcp(peer.strip("[]"), message[said.start() :])


def _gloo(message: str) -> FailedTransfer | None:
    said = _GLOO.search(message)
    return _over_tcp(said[1], message) if said else None


def _over_tcp(peer: str, words: str) -> FailedTransfer | None:
    manner = next((manner for reason, manner in _REASONS if reason in words), None)
    return None if manner is None else FailedTransfer(manner, rdma=False, peer=peer)


def _without_port(peer: str) -> str:
    """`10.0.0.3<40211>` → `10.0.0.3`."""
    return peer.partition("<")[0]
