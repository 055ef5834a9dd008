"""A dump's global rank: from its file's name, and from what the dump says of itself.

PyTorch appends the rank to a prefix that the user chooses: by TORCH_FR_DUMP_TEMP_FILE, or its older name
TORCH_NCCL_DEBUG_INFO_TEMP_FILE. Without these it is `/tmp/nccl_trace_rank_` in older releases and
`~/.cache/torch/comm_lib_trace_rank_` in newer ones (FlightRecorder.cpp and before it TraceUtils.h,
DebugInfoWriter::getWriter). torchcomms does the same after TORCHCOMM_FR_DUMP_TEMP_FILE.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain

from nccl_logscan.expressions import deferred
from nccl_logscan.recorder.model import Call, Group
from nccl_logscan.recorder.values import LARGEST_WORLD, Problems

# A date or a process id is no rank: no job has had a million.
_RANK = r"[-_.=]?([0-9]{1,7})(?![0-9])"
_OF_SOMETHING_ELSE = "".join(f"(?<!{word})(?<!{word}[-_.])" for word in ("local", "node", "group", "machine"))
_AFTER_RANK = deferred(_OF_SOMETHING_ELSE + "rank" + _RANK, re.IGNORECASE)
_AFTER_WORD = deferred("(?:trace|fr|dump|recorder)" + _RANK, re.IGNORECASE)
_AT_THE_END = deferred(r"(?<![0-9])([0-9]{1,7})\Z")
_SUFFIX = deferred(
    r"\.(?:gz|gzip|zst|zstd|xz|bz2|json|pkl|pickle|bin|dump|dmp|fr|trace|txt|log|out|bak|old|orig)\Z", re.IGNORECASE
)


def rank_in_dump_name(source: str) -> int | None:
    """Return the rank that a file's name tells: `fr_5`, `nccl_trace_rank_5`, `job_rank_12.pkl.gz`, `a.tar!fr_3`.

    The prefix is whatever the user chose, so that the last number counts; a log's name says more (diagnosis/places.py).
    Where it tells none, that of the archive (`fr_3.pt!archive/data.pkl`, as torch.save writes) or of the folders that
    it lies in (`rank_3/dump`).
    """
    *archives, member = source.split("!")
    *folders, name = _parts(member)
    archives = [_parts(archive)[-1] for archive in reversed(archives)]
    told = chain(
        (_last(expression, name) for expression in (_AFTER_RANK, _AFTER_WORD)),
        (_at_the_end(name),),
        (_last(expression, archive) for archive in archives for expression in (_AFTER_RANK, _AFTER_WORD)),
        (_last(_AFTER_RANK, folder) for folder in reversed(folders)),
    )
    return next((rank for rank in told if rank is not None), None)


def _parts(path: str) -> list[str]:
    return re.split(r"[/\\]", path)


def _last(expression: re.Pattern[str], name: str) -> int | None:
    found = expression.findall(name)
    return int(found[-1]) if found else None


def _at_the_end(name: str) -> int | None:
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
    found = _AT_THE_END.search(name)
    return int(found[1]) if found else None


def rank_of(
    named: int | None, stated: int | None, groups: Mapping[str, Group], calls: Iterable[Call], problems: Problems
) -> int | None:
    """Return a dump's rank: that of its name if nothing in it speaks against, else what the content tells.

    `named` is the name's, `stated` what the dump says in words. A name and a content that contradict each other give
    None, and a clause: either may be wrong, as where files were renamed, or where torchft starts each replica's ranks
    from 0.
    """
    told = _plausible(stated if stated is not None else _by_peers(groups, calls))
    named = _plausible(named)
    if named is None:
        return told if told is not None else _plausible(_only_common_member(groups))
    members = {rank for group in groups.values() for rank in group.ranks}
    if members and named not in members:
        problems.add(f"is named after rank {named}, which is in none of its groups' ranks")
        return None
    if told is not None and told != named:
        problems.add(f"is named after rank {named}, but its calls are those of rank {told}")
        return None
    return named


def _plausible(rank: int | None) -> int | None:
    """Return a rank that a job may have; None for a larger number."""
    return rank if rank is not None and 0 <= rank < LARGEST_WORLD else None


def _by_peers(groups: Mapping[str, Group], calls: Iterable[Call]) -> int | None:
    """Return the rank that sends are from and receives are to, if all of them agree."""
    own: set[int] = set()
    for call in calls:
        if call.peers is not None:
            group = groups.get(call.group)
            place = call.peers[0] if call.operation == "send" else call.peers[1]
            if group is not None and place < len(group.ranks):
                own.add(group.ranks[place])
    return own.pop() if len(own) == 1 else None


def _only_common_member(groups: Mapping[str, Group]) -> int | None:
    """Return the one rank that is in all groups: a recorder knows the groups of its own rank alone."""
    members = [frozenset(group.ranks) for group in groups.values() if group.ranks]
    common = frozenset[int]().union(*members[:1]).intersection(*members[1:])
    return next(iter(common)) if len(common) == 1 else None
