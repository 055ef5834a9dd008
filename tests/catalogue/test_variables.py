import json
import re
import time
from importlib import resources
from pathlib import Path

import pytest

from nccl_logscan.catalogue.domain import takes
from nccl_logscan.catalogue.load import VariableLines, catalogue
from nccl_logscan.catalogue.model import Form, Reader, Variable
from nccl_logscan.catalogue.versions import version

TEXT = (resources.files("nccl_logscan.catalogue") / "data" / "variables.jsonl").read_text("utf-8")
VARIABLES = tuple(catalogue().variables.values())
NAMES = (Path(__file__).parent / "names.txt").read_text("utf-8").split()
PHRASE = re.compile(r"automatic|unlimited|off|unset|.* .*", re.DOTALL)


def named(variables):
    return pytest.mark.parametrize("variable", variables, ids=[variable.name for variable in variables])


def test_every_variable_found_in_the_sources_is_there():
    assert len(NAMES) == len(set(NAMES)) == 400
    assert set(NAMES) <= set(catalogue().variables)


def test_lines_begin_with_their_names_and_these_are_sorted_and_differ():
    names = [json.loads(line)["name"] for line in TEXT.splitlines()]
    assert all(line.startswith(f'{{"name": "{name}"') for line, name in zip(TEXT.splitlines(), names, strict=True))
    assert names == sorted(set(names))


@named(VARIABLES)
def test_a_variable_says_who_reads_it_where_that_was_seen(variable):
    assert variable.source.startswith("https://")
    assert (variable.reader is Reader.OTHER) or not variable.name.endswith("*")
    assert variable.reader is not Reader.NOBODY or variable.source


@named([variable for variable in VARIABLES if variable.replaced_by])
def test_what_replaces_a_variable_is_one_that_takes_the_value(variable):
    name, _, value = variable.replaced_by.partition("=")
    successor = catalogue().variables[name]
    assert successor.removed_in is None
    assert successor.reader is variable.reader or variable.reader is Reader.NOBODY
    assert not value or takes(successor.domain, value)
    assert not (value and variable.keeps_value)


@named(VARIABLES)
def test_versions_are_numbers_in_order(variable):
    given = [variable.since, variable.last_seen, variable.removed_in]
    numbers = [version(text) for text in given if text is not None]
    assert all(numbers)
    assert numbers == sorted(numbers)
    history = [version(default.since) for default in variable.defaults]
    assert history == sorted(set(history))
    assert all(default.since == "" for default in variable.defaults[:1])


@named(VARIABLES)
def test_a_domain_takes_its_own_defaults_and_the_values_it_names(variable):
    domain = variable.domain
    literal = [default.value for default in variable.defaults if not PHRASE.fullmatch(default.value)]
    named_values = [value for value in (*domain.choices, *domain.special) if value != "MAX:N"]
    refused = [value for value in (*literal, *named_values) if not takes(domain, value)]
    assert not refused
    assert domain.strict or domain.parser is None
    assert domain.choices or domain.wanted or domain.pattern is None


@named([variable for variable in VARIABLES if not variable.verified])
def test_what_was_only_seen_in_a_binary_restricts_nothing(variable):
    assert not variable.domain.strict
    assert variable.replaced_by is None


RIGHT = [
    ("NCCL_ALGO", ["Ring", "tree,ring", "^NVLS", "ring,collnetdirect;allreduce:tree,collnetdirect;broadcast:ring"]),
    ("NCCL_ALGO", ["allreduce:^tree", "NVLSTree", "PAT", "CollnetChain", ""]),
    ("NCCL_PROTO", ["Simple", "simple", "LL,LL128,Simple", "^LL128", "Simple,LL128"]),
    (
        "NCCL_SOCKET_IFNAME",
        ["eth", "eth0", "=eth0,eth1", "^docker", "^=docker0", "^lo,docker", "bond0.12", "enp1s0f0np0"],
    ),
    ("NCCL_IB_HCA", ["mlx5", "=mlx5_0:1,mlx5_1:1", "^=mlx5_1,mlx5_4", "=mlx5_0::0:0,mlx5_1::0:1", "mlx5_0,"]),
    ("NCCL_DEBUG", ["VERSION", "WARN", "info", "TRACE", "NONE"]),
    ("NCCL_DEBUG_SUBSYS", ["INIT,ENV", "^COLL,P2P", "all", "INIT,BOOTSTRAP,ENV,NET"]),
    ("NCCL_P2P_LEVEL", ["NVL", "SYS", "PXB", "0", "4", "10", "LOC"]),
    ("NCCL_NET_GDR_LEVEL", ["PIX", "PHB", "5"]),
    ("NCCL_BUFFSIZE", ["4194304", "0x400000", "8388608", "-2", ""]),
    ("NCCL_IB_TIMEOUT", ["22", "14", "31"]),
    ("NCCL_IB_GID_INDEX", ["3", "0", "-1"]),
    ("NCCL_NET", ["IB", "Socket", "AWS Libfabric", "gIB", "FasTrak"]),
    ("NCCL_CTA_POLICY", ["0", "EFFICIENCY", "default|zero"]),
    ("NCCL_NETDEVS_POLICY", ["AUTO", "max:2", "ALL"]),
    ("NCCL_COMM_ID", ["10.0.0.1:12345", "node-1:12345", "[fe80::1%eth0]:12345"]),
    ("NCCL_RAS_ADDR", ["localhost:28028", "[::1]:12345"]),
    ("NCCL_IB_ADDR_RANGE", ["10.0.0.0/8", "fd00::/64"]),
    ("NCCL_NTHREADS", ["256", "512", "96"]),
    ("NCCL_NVLS_ENABLE", ["0", "1", "2"]),
    ("NCCL_SOCKET_MAGIC", ["0x1f", "12345"]),
    ("NCCL_SET_THREAD_NAME", ["1", "TRUE"]),
    ("TORCH_NCCL_BLOCKING_WAIT", ["1", "true", "Yes", "N", "f"]),
    ("TORCH_NCCL_ASYNC_ERROR_HANDLING", ["0", "3"]),
    ("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", ["1800"]),
    ("TORCH_DISTRIBUTED_DEBUG", ["DETAIL", "off"]),
]

WRONG = [
    ("NCCL_ALGO", ["Ring, Tree", "Rings", "allreduce:fast", "gather:ring"]),
    ("NCCL_PROTO", ["LL256", "simple;ll"]),
    ("NCCL_SOCKET_IFNAME", ["eth0 eth1", "eth*", "eth0,^lo", "=^eth0", "eth0, eth1"]),
    ("NCCL_IB_HCA", ["mlx5_0 mlx5_1", "mlx5_*", "^mlx5_0,^mlx5_1"]),
    ("NCCL_DEBUG", ["ERROR", "DEBUG", "1", "INFOS"]),
    ("NCCL_DEBUG_SUBSYS", ["INIT;NET", "NETWORK"]),
    ("NCCL_P2P_LEVEL", ["nvl", "NVLINK", "NODE"]),
    ("NCCL_BUFFSIZE", ["4M", "4MB", "4 MiB", "0"]),
    ("NCCL_IB_DISABLE", ["true", "yes", "on", "off", "2"]),
    ("NCCL_IB_TIMEOUT", ["22s", "50", "-1"]),
    ("NCCL_IB_RETRY_CNT", ["8", "13"]),
    ("NCCL_IB_QPS_PER_CONNECTION", ["0", "256"]),
    ("NCCL_SOCKET_FAMILY", ["ipv4", "af_inet"]),
    ("NCCL_SOCKET_NTHREADS", ["32"]),
    ("NCCL_CROSS_NIC", ["3"]),
    ("NCCL_COMM_ID", ["10.0.0.1", "node-1"]),
    ("TORCH_NCCL_BLOCKING_WAIT", ["on", "2", "enabled", ""]),
    ("TORCH_NCCL_ASYNC_ERROR_HANDLING", ["4", "true", ""]),
    ("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", ["30m", "ten"]),
    ("TORCH_DISTRIBUTED_DEBUG", ["VERBOSE"]),
]


@pytest.mark.parametrize(("name", "values"), RIGHT, ids=[name for name, _ in RIGHT])
def test_values_that_the_source_takes_are_taken(name, values):
    domain = catalogue().variables[name].domain
    assert [value for value in values if not takes(domain, value)] == []


@pytest.mark.parametrize(("name", "values"), WRONG, ids=[name for name, _ in WRONG])
def test_values_that_the_source_misreads_are_not_taken(name, values):
    domain = catalogue().variables[name].domain
    assert domain.strict
    assert [value for value in values if takes(domain, value)] == []


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("UCX_TLS", "UCX_*"),
        ("HCCL_BUFFSIZE", "HCCL_*"),
        ("RCCL_ENABLE_INTRANET", "RCCL_*"),
        ("NCCL_FASTRAK_IFNAME", "NCCL_FASTRAK_*"),
        ("NCCL_COLLTRACE_CHECK_INTERVAL_MS", "NCCL_COLLTRACE*"),
        ("NCCL_MASTER_PORT", "NCCL_MASTER_PORT"),
        ("NCCL_VERSION", "NCCL_VERSION"),
        ("MASTER_PORT", "MASTER_PORT"),
    ],
)
def test_what_others_read_is_known(name, known):
    variable = catalogue().variable(name)
    assert variable is not None
    assert (variable.name, variable.reader) == (known, Reader.OTHER)


@pytest.mark.parametrize("name", ["NCCL_UCX_TLS", "TORCH_FR_BUFFER_SIZE", "NCCL_SHARP_DISABLE"])
def test_a_variable_of_its_own_belongs_to_no_family(name):
    variable = catalogue().variable(name)
    assert variable is not None
    assert variable.name == name


@pytest.mark.parametrize("name", ["MY_OWN_FLAG", "NCCL_NEVER_HEARD_OF", "PATH", ""])
def test_a_name_that_nobody_reads_is_not_known(name):
    assert catalogue().variable(name) is None


def test_all_of_it_loads_in_five_milliseconds():
    """On a busy machine the best of several runs is what the code takes."""

    def seconds():
        start = time.perf_counter()
        VariableLines(TEXT)["NCCL_DEBUG"]
        return time.perf_counter() - start

    assert min(seconds() for _ in range(20)) < 0.005


def test_lines_behave_as_a_mapping():
    lines = VariableLines(TEXT)
    assert "NCCL_DEBUG" in lines
    assert "NCCL_NO_SUCH" not in lines
    assert len(lines) == len(list(lines)) == len(VARIABLES)
    assert isinstance(lines["NCCL_DEBUG"], Variable)
    assert lines["NCCL_DEBUG"].domain.form is Form.CHOICE
    with pytest.raises(KeyError):
        lines["NCCL_NO_SUCH"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("NCCL_DEBGU", "NCCL_DEBUG"),
        ("NCCL_DEBUGE", "NCCL_DEBUG"),
        ("NCLL_DEBUG", "NCCL_DEBUG"),
        ("NCCL_SOCKET_IFNAMES", "NCCL_SOCKET_IFNAME"),
        ("NCCL_SOCKET_INFAME", "NCCL_SOCKET_IFNAME"),
        ("NCCL_IB_HCAS", "NCCL_IB_HCA"),
        ("NCCL_IB_DISBLE", "NCCL_IB_DISABLE"),
        ("NCCL_MIN_CHANNELS", "NCCL_MIN_NCHANNELS"),
        ("NCCL_BUFFSIZES", "NCCL_BUFFSIZE"),
        ("NCCL_BUFSIZE", "NCCL_BUFFSIZE"),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLNG", "TORCH_NCCL_ASYNC_ERROR_HANDLING"),
        ("CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES"),
    ],
)
def test_a_misspelt_name_is_told_from_its_nearest(written, meant):
    assert catalogue().variable(written) is None
    assert catalogue().nearest(written) == meant


@pytest.mark.parametrize(
    "name",
    [
        "HCCL_BUFFSIZE",
        "RCCL_DEBUG",
        "MCCL_IB_HCA",
        "UCX_NET",
        "NCCL_ENV",
        "NCCL_PORT",
        "NCCL_ARGS",
        "NCCL_OPTS",
        "NCCL_VARS",
        "NCCL_DEBUG_LEVEL",
        "NODE_RANKS",
        "MY_NCCL_DEBUG",
        "RANKS",
        "NCCL_FASTRAK_IFNAMES",
        "",
    ],
)
def test_a_name_of_its_own_is_no_misspelling(name):
    assert catalogue().nearest(name) is None


def test_only_what_is_read_today_is_proposed():
    for name, variable in catalogue().variables.items():
        if variable.removed_in or variable.reader is Reader.NOBODY or not variable.verified:
            assert catalogue().nearest(name) != name
