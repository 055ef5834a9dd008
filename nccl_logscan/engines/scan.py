"""A scan whose large logs a Ray cluster reads; of the same logs the same result as without, to the byte."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from nccl_logscan.diagnosis.verdict import ScanResult
from nccl_logscan.engines.cluster import Node, connected
from nccl_logscan.engines.crews import TaskCrews, shards_of
from nccl_logscan.engines.nodes import found_on_nodes
from nccl_logscan.engines.queue import PATIENCE, Queue
from nccl_logscan.engines.shards import HEAD, File, Work, digest_of
from nccl_logscan.pipeline import Options, files_around, scan_sources
from nccl_logscan.records import replace
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.skim.large import has_bom
from nccl_logscan.sources import open_sources
from nccl_logscan.sources.kind import Kind
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.line_source import LineSource
from nccl_logscan.sources.source import Source
from nccl_logscan.version import __version__


def scan_on_ray(
    logs: Sequence[str],
    rulebook: Rulebook,
    options: Options,
    stdin: BinaryIO | None = None,
    *,
    address: str | None = None,
    workers: int | None = None,
    on_every_node: str | None = None,
    patience: float = PATIENCE,
) -> ScanResult:
    """Scan logs as one job, as `scan` does, and what each node of the cluster has below a path.

    Plain logs of half a megabyte and more are read by tasks; this process reads what they cannot, and all others.
    `address`, `workers`: see `connected`; `patience`: seconds after which a silent task is taken for lost.

    Raises InputError as `scan` does, and where there is no Ray, no cluster, or no file on any node.
    """
    sources: list[LineSource] = [*open_sources(logs, limits=options.limits, stdin=stdin)]
    with (
        connected(address, workers) as cluster,
        closing(Queue(cluster, _work(rulebook, options.limits), patience)) as queue,
    ):
        if not cluster.is_own and sources:
            queue.must_understand()
        ahead = [*_large_ones(sources, options.skimming.large)]
        if on_every_node is not None:
            found = found_on_nodes(queue, cluster.nodes(), on_every_node, options.limits)
            sources.extend(found.sources)
            ahead.extend(found.ahead)
        files = files_around(logs, sources, options)
        queue.plan(shards_of(ahead))
        crews = TaskCrews(queue, {file.name: (file, nodes) for file, nodes, is_large in ahead if is_large})
        skimming = replace(options.skimming, crews=crews)
        return scan_sources(sources, rulebook, replace(options, skimming=skimming), files)


def _work(rulebook: Rulebook, limits: Limits) -> Work:
    own = None if rulebook.digest == builtin_rulebook().digest else rulebook
    return Work(uuid4().hex, __version__, rulebook.digest, own, limits)


def _large_ones(sources: Sequence[LineSource], large: int | None) -> Iterator[tuple[File, tuple[Node, ...], bool]]:
    for source in sources:
        if large and isinstance(source, Source) and source.path is not None and source.kind != Kind.CONFIG:
            file = _large(source.name, source.path, large)
            if file is not None:
                yield file, (), True


def _large(name: str, path: Path, large: int) -> File | None:
    try:
        with path.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            head = opened.read(HEAD) if size >= large else b""
    except OSError:
        return None
    return None if size < large or has_bom(head) else File(name, str(path.absolute()), size, digest_of(head))
