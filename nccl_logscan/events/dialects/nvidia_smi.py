"""nvidia-smi: `-q` (any `-d`), the summary table, `-L`, `--query-gpu=... --format=csv`, `topo -m`.

Facts of `-q`, a row of the table or a cell of the CSV, by the names that HostFact gives them:

    driver, cuda_driver, gpu_model, vbios, compute_mode, mig_mode, ecc_mode, ecc_uncorrected, ecc_threshold,
    retired_pages_pending, remap_pending, remap_failed, recovery_action, reset_required, fabric_state, fabric_status,
    fabric_health, fabric_bandwidth, slowdown, unreadable (a GPU whose cells are errors), gpu_link (topo -m: the best
    link of a GPU to another)

Formats: outputs of drivers 418 to 580 in public repositories, and nvidia-smi's manual page.
"""

from __future__ import annotations

import re

from nccl_logscan.events.dialects.table import Reader, fact
from nccl_logscan.events.model import Event
from nccl_logscan.expressions import deferred
from nccl_logscan.lines.model import LogLine
from nccl_logscan.numbers import whole
from nccl_logscan.records import dataclass, field

_TOOL = "nvidia-smi"
HEADS = (
    "==============NVSMI LOG",
    "Driver Version     ",
    "CUDA Version     ",
    "Attached GPUs     ",
    "GPU 0",
    "GPU 1",
    "GPU 2",
    "GPU 3",
    "GPU 4",
    "GPU 5",
    "GPU 6",
    "GPU 7",
    "GPU 8",
    "GPU 9",
    "| NVIDIA-SMI ",
    "\tGPU0\t",
    "       GPU0 ",
    "        GPU0 ",
    "index,",
    "name,",
    "uuid,",
    "driver_version",
    "timestamp,",
    "pci.bus_id,",
    "gpu_name,",
    "gpu_uuid,",
    "gpu_bus_id,",
    "count,",
)

_CELL = deferred(r"(?P<indent>\s{0,40})(?P<key>[A-Za-z][\w .,()/+#&-]{0,60}?)\s{0,60}: (?P<value>.{0,200})$")
_SECTION = deferred(r"(?P<indent>\s{4,40})(?P<key>[A-Z][\w .,()/+&-]{0,60})$")
_GPU = deferred(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s{0,4}$")
_LISTED = deferred(r"GPU (\d{1,3}): (.{1,80}) \(UUID: (GPU-[0-9a-f-]{8,40})\)")
_SLICE = deferred(r"\s{1,8}MIG \S{1,20}\s{1,12}Device\s{1,4}\d{1,3}: \(UUID: MIG-")
_ERROR = deferred(r"\[?(?:Unknown Error|GPU is lost|GPU requires reset|ERR!|Unknown error)\]?")
_NOTHING = frozenset(("N/A", "[N/A]", "[Not Supported]", "[Not Available]", "Not Supported", "", "None", "-"))
_ERRORS_ENOUGH = 3
"""Cells of one GPU that must be errors: one alone is known from fans and power sensors of healthy GPUs."""

_COLUMN = 26
"""Cells of -q are aligned: their colon stands at column 42, at 34 in drivers before 515."""

_TOP = {"Driver Version": "driver", "CUDA Version": "cuda_driver"}
_BY_PLACE = {
    ("Product Name",): "gpu_model",
    ("VBIOS Version",): "vbios",
    ("Compute Mode",): "compute_mode",
    ("MIG Mode", "Current"): "mig_mode",
    ("ECC Mode", "Current"): "ecc_mode",
    ("Ecc Mode", "Current"): "ecc_mode",
    ("GPU Recovery Action",): "recovery_action",
    ("GPU Reset Status", "Reset Required"): "reset_required",
    ("Retired Pages", "Pending Page Blacklist"): "retired_pages_pending",
    ("Retired Pages", "Pending"): "retired_pages_pending",
    ("Remapped Rows", "Pending"): "remap_pending",
    ("Remapped Rows", "Remapping Failure Occurred"): "remap_failed",
    ("Fabric", "State"): "fabric_state",
    ("Fabric", "Status"): "fabric_status",
    ("Fabric", "Health", "Summary"): "fabric_health",
    ("Fabric", "Health", "Bandwidth"): "fabric_bandwidth",
}
# Volatile counts are of this boot; aggregate ones of the GPU's whole life.
_UNCORRECTED = deferred(r"(?:SRAM|DRAM) Uncorrectable(?: Parity| SEC-DED)?|Double Bit")
_VERSION = deferred(r"\d{1,4}(?:\.\d{1,4}){0,3}|\[?(?:N/A|Unknown Error|GPU is lost|Not Supported)\]?")
_INDEX = deferred(r"\d{1,4}|\[?(?:N/A|Unknown Error|GPU is lost)\]?")
_COLUMNS = {
    "driver_version": "driver",
    "name": "gpu_model",
    "gpu_name": "gpu_model",
    "vbios_version": "vbios",
    "compute_mode": "compute_mode",
    "mig.mode.current": "mig_mode",
    "ecc.mode.current": "ecc_mode",
    "ecc.errors.uncorrected.volatile.total": "ecc_uncorrected",
    "retired_pages.pending": "retired_pages_pending",
    "remapped_rows.pending": "remap_pending",
    "remapped_rows.failure": "remap_failed",
    "gpu_recovery_action": "recovery_action",
    "fabric.state": "fabric_state",
    "fabric.status": "fabric_status",
}
_DEVICES = ("pci.bus_id", "gpu_bus_id", "index", "uuid", "gpu_uuid")


def opened_by(line: LogLine) -> Reader | None:
    """Return a reader for the output that a line begins; None where it begins none."""
    text = line.text
    if text.startswith("| NVIDIA-SMI "):
        return Summary()
    if text.startswith(("\t", " ")):
        return Topology() if "GPU0" in text[:24] and text.split()[:1] == ["GPU0"] else None
    if text[:1].islower():
        return _csv(text)
    if text.startswith("GPU ") and not _GPU.match(text) and not _LISTED.match(text):
        return None
    return Listing() if _LISTED.match(text) else Query()


@dataclass(slots=True)
class Listing:
    """Reads `nvidia-smi -L`: GPUs, and their MIG instances."""

    host: str | None = None

    def read(self, line: LogLine) -> tuple[Event, ...] | None:
        """Return the model of a GPU, or that one is divided; None behind the list."""
        if found := _LISTED.match(line.text):
            return (fact(line, _TOOL, "gpu_model", found[2], device=found[1]),)
        return (fact(line, _TOOL, "mig_mode", "Enabled"),) if _SLICE.match(line.text) else None


@dataclass(slots=True)
class Query:
    """Reads `nvidia-smi -q`. Sections are told by their indentation."""

    host: str | None = None
    _gpu: str | None = None
    _places: list[tuple[int, str]] = field(default_factory=list)
    _errors: int = 0

    def read(self, line: LogLine) -> tuple[Event, ...] | None:
        """Return the fact of a line, if it holds one worth comparing; None where the output has ended."""
        text = line.text.rstrip()
        if found := _GPU.match(text):
            self._gpu, self._places, self._errors = found[1], [], 0
            return ()
        if text.startswith(("====", "Timestamp  ")):
            return ()
        if (found := _CELL.match(text)) and found.start("value") > _COLUMN:
            return self._cell(line, len(found["indent"]), found["key"], found["value"].strip())
        if found := _SECTION.match(text):
            self._enter(len(found["indent"]), found["key"])
            return ()
        return None

    def _enter(self, indent: int, key: str) -> None:
        while self._places and self._places[-1][0] >= indent:
            self._places.pop()
        if len(self._places) < 8:
            self._places.append((indent, key))

    def _cell(self, line: LogLine, indent: int, key: str, value: str) -> tuple[Event, ...] | None:
        if indent == 0:
            name = _TOP.get(key)
            if name is not None:
                return (fact(line, _TOOL, name, value),) if value not in _NOTHING else ()
            return () if key == "Attached GPUs" else None
        self._enter(indent, key)
        if _ERROR.fullmatch(value):
            return self._unreadable(line, value)
        place = tuple(key for _, key in self._places)
        name = _BY_PLACE.get(place)
        number = whole(value)
        if place[0].lower() == "ecc errors" and place[1:2] == ("Volatile",) and number is not None:
            name = "ecc_uncorrected" if _is_uncorrected(place) else None
        elif place[0] == "ECC Errors" and key == "SRAM Threshold Exceeded":
            name = "ecc_threshold"
        elif value == "Active" and key.endswith("Slowdown"):
            name = "slowdown"
        if name is None or value in _NOTHING:
            return ()
        return (fact(line, _TOOL, name, value, place=self._place(), device=self._gpu, number=number),)

    def _place(self) -> str:
        return ": ".join([f"GPU {self._gpu}" if self._gpu else "GPU", *(key for _, key in self._places[:-1])])

    def _unreadable(self, line: LogLine, value: str) -> tuple[Event, ...]:
        """Once for a GPU: when enough of its cells are errors, or one says that it is lost."""
        before = self._errors
        self._errors += _ERRORS_ENOUGH if "lost" in value or "reset" in value else 1
        if before >= _ERRORS_ENOUGH or self._errors < _ERRORS_ENOUGH:
            return ()
        return (fact(line, _TOOL, "unreadable", value, place=self._place(), device=self._gpu),)


def _is_uncorrected(place: tuple[str, ...]) -> bool:
    """`Volatile: DRAM Uncorrectable`; before driver 450 `Volatile: Double Bit: Total` beside the memories' own."""
    if place[2:3] == ("Double Bit",):
        return place[3:] == ("Total",)
    return len(place) == 3 and _UNCORRECTED.fullmatch(place[2]) is not None


@dataclass(slots=True)
class Summary:
    """Reads the table that nvidia-smi prints without options, up to its list of processes."""

    host: str | None = None
    _gpu: str | None = None
    _row: int = 0

    def read(self, line: LogLine) -> tuple[Event, ...] | None:
        """Return the facts of a row; None where the table has ended."""
        text = line.text.rstrip()
        if text[:1] not in {"|", "+"} or text.startswith("| Processes"):
            return None
        if text.startswith("| NVIDIA-SMI "):
            return self._head(line, text)
        if text.startswith(("+", "|--", "|==")):
            self._row = 0
            return ()
        self._row += 1
        cells = [cell.strip() for cell in text.strip("|").split("|")]
        return self._first(line, cells) if self._row == 1 else self._later(line, cells)

    def _head(self, line: LogLine, text: str) -> tuple[Event, ...]:
        found = re.findall(r"(Driver Version|CUDA Version): {0,8}(\d{1,4}(?:\.\d{1,4}){1,3})", text)
        return tuple(fact(line, _TOOL, _TOP[name], value) for name, value in found)

    def _first(self, line: LogLine, cells: list[str]) -> tuple[Event, ...]:
        """`0  NVIDIA H100 80GB HBM3  On | 00000000:19:00.0 Off | 0`: index and name, address, uncorrected errors."""
        named = re.match(r"(\d{1,3})\s{1,8}(\S.{0,60}?)\s{2,40}(?:On|Off|N/A)\s{0,4}$", cells[0])
        if named is None or len(cells) != 3:
            return ()
        address = cells[1].split()[:1]
        self._gpu = address[0] if address else named[1]
        facts: list[tuple[str, str, int | None]] = []
        facts += [] if named[2] == "ERR!" or named[2].endswith("...") else [("gpu_model", named[2], None)]
        if (errors := whole(cells[2])) is not None:
            facts.append(("ecc_uncorrected", cells[2], errors))
        place = f"GPU {self._gpu}: Volatile Uncorr. ECC {cells[2]}"
        return tuple(
            fact(line, _TOOL, name, value, place=place, device=self._gpu, number=number)
            for name, value, number in facts
        )

    def _later(self, line: LogLine, cells: list[str]) -> tuple[Event, ...]:
        """The second row ends with the compute mode, the third with the MIG mode; a hung GPU's cells are `ERR!`."""
        if self._gpu is None:
            return ()
        if sum(cell.count("ERR!") for cell in cells) >= _ERRORS_ENOUGH:
            return (fact(line, _TOOL, "unreadable", "ERR!", place=f"GPU {self._gpu}", device=self._gpu),)
        last = cells[-1].split()
        if self._row == 2 and (last[-1:] == ["Prohibited"] or last[-2:] == ["E.", "Process"]):
            value = "Exclusive_Process" if last[-1] == "Process" else "Prohibited"
            return (fact(line, _TOOL, "compute_mode", value, place=f"GPU {self._gpu}", device=self._gpu),)
        if self._row == 3 and last[-1:] in (["Enabled"], ["Disabled"]):
            return (fact(line, _TOOL, "mig_mode", last[-1], place=f"GPU {self._gpu}", device=self._gpu),)
        return ()


_LINK = deferred(r"X|NV\d{1,2}|SYS|NODE|PHB|PXB|PIX|PSB|SOC|NVL")
_LINKS = ("SYS", "SOC", "NODE", "PHB", "PXB", "PIX", "PSB")


@dataclass(slots=True)
class Topology:
    """Reads `nvidia-smi topo -m`: for each GPU, by what it is joined to the nearest of the others."""

    host: str | None = None
    _gpus: int = 0

    def read(self, line: LogLine) -> tuple[Event, ...] | None:
        """Return the best link of a row's GPU; None behind the matrix."""
        cells = line.text.split()
        if not self._gpus:
            self._gpus = sum(1 for cell in cells if re.fullmatch(r"GPU\d{1,3}", cell))
            return ()
        if not cells or not re.fullmatch(r"GPU\d{1,3}|NIC\d{1,3}|mlx5_\w{1,20}|bnxt_re\d{1,2}|rdma\w{1,16}", cells[0]):
            return None
        links = [cell for cell in cells[1 : 1 + self._gpus] if _LINK.fullmatch(cell) and cell != "X"]
        if not cells[0].startswith("GPU") or not links:
            return ()
        best = max(links, key=_closeness)
        return (fact(line, _TOOL, "gpu_link", best, device=cells[0]),)


def _closeness(link: str) -> int:
    return 100 + int(link[2:]) if link[2:].isdigit() else _LINKS.index(link) if link in _LINKS else 0


@dataclass(slots=True)
class Csv:
    """Reads `--query-gpu=... --format=csv` with its heading; `columns` are the names of the fields asked for."""

    columns: tuple[str, ...]
    host: str | None = None
    _begun: bool = False

    def read(self, line: LogLine) -> tuple[Event, ...] | None:
        """Return the facts of a row; None for a line with another number of cells."""
        cells = [cell.strip() for cell in line.text.split(",")]
        if not self._begun:
            self._begun = True
            return ()
        if len(cells) != len(self.columns):
            return None
        row = dict(zip(self.columns, cells, strict=True))
        if not _VERSION.fullmatch(row.get("driver_version", "0")) or not _INDEX.fullmatch(row.get("index", "0")):
            return None
        device = next((row[name] for name in _DEVICES if name in row and row[name] not in _NOTHING), None)
        errors = [cell for cell in cells if _ERROR.fullmatch(cell)]
        if any("lost" in cell or "reset" in cell for cell in errors) or len(errors) >= _ERRORS_ENOUGH:
            return (fact(line, _TOOL, "unreadable", errors[0], place=f"GPU {device}", device=device),)
        return tuple(
            fact(
                line,
                _TOOL,
                name,
                row[column],
                place=f"GPU {device}: {column}",
                device=device,
                number=whole(row[column]),
            )
            for column, name in _COLUMNS.items()
            if column in row and row[column] not in _NOTHING and not _ERROR.fullmatch(row[column])
        )


def _csv(text: str) -> Csv | None:
    columns = tuple(cell.strip().partition(" [")[0] for cell in text[:2_000].split(","))
    known = sum(1 for column in columns if column in _COLUMNS or column in _DEVICES)
    whole_line = all(re.fullmatch(r"[a-z][a-z0-9_.]{1,60}", column) for column in columns)
    return Csv(columns) if whole_line and known and (len(columns) > 1 or columns[0] in _COLUMNS) else None
