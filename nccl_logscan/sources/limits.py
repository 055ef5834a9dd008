"""Limits: how much of an input is held, opened or believed; reaching one is said in `Source.note`."""

from __future__ import annotations

from nccl_logscan.records import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one input may cost.

    `line_bytes`: the longest line kept whole; of a longer one the first and the last half of this remain.
    `members`: files read from one archive. `ratio` and `decoded_floor`: a compressed input ends once it has given
    more than `decoded_floor` bytes and more than `ratio` times what was read of it. A real storm of one repeated
    WARN reaches 6 800 with xz, so the default is above that. `compressions`: layers of compression undone around
    one file (an archive inside an archive is never opened). `window_bytes`: memory a decompressor may take.
    `dump_bytes`: of a flight recorder's dump or a timeline of Ray, which are held as a whole. `config_bytes`: of one
    configuration file, and of all that lie beside a log together; of these no more than `configs` are read.
    """

    line_bytes: int = 1 << 20
    members: int = 10_000
    ratio: int = 10_000
    decoded_floor: int = 1 << 30
    compressions: int = 1
    window_bytes: int = 1 << 28
    dump_bytes: int = 1 << 28
    config_bytes: int = 1 << 20
    configs: int = 32
