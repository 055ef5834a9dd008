from __future__ import annotations

import copy
import re
from itertools import chain

import pytest
from cases import ALL, report_of
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from nccl_logscan.report.html import render_html
from nccl_logscan.report.json import render_json, schema
from nccl_logscan.report.public import public_view, redaction_said
from nccl_logscan.report.text import plain_text
from nccl_logscan.report.view import build_view

SCHEMA = Draft202012Validator(schema())
# Rules are public, and the program is.
OWN = {"rules", "tool"}
ADDRESS = re.compile(r"(?<![\w.=-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|\bfe80:[0-9a-f:]+")
GUID = re.compile(
    r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<![\w:])[0-9a-f]{4}(?::[0-9a-f]{4}){3}(?![\w:])"
)
HOME = re.compile(r"/(?:home|Users)/([\w.-]+)")
INPUT = re.compile(r"/(?:[\w.-]+/)+fixtures/cases/")
TAG = re.compile(r"<style>.*?</style>|<[^>]*>", re.DOTALL)
# Users called so are replaced in paths alone.
WORDS = {"user"}
LOOPBACK = {"127.0.0.1", "0.0.0.0"}  # noqa: S104


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tmp_path_factory.mktemp("unpacked"))


def texts(part):
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        yield from chain.from_iterable(map(texts, part.values()))
    elif isinstance(part, list):
        yield from chain.from_iterable(map(texts, part))


def said_of_the_site(view):
    """The texts of a report that are not the rules' own, in one."""
    return "\n".join(texts({name: part for name, part in view.items() if name not in OWN}))


def shape(part):
    """A report without its texts and their marks: its keys, its numbers and how long its lists are."""
    if isinstance(part, dict):
        return {name: shape(value) for name, value in part.items() if name != "highlight"}
    if isinstance(part, list):
        return [shape(entry) for entry in part]
    return str if isinstance(part, str) else part


def known_of(view):
    """What the original report is known to tell of a site."""
    told = said_of_the_site(view)
    addresses = {found for found in ADDRESS.findall(told) if not found.startswith(("127.", "0."))}
    homes = {name for name in HOME.findall(told) if len(name) > 1 and name not in WORDS}
    hosts = {host for host in view["job"]["hosts"] if host not in LOOPBACK | {"localhost"}}
    return hosts, addresses | set(GUID.findall(told)) | {found[0] for found in HOME.finditer(told)}, homes


def as_word(name):
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in ALL])
def test_nothing_of_the_site_is_in_a_public_report(case, folder):
    view = report_of(case, folder)
    before = copy.deepcopy(view)
    public, counts = public_view(view)
    hosts, exact, homes = known_of(view)

    assert view == before
    assert public_view(public) == (public, {})
    assert not list(SCHEMA.iter_errors(public))
    assert counts == public["redacted"]
    assert public["coverage"]["notes"][-1] == redaction_said(counts)
    without = {**public, "rules": {}}
    forms = [
        said_of_the_site(public),
        render_json(without),
        TAG.sub("", render_html(without)),
        plain_text(public, verbose=True),
    ]
    for form in forms:
        assert not [name for name in exact if name in form]
        assert not [name for name in hosts | homes if as_word(name).search(form)]
        assert not INPUT.search(form)
    same = {name: part for name, part in public.items() if name not in {"redacted", "coverage"}}
    assert shape(same) == shape({name: part for name, part in view.items() if name != "coverage"})


def test_a_host_has_one_name_everywhere(sample_result):
    view = build_view(sample_result)
    public, _ = public_view(view)
    name = public["verdict"]["culprit"]["host"]

    assert re.fullmatch(r"host-\d+", name)
    assert public["verdict"]["headline"].startswith(f"Rank 11 on {name} could not reach ip-")
    assert public["verdict"]["evidence"][0]["text"].startswith(f"{name}:2311:2401 [3] ")
    assert public["verdict"]["evidence"][0]["host"] == name
    assert {finding["hosts"][0] for finding in public["findings"]} == {name}
    assert public["timeline"][1]["clock"] == name
    assert f"--exclude={name} train.sbatch" in public["remediation"][1]["command"]
    assert public["config"]["differs_between_hosts"][0]["values"][1]["who"] == [name]
    assert public["job"]["hosts"] == list(dict.fromkeys(public["job"]["hosts"]))
    assert public["verdict"]["culprit"]["peer"] in public["verdict"]["headline"]


def test_what_matched_is_still_marked(sample_result):
    view = build_view(sample_result)
    line = view["verdict"]["evidence"][0]
    line["highlight"] = [line["text"].index("Got"), line["text"].index(" with")]
    [start, end] = public_view(view)[0]["verdict"]["evidence"][0]["highlight"]

    text = public_view(view)[0]["verdict"]["evidence"][0]["text"]
    assert re.fullmatch(r"Got completion from peer ip-\d+<40211>", text[start:end])


def with_line(view, text):
    changed = copy.deepcopy(view)
    changed["verdict"]["evidence"][1]["text"] = text
    return public_view(changed)[0]["verdict"]["evidence"][1]["text"]


@pytest.mark.parametrize(
    ("line", "gone", "shown"),
    [
        ("mail jane.doe@acme.example now", "jane", "mail email-1 now"),
        ("open /home/jdoe/llm/train.py: no", "jdoe", "open path-1/train.py: no"),
        ('File "/home/jdoe/x/lib/site-packages/torch/nn/a.py"', "jdoe", 'File "path-1/site-packages/torch/nn/a.py"'),
        ("load --model=/mnt/acme/secret-llm.ckpt", "acme", "load --model=path-1/file-1.ckpt"),
        ("fetch s3://acme-bucket/run/model.yaml", "acme", "fetch s3://path-1/model.yaml"),
        ("GET https://git.acme.example:8443/team/x.json", "acme", "GET https://host-"),
        ("USER=jdoe starts; jdoe waits", "jdoe", "USER=user-1 starts; user-1 waits"),
        ("SLURM_JOB_ID=40117802 job_name=acme-70b", "acme", "SLURM_JOB_ID=job-1 job_name=job-2"),
        ("pod/acme-train-7d9f8b6c5d-x2x4v evicted", "acme", "pod/pod-1 evicted"),
        ("GPU-71bc0e2d-5a6f-4b7e-9f02-3de1c6a8d011 fell off", "71bc", "GPU-guid-1 fell off"),
        ("port GUID 0x506b4b0300c1b2a4 down", "506b", "port GUID guid-1 down"),
        ("ether 0c:42:a1:5e:10:9f up", "0c:42", "ether mac-1 up"),
        ("OOB eth0:fe80::be97:e1ff:fe7a:1c40%eth0<0>", "be97", "OOB eth0:ip-"),
        ("GID ::ffff:10.7.8.9 (index 3)", "10.7", "GID ip-"),
        ("[2001:db8::5]:29500 refused", "db8", "[ip-"),
        ("ip-10-3-7-21:118:191 [0] NCCL INFO x", "10-3-7", "host-"),
        ("GET https://jdoe:[redacted]@acme.example/acme/x", "acme", "GET https://user-1@host-"),
        ("GET https://s.example/x?sig=[redacted]&k=acme", "acme", "GET https://host-"),
        ("GET http://[fe80::9a03:9bff:fe11:2233]:8080/acme/x.py", "9a03", "GET http://[ip-"),
        ("failed to connect to [head.acme.example]:29500 (errno: 111)", "acme", "failed to connect to [host-"),
        ("connect to any network address of (zebra, 29500).", "zebra", "connect to any network address of (host-"),
        ("ssh: connect to host zebra port 22: refused", "zebra", "ssh: connect to host host-"),
        ("process rank 5 with PID 0 on node zebra-gx17 exited", "zebra", "process rank 5 with PID 0 on node host-"),
        ("Remote daemon: [[1,0],1] on node zebra-gx19", "zebra", "Remote daemon: [[1,0],1] on node host-"),
        ("srun: error: zebra-gx[17-19]: tasks 0-2: Killed", "zebra", "srun: error: host-"),
        ("torchrun --rdzv_endpoint=zebra:29500", "zebra", "torchrun --rdzv_endpoint=host-"),
        ("torchrun --master_addr zebra --master_port 1", "zebra", "torchrun --master_addr host-"),
        ("ray start --address=zebra:6379", "zebra", "ray start --address=host-"),
        ("Failed to resolve 'api.acme.example' (Errno -2)", "acme", "Failed to resolve 'host-"),
        ("wandb: Currently logged in as: jdoe (acme-team).", "acme", "wandb: Currently logged in as: user-1 (user-2)."),
        ("wandb: Currently logged in as: jdoe (acme-team).", "jdoe", "wandb: Currently logged in as: user-1"),
        ("wandb: Syncing run acme-42", "acme", "wandb: Syncing run job-1"),
        ("slurmstepd: error: *** JOB 608 ON cn417 CANCELLED ***", "cn417", "slurmstepd: error: *** JOB job-1 ON host-"),
    ],
)
def test_what_tells_of_a_site_is_replaced(sample_result, line, gone, shown):
    public = with_line(build_view(sample_result), line)
    numbered = re.sub(r"(?<=[a-z])\\-[12]", r"-\\d+", re.escape(shown))
    assert gone not in public
    assert re.match(numbered, public)


@pytest.mark.parametrize(
    "line",
    [
        "NCCL WARN NET/IB : mlx5_0:1/RoCE eth0 0000:9c:00.0 status=12 opcode=0 vendor err 129",
        "NCCL version 2.27.5+cuda12.9, torch 2.9.0+cu129, nvidia-cublas-cu12==12.4.5.8, driver 570.86.15",
        "2026-11-30 10:36:21.123456 [rank3]: torch.distributed.DistBackendError at c10d::ProcessGroupNCCL",
        "commId 0x58ee5d249f37241b comm 0x7f75dc004e40 - Init COMPLETE",
        "misc/socket.cc:632 (ncclSocketSend) -> 3, src/transport/net_ib.cc:12, N/A 2/6 and/or",
        "/proc/sys/vm/max_map_count /dev/shm/nccl-WU88OE /usr/lib/libnccl.so.2",
        "https://github.com/pytorch/pytorch/issues/1 https://docs.nvidia.com/deeplearning/nccl",
        "connect to 127.0.0.1<50097>, ::1, 0.0.0.0 and localhost:29500; Prec@1 0.7",
    ],
)
def test_terms_of_the_field_stay(sample_result, line):
    assert with_line(build_view(sample_result), line) == line


@pytest.mark.parametrize(
    ("name", "cited"),
    [
        ("runs/alice/stdout", "path-1/stdout"),
        ("runs/alice", "path-1/file-1"),
        ("alice/bob.html", "path-1/file-1.html"),
        ("alice/bob 2024.01.02", "path-1/file-1.01.02"),
        ("alice bob/rank 0.log", "path-1/file-1.log"),
        ("ci.tar.gz!alice/rank_0", "path-1/rank_0"),
        ("alice-run", "file-1"),
        ("alice (1).log", "file-1.log"),
    ],
)
def test_the_name_of_an_input_is_replaced_where_a_text_cites_it(sample_result, name, cited):
    view = build_view(sample_result)
    view["inputs"][0]["name"] = name
    view["verdict"]["reasons"] = [f"A line says so; see {name}:17.", f"The last words ({name}:9)."]
    view["timeline"][0]["clock"] = name
    view["timeline"][1]["clock"] = f"{name}:c10"

    public = public_view(view)[0]

    assert public["inputs"][0]["name"] == cited
    assert public["verdict"]["reasons"] == [f"A line says so; see {cited}:17.", f"The last words ({cited}:9)."]
    assert [each["clock"] for each in public["timeline"][:2]] == [cited, f"{cited}:c10"]


@pytest.mark.parametrize("name", ["log", "rank0", "a", "see", "the", "trainer.log", "-", ""])
def test_an_inputs_short_name_replaces_no_words(sample_result, name):
    view = build_view(sample_result)
    view["inputs"][0]["name"] = name
    view["verdict"]["reasons"] = ["A line of the log says so: see a rank0 or the trainer.log."]

    assert public_view(view)[0]["verdict"]["reasons"] == view["verdict"]["reasons"]


def test_the_paths_of_advice_stay_unless_the_job_has_them(sample_result):
    view = build_view(sample_result)
    view["remediation"][0]["command"] = "torchrun --log-dir ./logs --tee 3 # outputs/%x_%j.out, 127.0.1.1 in /etc/hosts"
    view["remediation"][1]["command"] = "ls /mnt/acme/run/x.yaml"
    steps = public_view(view)[0]["remediation"]
    assert steps[0]["command"] == view["remediation"][0]["command"]
    assert re.fullmatch(r"ls path-\d+/x.yaml", steps[1]["command"])


def test_a_stand_in_in_the_original_is_given_to_no_other_host(sample_result):
    view = build_view(sample_result)
    view["job"]["hosts"] = ["host-1", "node-17"]
    public, _ = public_view(view)
    assert public["job"]["hosts"][0] == "host-1"
    assert public["job"]["hosts"][1] not in {"host-1", "node-17"}


NAMES = st.one_of(
    st.sampled_from(
        ["rank", "nccl", "a", "host", "path", "ip-1", "host-1", "vm", "n", "n1", "n11", "n1-ib0", "0", "NCCL"]
    ),
    st.from_regex(r"[a-z][a-z0-9-]{0,12}(\.[a-z]{2,5})?", fullmatch=True),
    st.text(min_size=1, max_size=12),
)


@given(st.lists(NAMES, min_size=1, max_size=6, unique=True))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(["rank", "nccl", "a"])
@example([".a", "."])
@example(["n1", "n11", "n1-ib0"])
def test_no_name_of_a_host_destroys_a_report(sample_result, hosts):
    view = build_view(sample_result)
    view["job"]["hosts"] = hosts
    view["verdict"]["unknowns"] = ["The rank is on a host of which NCCL wrote nothing."]
    public, _ = public_view(view)

    assert public_view(public) == (public, {})
    assert not list(SCHEMA.iter_errors(public))
    own = (name for name in view if name in OWN or name in {"cascade", "omitted"})
    assert all(shape(public[name]) == shape(view[name]) for name in own)
    assert public["rules"] == view["rules"]
    assert [step["id"] for step in public["remediation"]] == [step["id"] for step in view["remediation"]]
    if set(hosts) <= {"rank", "nccl", "a", "NCCL", "host"}:
        assert public["verdict"]["unknowns"] == view["verdict"]["unknowns"]
        assert "NCCL WARN NET/IB : Got completion from peer" in public["verdict"]["evidence"][0]["text"]
        assert public["verdict"]["headline"].startswith("Rank 11 on host-")
    render_html(public), plain_text(public, verbose=True)


def test_a_host_called_like_a_word_is_replaced_where_a_host_stands(sample_result):
    view = build_view(sample_result)
    view["job"]["hosts"] = ["rank"]
    view["verdict"]["reasons"] = ["Rank 3 on rank is late: rank 4 waits.", "rank:10:11 [0] NCCL INFO rank 3 of rank 4"]
    public, _ = public_view(view)
    [name] = public["job"]["hosts"]
    assert re.fullmatch(r"host-\d+", name)
    assert public["verdict"]["reasons"] == [
        f"Rank 3 on {name} is late: rank 4 waits.",
        f"{name}:10:11 [0] NCCL INFO rank 3 of rank 4",
    ]


def test_the_terminal_says_what_was_replaced(sample_result):
    public, counts = public_view(build_view(sample_result))
    assert f"Redacted  {redaction_said(counts)}" in plain_text(public)
    assert redaction_said({"host": 1, "ip": 1_200, "path": 3}) == (
        "Replaced for publication: 1 host, 1,200 IP addresses and 3 folders. "
        "Look through the report before you post it."
    )


@given(st.text(max_size=200))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_line_is_taken(sample_result, line):
    view = build_view(sample_result)
    view["verdict"]["evidence"][1]["text"] = view["verdict"]["evidence"][1]["file"] = line
    public, _ = public_view(view)
    assert public_view(public) == (public, {})
