"""StandIns: what tells a site, its machines and its people in a text, each replaced by the same name everywhere."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from nccl_logscan.diagnosis.host_names import short_host
from nccl_logscan.expressions import deferred
from nccl_logscan.report.redact import REDACTED

KINDS = ("host", "ip", "guid", "mac", "user", "email", "path", "file", "job", "pod", "container")
"""What is replaced, by the names of its stand-ins: `host-1`, `path-2`."""

_STAND_IN = deferred(rf"(?:{'|'.join(KINDS)})-\d{{1,9}}")
_TAKEN = deferred(rf"(?<![A-Za-z0-9])({'|'.join(KINDS)})-(\d{{1,9}})(?!\d)")
_IS_TAKEN = deferred(rf"(?!ip(?:-\d{{1,3}}){{4}})(?:{'|'.join(KINDS)})-\d{{1,9}}(?![A-Za-z0-9]).*", re.DOTALL)

# --- names that a text tells by where they stand; the first group is the name ----------------------------------

_NAME = r"([A-Za-z0-9][\w.-]{0,252})"
_VARIABLE = r"[\"']?\s{0,2}[=:]\s{0,2}[\"']?"
_INNER = "(?:internal|local|lan|corp|intranet)"
_TOLD = (
    ("host", deferred(rf"(?:^|(?<=[\s\]|>])){_NAME}:\d{{1,10}}:\d{{1,10}} \[")),
    ("host", deferred(r"(?<![\w.%/-])([A-Za-z][\w.-]{0,252})<\d{1,5}>")),
    ("host", deferred(rf"(?i)\b(?:hostname|(?:slurmd_)?nodename|node_name|nccl_hostid|master_addr){_VARIABLE}{_NAME}")),
    ("host", deferred(rf"(?i)(?<![\w.])host\s{{0,12}}[=:]\s{{0,2}}[\"']?{_NAME}")),
    ("host", deferred(rf"(?:srun|slurmstepd): error: {_NAME}(?:\[[\d,-]{{1,200}}\])?: ")),
    ("host", deferred(rf"(?i)\bconnect to (?:any network address of )?[\[(]?{_NAME}(?:\]:|,? port |, |:)\d")),
    ("host", deferred(rf"(?i)\bconnect to host {_NAME}")),
    ("host", deferred(rf"(?i)\b(?:rdzv|master|head)[_-](?:endpoint|addr(?:ess)?){_VARIABLE}{_NAME}")),
    ("host", deferred(rf"(?i)--(?:rdzv|master|head)[_-](?:endpoint|addr(?:ess)?)\s{_NAME}")),
    ("host", deferred(rf"(?i)(?<![\w-])(?:--address|ray_address){_VARIABLE}{_NAME}:\d")),
    ("host", deferred(r"(?i)\b(?:node|host) (?=[\w.-]{1,63}\d)([a-z][\w-]{1,62}(?:\.[\w-]{1,62}){0,8})")),
    ("host", deferred(rf"(?i)\bresolve (?:host(?:name)? )?[\"'\[]?(?=[\w-]{{1,63}}[.\d]){_NAME}")),
    ("host", deferred(rf"(?i)\bPermanently added [\"']?\[?{_NAME}")),
    ("host", deferred(rf"\*\*\* (?:JOB|STEP) \S{{1,40}} ON {_NAME} ")),
    ("host", deferred(r"\b[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ([A-Za-z0-9][\w.-]{0,252}) [\w.-]{1,40}(?:\[\d+\])?: ")),
    ("host", deferred(r"(?i)\b(?:\w{1,32}_)?(?:nodelist|hostfile_hosts)=([A-Za-z][\w.,\[\]-]{1,252})")),
    ("host", deferred(rf"(?<![\w.@/-])([A-Za-z0-9][\w-]{{0,62}}(?:\.[\w-]{{1,63}}){{0,8}}\.{_INNER})(?![\w-])")),
    ("host", deferred(r"(?<![\w.@/-])(ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3})(?!\w)")),
    ("host", deferred(r"(?<![\w.-])[a-z_][\w-]{0,31}@([A-Za-z][\w-]{0,62})(?![\w.-])")),
    ("user", deferred(r"/(?:home|Users|users)/([A-Za-z0-9_][\w.-]{0,63})")),
    ("user", deferred(rf"\b(?:USER|LOGNAME|USERNAME|SLURM_JOB_USER){_VARIABLE}([A-Za-z_][\w.-]{{0,63}})")),
    ("user", deferred(r"\b(?:username|user_name|UserId|user)=([A-Za-z_][\w.-]{0,63})")),
    ("user", deferred(r"(?i)\blogged in as:? ([a-z_][\w.-]{0,63})")),
    ("user", deferred(r"(?i)\blogged in as:? [a-z_][\w.-]{0,63} \(([a-z_][\w.-]{0,63})\)")),
    ("user", deferred(r"\buid=\d{1,10}\(([A-Za-z_][\w.-]{0,63})\)")),
    ("job", deferred(r"(?i)\b(?:slurm_)?job[_-]?name[\"']?[\s=:]{1,3}[\"']?([A-Za-z0-9][\w.-]{1,127})")),
    ("job", deferred(r"wandb: (?:Syncing|Resuming|Creating) run ([A-Za-z0-9][\w.-]{1,127})")),
    ("job", deferred(r"\b((?:raysubmit_|application_\d)\w{6,40})")),
    ("pod", deferred(r"(?i)\bpod(?:_name)?(?:/|[\"']?\s{0,2}[=:]\s{0,2}[\"']?)([a-z0-9][a-z0-9.-]{2,252})")),
    ("pod", deferred(r"(?<![\w./-])([a-z][a-z0-9-]{0,200}-[a-f0-9]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5})(?![\w-])")),
    ("container", deferred(rf"(?i)\bcontainer(?:_name|_id|name)[\"']?\s{{0,2}}[=:]\s{{0,2}}[\"']?{_NAME}")),
    ("container", deferred(r"(?<![0-9A-Za-z])([0-9a-f]{64})(?![0-9A-Za-z])")),
    ("guid", deferred(r"(?i)guid[\s=:\"']{1,4}((?:0x)?[0-9a-f]{16})\b")),
)  # fmt: skip

# --- what a text tells by its form ------------------------------------------------------------------------------

# A job's number is replaced where it is said to be one: elsewhere it may count steps.
_JOB = deferred(
    r"(?i)\b((?:\w{1,32}_)?job(?:[_ -]?id)?[\"']?(?:\s{0,2}[=:]\s{0,2}| )[\"']?)(\d{3,20}(?:_\d{1,9})?)\b(?![-/])"
)
_EMAIL = deferred(
    r"(?<![\w.+-])[A-Za-z0-9_][\w.+-]{0,63}@[A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,62}){0,8}\.[A-Za-z]{2,24}(?![\w-])"
)
_UUID = deferred(
    r"(?i)(?<![0-9a-f])[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}(?![0-9a-z])"
)
_GUID = deferred(
    r"(?i)(?<![\w:])(?:[0-9a-f]{4}(?::[0-9a-f]{4}){3}|[0-9a-f]{2}(?::[0-9a-f]{2}){7}(?:(?::[0-9a-f]{2}){12})?)(?![\w:])"
)
_MAC = deferred(r"(?i)(?<![\w:-])[0-9a-f]{2}(?:(?::[0-9a-f]{2}){5}|(?:-[0-9a-f]{2}){5})(?![\w:-])")
# NCCL prints an interface before it, eth0:fe80::1%eth0<0>, and puts it to its name: remoteGidsfe80::1.
_V6 = deferred(
    r"(?i)(?:(?<![\w:.])|(?<=gids))(?:(?P<interface>(?![a-z]{0,16}gid)[a-z][\w.-]{1,31}):)?(?P<address>(?=[0-9a-f:]{0,40}:)[0-9a-f:]{2,39}"
    r"(?:(?<=:)\d{1,3}(?:\.\d{1,3}){3})?)(?![\w:]|\.\d)"
)
_V4 = deferred(r"(?<![\w.])(?<!==)\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)")
# A password or a signature in it is [redacted] by now.
_IN_URL = r"\[redacted\]|\[[0-9a-f:.]{2,45}\]|[^\s\"'<>)\],;"
_URL = deferred(rf"(?i)\b([a-z][a-z0-9+.-]{{0,15}})://((?:{_IN_URL}/]){{1,253}})((?:{_IN_URL}]){{0,2000}})")
_SEGMENT = r"[\w.@+~%-]"
_PATH = deferred(
    rf"(?<![\w.@+~%/>\]-])(?:~|\.\.?)?/(?:{_SEGMENT}{{1,255}}/){{0,40}}{_SEGMENT}{{1,255}}"
    rf"|(?<![\w.@+~%/>:-])(?:{_SEGMENT}{{1,255}}/){{1,40}}{_SEGMENT}{{1,255}}"
)
_WINDOWS_PATH = deferred(r"(?<!\w)[A-Za-z]:\\(?:[\w.@ +-]{1,255}\\){0,40}[\w.@+-]{1,255}")
_PORT = deferred(r"(.*?)(:\d{1,5})?", re.DOTALL)

_LOOPBACK = frozenset({"0.0.0.0", "127.0.0.1", "255.255.255.255", "::", "::1"})  # noqa: S104 - nothing is bound
_SYSTEM = (
    "/proc/",
    "/sys/",
    "/dev/",
    "/usr/",
    "/lib/",
    "/lib64/",
    "/bin/",
    "/sbin/",
    "/etc/",
    "/var/log/",
    "/var/run/",
    "/default_pg/",  # a key of PyTorch's store
)
_SHARED = ("/tmp", "/var/tmp")  # noqa: S108 - nothing is written there
_PUBLIC = deferred(
    r"(?i)(?:[\w-]{1,63}\.)*(?:pytorch|python|kernel|deepspeed|gnu|man7|schedmd|docker|ray|openmp|jax|kubernetes)\."
    r"(?:org|ai|io|com|dev)|(?:[\w-]{1,63}\.){0,4}nvidia\.com|(?:[\w-]{1,63}\.){0,4}(?:huggingface|hf)\.co|aka\.ms"
    r"|github\.com(?=/(?:nvidia|pytorch|huggingface|deepspeedai|microsoft|openxla|google)/)"
)
# From here on a path is a library's own, the same at every site.
_LIBRARY = deferred(
    r"(?:(?:site|dist)-packages/)?(?:torch|torchrun|nvidia|deepspeed|transformers|accelerate|lightning|pytorch_lightning"
    r"|megatron|ray|vllm|jax|jaxlib|tensorflow|horovod|numpy|triton|composer|fairscale)/.+"
    r"|(?:(?:src|nccl)/)?(?:src|transport|misc|graph|include|aten|c10|csrc|plugin|os)/.+\.(?:cc|cpp|cu|cuh|h|hpp|c)"
)
_IN_LIBRARY = deferred(rf"(?:^|/)(?={_LIBRARY.pattern}$)")
_SOURCE = deferred(
    r"(?i).+\.(?:py|pyx|sh|bash|sbatch|slurm|ya?ml|json|toml|ini|cfg|conf|env|xml|cc|cpp|cu|cuh|h|hpp|c|so(?:\.[\d.]+)?)"
    r"|Dockerfile|Makefile|python[\d.]*|torchrun"
)
_FILE_SUFFIX = deferred(
    r"(?i)\.(?:py|sh|sbatch|slurm|ya?ml|json|jsonl|toml|ini|cfg|conf|env|log|txt|out|err|csv|pt|pth|bin|ckpt|safetensors"
    r"|parquet|arrow|jpe?g|png|npy|pkl|tar|gz|xz|zst|bz2|zip)$"
)
_PLAIN_FILE = deferred(
    r"(?i)(?:(?:trainer|training|train|driver|worker|rank|node|std|out|err|stdout|stderr|output|error|log|dmesg|kernel|"
    r"syslog|messages|journal|nccl|torch|slurm|job|run|dump|trace|fr|flight|recorder|global|local|launcher|reply|txt|"
    r"json|gz|xz|zst|bz2|tar|index|attempt)|[-_.]|\d{1,4}(?!\d)){1,16}"
)
_SUFFIXES = deferred(r"(?:\.[A-Za-z0-9]{1,5}){1,2}$")
_DOMAIN = (
    r"(?:(?:\.(?!(?:log|txt|out|err|json|gz|xz|zst|bz2|yaml|yml|py|sh|conf)\b)[a-z][a-z0-9-]{0,62}){2,8}"
    r"|\.(?:local|lan|internal|corp|edu|com|net|org|gov))?"
)
_WORD = deferred(r"[A-Za-z]+")
# Names like these are terms of logs, whoever is called so: cuda:0, rank3, eth0, mlx5_0, H100, step 12.
_TERM = deferred(
    r"(?i)(?:\d{1,9}|.|[a-z]|(?:rank|cuda|device|dev|eth|ib|bond|lo|mlx\d?_?|ens|eno|nic|hca|step|group|pg|torch|nccl|c10d?"
    r"|cpu|numa|net|sm|nv)_?\d{0,3}|gpu_?\d?|node|worker|[abhlv]\d{2,3}s?|gb?\d{3}|v\d{1,2}"
    rf"|n/a|{'|'.join(KINDS)}|localhost|unknown|none|null|true|false)"
)
_ACCOUNTS = frozenset({"root", "nobody", "pdsh", "git", "usr"})

Told = Callable[[re.Match[str]], str]


class Marked(NamedTuple):
    """A text, and the columns of it that are marked."""

    text: str
    columns: tuple[int, ...] = ()

    def replaced(self, expression: re.Pattern[str], stand_in: Told) -> Marked:
        """Return the text with each match replaced; a column inside one goes to an end of what replaced it."""
        edits = [(*match.span(), stand_in(match)) for match in expression.finditer(self.text)]
        edits = [edit for edit in edits if self.text[edit[0] : edit[1]] != edit[2]]
        if not edits:
            return self
        pieces, at = [], 0
        for start, end, new in edits:
            pieces += [self.text[at:start], new]
            at = end
        pieces.append(self.text[at:])
        return Marked("".join(pieces), tuple(_moved(column, edits, n) for n, column in enumerate(self.columns)))


def _moved(column: int, edits: list[tuple[int, int, str]], side: int) -> int:
    shift = 0
    for start, end, new in edits:
        if column <= start:
            break
        if column < end:
            return start + shift + (len(new) if side else 0)
        shift += len(new) - (end - start)
    return column + shift


class StandIns:
    """Gives everything that tells of a site a stand-in, and counts how many things got one, by kind.

    `learn` is asked for all texts first, so that a name told by one is replaced in all. `own` are words that reports
    are written with: a host called like one of them is replaced only where a host must stand.
    """

    def __init__(self, own: frozenset[str]) -> None:
        self._own = own
        self._given: dict[tuple[str, str], str] = {}
        self._names: dict[str, str] = {}
        self._written: dict[str, str] = {}
        self._taken: set[tuple[str, int]] = set()
        self._next = dict.fromkeys(KINDS, 0)
        self._files: set[str] = set()
        self._file: re.Pattern[str] | None = None
        self._word: re.Pattern[str] | None = None
        self._placed: re.Pattern[str] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many things were replaced, by kind; those of which there was none are absent."""
        kinds = [kind for kind, _ in self._given]
        return {kind: kinds.count(kind) for kind in KINDS if kind in kinds}

    def reserve(self, text: str) -> None:
        """Learn which stand-ins a text has already, so that they are given to nothing else."""
        self._taken.update((match[1], int(match[2])) for match in _TAKEN.finditer(text))

    def know(self, kind: str, name: str) -> None:
        """Learn a name that is certain."""
        written = name.strip().rstrip(".")
        known = written.lower()
        if not known or known == REDACTED or _IS_TAKEN.fullmatch(known) or known in _LOOPBACK or known == "localhost":
            return
        if kind == "host" and (_address(known) or _PUBLIC.fullmatch(known)):
            return
        if kind == "user" and known in _ACCOUNTS:
            return
        self._names.setdefault(known, kind)
        self._written.setdefault(known, written)
        if kind == "host" and short_host(known):
            self._names.setdefault(short_host(known), kind)
            self._written.setdefault(short_host(known), short_host(written))
        self._word = self._placed = None

    def know_file(self, name: str) -> None:
        """Learn the name of an input, which texts cite whatever its characters: `runs/alice/stdout`, `alice 0.log`."""
        looks_like_a_path = _PATH.fullmatch(name) and (name.startswith(("/", "~", ".")) or _FILE_SUFFIX.search(name))
        if name not in {"", "-"} and "://" not in name and not looks_like_a_path and not _is_plain(name):
            self._files.add(name)
            self._file = None

    def learn(self, text: str) -> None:
        """Learn the names that a text tells by where they stand."""
        for kind, expression in _TOLD:
            for match in expression.finditer(text):
                if not self._is_term(match[1]) and not _FILE_SUFFIX.search(match[1]):
                    self.know(kind, match[1])

    def of_name(self, text: str) -> str:
        """Return the stand-in of a text that is nothing but a name, as in a field of hosts."""
        known = text.strip().rstrip(".").lower()
        return self._of_known(known) if known in self._names else self.of_text(Marked(text)).text

    def of_text(self, marked: Marked, *, is_advice: bool = False) -> Marked:
        """Return the text without anything that tells of the site; the relative paths of our advice are everybody's."""
        if not marked.text:
            return marked
        word, placed = self._expressions()
        if file := self._file_expression():
            marked = marked.replaced(file, lambda match: self._of_file(match[0]))
        for expression, stand_in in (
            (_EMAIL, lambda match: self._of("email", match[0])),
            (_URL, self._of_url),
            (_JOB, lambda match: match[1] + self._of("job", match[2])),
            (_UUID, lambda match: self._of("guid", match[0])),
            (_WINDOWS_PATH, lambda match: self._of_path(match[0].replace("\\", "/"))),
            (_PATH, lambda match: match[0] if is_advice and self._is_unseen(match[0]) else self._of_path(match[0])),
            (_V6, self._of_v6),
            (_GUID, lambda match: self._of("guid", match[0])),
            (_MAC, lambda match: self._of("mac", match[0])),
            (_V4, self._of_address),
        ):
            marked = marked.replaced(expression, stand_in)
        for expression_or_none in (word, placed):
            if expression_or_none is not None:
                marked = marked.replaced(expression_or_none, self._of_found)
        return marked

    def of_file(self, text: str) -> str:
        """Return the stand-in of a file's name, whatever its characters: `path-1/trainer.log`."""
        if "://" in text or text in {"", "-"}:
            return self.of_text(Marked(text)).text
        return self.of_text(Marked(self._of_file(text))).text

    # --- one thing each ---

    def _of(self, kind: str, name: str) -> str:
        key = (kind, name.lower())
        if key not in self._given:
            self._next[kind] += 1
            while (kind, self._next[kind]) in self._taken:
                self._next[kind] += 1
            self._given[key] = f"{kind}-{self._next[kind]}"
        return self._given[key]

    def _of_found(self, match: re.Match[str]) -> str:
        found = match.groupdict()
        return (found.get("before") or "") + self._of_known((found["name"] or found["said"]).lower())

    def _of_known(self, name: str) -> str:
        kind = self._names[name]
        return self._of(kind, (short_host(name) or name) if kind == "host" else name)

    def _of_address(self, match: re.Match[str]) -> str:
        return self._of_ip(match[0]) or match[0]

    def _of_v6(self, match: re.Match[str]) -> str:
        if whole := self._of_ip(match[0]):
            return whole
        return (
            f"{match['interface']}:{self._of_ip(match['address']) or match['address']}"
            if match["interface"]
            else match[0]
        )

    def _of_ip(self, text: str) -> str | None:
        address = _address(text)
        return None if address is None or address in _LOOPBACK else self._of("ip", address)

    def _of_url(self, match: re.Match[str]) -> str:
        scheme, place, rest = match.groups()
        known = _PUBLIC.match(place + rest)
        if known and known.end() == len(place):
            return match[0]
        login, at, server = place.rpartition("@")
        who = (self._of("user", login) + at) if at and not _IS_TAKEN.fullmatch(login) else login + at
        if scheme.lower() in {"s3", "gs", "hdfs", "file", "az", "abfs", "oci"}:
            return f"{scheme}://{self._of_file(place + rest)}"
        return f"{scheme}://{who}{self._of_server(server)}{self._of_rest(rest)}"

    def _of_server(self, server: str) -> str:
        name, port = _PORT.fullmatch(server).groups()  # type: ignore[union-attr] # it takes any text
        bare = name.strip("[]").lower()
        if bare == "localhost" or _address(bare) or _IS_TAKEN.fullmatch(bare) or self._is_term(bare):
            return server
        self._names.setdefault(bare, "host")
        return self._of_known(bare) + (port or "")

    def _of_rest(self, rest: str) -> str:
        path = re.split(r"[?#]", rest, maxsplit=1)[0].rstrip("/")
        return (
            f"/{self._of_file(path.lstrip('/'))}"
            if "/" in path[1:]
            else ("" if not path else f"/{self._base(path[1:])}")
        )

    def _of_path(self, path: str) -> str:
        """Return what replaces something that looks like a path; itself where it is none, or the same everywhere."""
        tail = path.removeprefix("a/").removeprefix("b/")
        if path.startswith(_SYSTEM) or _LIBRARY.fullmatch(path):
            return path
        if not path.startswith(("/", "~", ".")) and path[1:2] != ":":
            if "/" not in tail or not _FILE_SUFFIX.search(path) or "://" in path:
                return path
            return path[: len(path) - len(tail)] + self._of_file(tail)
        if path.count("/") == 1 and path.startswith("/") and not _FILE_SUFFIX.search(path):
            return path
        return self._of_file(path)

    def _is_unseen(self, path: str) -> bool:
        """Whether a path is relative and its folder is in none of the texts before."""
        return not path.startswith(("/", "~")) and ("path", path.rpartition("/")[0].lower()) not in self._given

    def _of_file(self, path: str) -> str:
        if _IS_TAKEN.fullmatch(path) or path.startswith(_SYSTEM):
            return path
        if library := _IN_LIBRARY.search(path):
            folder, base = path[: library.start()], path[library.end() :]
            return f"{self._of('path', folder)}/{base}" if folder.strip("./") else path
        folder, _, base = path.rstrip("/").rpartition("/")
        shown = self._base(base)
        if folder in _SHARED or not folder.strip("./~"):
            return f"{folder}/{shown}" if folder else shown
        return f"{self._of('path', folder)}/{shown}"

    def _base(self, name: str) -> str:
        if _is_plain(name):
            return name
        suffix = _SUFFIXES.search(name)
        return self._of("file", name) + (suffix[0] if suffix and suffix.start() else "")

    # --- names ---

    def _is_term(self, name: str) -> bool:
        return _TERM.fullmatch(name) is not None or self._written.get(name, name) in self._own

    def _expressions(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
        if self._word is None and self._placed is None and self._names:
            longest = sorted(self._names, key=lambda name: (-len(name), name))
            certain = [name for name in longest if not self._is_term(name)]
            words = [name for name in longest if self._is_term(name) and self._names[name] == "host"]
            if certain:
                some = self._any_of(certain)
                self._word = re.compile(rf"(?<![A-Za-z0-9])(?P<name>{some})(?![A-Za-z0-9])(?:{_DOMAIN}(?![\w]))?")
            if words:
                some = self._any_of(words)
                self._placed = re.compile(
                    rf"(?:^|(?<=[\s\]|>]))(?P<name>{some})(?=:\d+:\d+ \[|<\d{{1,5}}>)"
                    rf"|(?P<before>\b[Rr]ank \d{{1,7}} on )(?!(?:an?|the|its|one|this|that)\b)(?P<said>{some})(?![\w-])"
                )
        return self._word, self._placed

    def _file_expression(self) -> re.Pattern[str] | None:
        if self._file is None and self._files:
            longest = sorted(self._files, key=lambda name: (-len(name), name))
            paths = "|".join(re.escape(name) for name in longest if "/" in name) or "(?!)"
            bare = "|".join(re.escape(name) for name in longest if "/" not in name) or "(?!)"
            self._file = re.compile(rf"(?<![\w./~-])(?:(?:{paths})(?![\w/])|(?:{bare})(?=:\w)|\A(?:{bare})\Z)")
        return self._file

    def _any_of(self, names: Iterable[str]) -> str:
        """Return an expression for names; a name of letters alone is one as it is written: `vm` is not VM."""
        written = ((name, self._written.get(name, name)) for name in names)
        return "|".join(re.escape(shown) if shown.isalpha() else f"(?i:{re.escape(name)})" for name, shown in written)


def _is_plain(name: str) -> bool:
    """Whether a file's name is one that files have everywhere, or a stand-in."""
    return any(expression.fullmatch(name) for expression in (_SOURCE, _PLAIN_FILE, _IS_TAKEN))


def _address(text: str) -> str | None:
    """Return an address as it is written shortest; None if the text is none."""
    if ":" in text and not any(map(str.isdigit, text)):
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if address.is_loopback:
        return None
    return str(getattr(address, "ipv4_mapped", None) or address)
