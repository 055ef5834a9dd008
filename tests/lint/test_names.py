import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.lint.model import Check, Severity
from nccl_logscan.lint.spelling import is_own, meant

RUN = "torchrun --standalone train.py"


@pytest.mark.parametrize(
    ("written", "real"),
    [
        ("NCCL_DEBG", "NCCL_DEBUG"),
        ("NCCL_SOKET_IFNAME", "NCCL_SOCKET_IFNAME"),
        ("NCCL_IB_DISABEL", "NCCL_IB_DISABLE"),
        ("NCCL_NVSL_ENABLE", "NCCL_NVLS_ENABLE"),
        ("NCLL_IB_TIMEOUT", "NCCL_IB_TIMEOUT"),
        ("NCCL_DISABLE_IB", "NCCL_IB_DISABLE"),
        ("TORCH_NCCL_DEBUG", "NCCL_DEBUG"),
        ("NCCL_PROPAGATE_ERROR", "TORCH_NCCL_PROPAGATE_ERROR"),
        ("NCCL_MERGE_NICS", "NCCL_IB_MERGE_NICS"),
        ("nccl_debug", "NCCL_DEBUG"),
    ],
)
def test_a_misspelt_name_is_told_with_the_real_one_and_mended(lint_script, said, mend, written, real):
    remarks = lint_script(f"export {written}=$X", RUN)

    assert (written, Check.MISSPELT) in said(remarks)
    assert f"the variable is called {real}" in remarks[0].problem
    assert f"export {real}=$X" in mend("run.sh", f"#!/bin/bash\nexport {written}=$X\n{RUN}\n")


@pytest.mark.parametrize(
    "name",
    ["NCCL_ARGS", "NCCL_ENVS", "NCCL_OPTS", "MY_NCCL_DEBUG", "NCCL_TESTS_HOME", "NCCL_HOME", "NCCL_VERSION",
     "NCCL_LIB_DIR", "HCCL_BUFFSIZE", "RCCL_ENABLE", "NCCL_BENCH_ARGS", "NCCL_LOG_DIR", "UCX_TLS", "OMPI_MCA_btl",
     "RANK", "TORCH_UCC_BLOCKING_WAIT", "TORCH_XCCL_BLOCKING_WAIT"],
)  # fmt: skip
def test_what_people_and_other_libraries_call_their_own_is_not_misspelt(lint_script, said, name):
    assert said(lint_script(f"export {name}=x", RUN), notes=True) == []


def test_a_variable_that_the_script_itself_uses_is_its_own(lint_script, said):
    assert said(lint_script("export NCCL_EXTRAS='-x A'", "mpirun $NCCL_EXTRAS python train.py")) == []
    assert said(lint_script("export NCCL_TIMEOUT=30", "timeout $NCCL_TIMEOUT torchrun train.py")) == []


def test_what_a_script_only_prints_it_does_not_use(lint_script, said):
    remarks = lint_script("export NCCL_TIMEOUT=1800", 'echo "time-out: ${NCCL_TIMEOUT:-unset}"', RUN)

    assert said(remarks) == [("NCCL_TIMEOUT", Check.READ_BY_NOTHING)]


def test_a_default_taken_from_itself_is_no_use(lint_script, said):
    remarks = lint_script("export NCCL_IB_DISABEL=${NCCL_IB_DISABEL:-1}", RUN)

    assert said(remarks) == [("NCCL_IB_DISABEL", Check.MISSPELT)]
    assert remarks[0].fix == ()


@pytest.mark.parametrize("name", ["NCCL_TIMEOUT", "NCCL_FP16_ENABLE", "NCCL_MAX_RINGS", "NCCL_IB_MTU", "NCCL_TIME_OUT"])
def test_a_name_that_nothing_ever_read_is_told_and_taken_out(lint_script, said, mend, name):
    assert said(lint_script(f"export {name}=1", RUN)) == [(name, Check.READ_BY_NOTHING)]
    assert name not in mend("run.sh", f"#!/bin/bash\nexport {name}=1\n{RUN}\n")


def test_an_unknown_name_near_to_nothing_is_a_warning_only_where_it_is_handed_on(lint_script):
    [remark] = lint_script("export NCCL_QUANTUM_FLUX=1", RUN)

    assert (remark.check, remark.severity) == (Check.READ_BY_NOTHING, Severity.WARNING)
    assert lint_script("NCCL_QUANTUM_FLUX=1", RUN) == ()


def test_a_plugin_s_variable_is_a_note_that_says_who_reads_it(lint_script):
    [remark] = lint_script("export NCCL_IBEXT_DISABLE=1", RUN)

    assert (remark.check, remark.severity) == (Check.READ_BY_ANOTHER, Severity.NOTE)
    assert "plugin" in remark.problem


def test_the_right_name_beside_the_wrong_one_is_not_written_twice(mend):
    text = "NCCL_SOCKET_IFNAME=bond0\nNCCL_SOCKET_IFNAM=bond1\n"

    assert mend("nccl.conf", text) == text


def test_no_rename_makes_a_wrong_value_count(lint_script, said, mend):
    assert ("NCCL_MIN_CTA", Check.MISSPELT) in said(lint_script("export NCCL_MIN_CTA=112", RUN))
    for text in (f"export NCCL_MIN_CTA=112\n{RUN}\n", f"export NCCL_DEBG=chatty\n{RUN}\n"):
        assert mend("a.sh", text) == text
    assert mend("a.sh", f"export NCCL_MIN_CTA=16\n{RUN}\n") == f"export NCCL_MIN_CTAS=16\n{RUN}\n"
    assert mend("a.sh", f"export NCCL_MIN_CTA=$N\n{RUN}\n") == f"export NCCL_MIN_CTAS=$N\n{RUN}\n"


def test_containers_have_an_environment_each(mend):
    container = '    - name: {}\n      env:\n        - {{name: {}, value: "1"}}\n'
    text = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n"
    text += container.format("a", "NCCL_IB_TIMEOUT") + container.format("b", "NCCL_IB_TIMEUOT")

    assert "NCCL_IB_TIMEUOT" not in mend("pod.yaml", text)


@given(st.text(alphabet="ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", max_size=40))
def test_any_name_gets_an_answer(name):
    real = meant(f"NCCL_{name}")

    assert real is None or real in catalogue().variables
    assert is_own(f"NCCL_{name}_ARGS")


def test_a_misspelt_name_that_was_removed_is_told_as_both(lint_script):
    (remark,) = lint_script("export NCCL_WORK_FIFO_DEPT=65536", "torchrun train.py")

    assert remark.check is Check.MISSPELT
    assert "NCCL_WORK_FIFO_DEPTH" in remark.problem
    assert "2.22.3 and later do not read" in remark.problem
    assert not remark.fix


def test_a_misspelt_name_that_the_version_in_use_reads_is_mended(mend):
    text = "#!/bin/bash\nexport NCCL_WORK_FIFO_DEPT=65536\ntorchrun train.py\n"

    assert "NCCL_WORK_FIFO_DEPTH=65536" in mend("run.sh", text, nccl="2.19.3")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("NCCL_IB_QPS_PER_CONN", "NCCL_IB_QPS_PER_CONNECTION"),
        ("NCCL_IB_ROCE_VERSION", "NCCL_IB_ROCE_VERSION_NUM"),
        ("TORCH_NCCL_HEARTBEAT_TIMEOUT", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC"),
        ("NCCL_IB_ADAPT_ROUTING", "NCCL_IB_ADAPTIVE_ROUTING"),
    ],
)
def test_a_shortened_name_is_misspelt(lint_script, name, meant):
    (remark,) = lint_script(f"export {name}=1", "torchrun train.py")

    assert remark.check is Check.MISSPELT
    assert meant in remark.problem


@pytest.mark.parametrize("name", ["NCCL_VERSION", "NCCL_IB_DIR", "NCCL_NET_PLUGIN_PATH", "NCCL_TESTS_VERSION"])
def test_names_that_people_call_their_own_variables_are_left(lint_script, name):
    assert lint_script(f"export {name}=1", "torchrun train.py") == ()


def test_a_misspelt_name_that_the_version_in_use_does_not_read_yet_is_not_mended(lint_script):
    (remark,) = lint_script("export NCCL_RAS_ENABEL=0", "torchrun train.py", nccl="2.18.5")

    assert remark.check is Check.MISSPELT
    assert "from 2.24.3 on" in remark.problem
    assert not remark.fix
