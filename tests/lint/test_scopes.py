import pytest

from nccl_logscan.lint.model import Check

DISABLE, HCA = "NCCL_IB_DISABLE", "NCCL_IB_HCA"

PARTS = {
    "compose.yaml": """
        services:
          a:
            environment:
              {one}: "1"
        {apart}  b:
        {apart}    environment:
              {two}: mlx5_0
        """,
    "workflow.yaml": """
        on: push
        jobs:
          a:
            steps:
            - run: torchrun a.py
              env:
                {one}: "1"
        {apart}    - run: torchrun b.py
        {apart}      env:
                {two}: mlx5_0
        """,
    "run.sh": """
        use_tcp() {{
          export {one}=1
        {apart}}}
        {apart}use_ib() {{
          export {two}=mlx5_0
        }}
        torchrun a.py
        """,
    "Dockerfile": """
        FROM a AS tcp
        ENV {one}=1
        {apart}FROM a AS ib
        ENV {two}=mlx5_0
        """,
    "run.py": """
        import os
        def tcp():
            os.environ["{one}"] = "1"
        {apart}def ib():
            os.environ["{two}"] = "mlx5_0"
        """,
    "jobs.json": """
        {{"jobs": [
        {{"env": {{"{one}": "1",
        {apart}"X": "1"}}}}, {{"env": {{
        "{two}": "mlx5_0"}}}}
        ]}}
        """,
}


def _text(template: str, *, apart: bool) -> str:
    lines = [line.removeprefix(" " * 8) for line in template.strip("\n").split("\n")]
    kept = [line for line in lines if apart or not line.startswith("{apart}")]
    return "\n".join(kept).format(one=DISABLE, two=HCA, apart="") + "\n"


def _contradicts(lint_files, name: str, text: str) -> bool:
    return any(found.check is Check.CONTRADICTION for found in lint_files({name: text}))


@pytest.mark.parametrize("name", PARTS)
def test_what_is_set_for_two_different_things_is_no_contradiction(lint_files, name):
    assert not _contradicts(lint_files, name, _text(PARTS[name], apart=True))


@pytest.mark.parametrize("name", ["compose.yaml", "workflow.yaml", "run.sh", "Dockerfile", "run.py"])
def test_the_same_in_one_part_is_one(lint_files, name):
    assert _contradicts(lint_files, name, _text(PARTS[name], apart=False))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", f"export {DISABLE}=1\nf() {{\n  export {HCA}=mlx5_0\n}}\ntorchrun a.py\n"),
        ("Dockerfile", f"FROM a AS one\nENV {DISABLE}=1\nFROM one\nENV {HCA}=mlx5_0\n"),
        ("run.py", f'import os\nos.environ["{DISABLE}"] = "1"\ndef f():\n    os.environ["{HCA}"] = "mlx5_0"\n'),
        ("w.yaml", f'env:\n  {DISABLE}: "1"\njobs:\n  a:\n    env:\n      {HCA}: mlx5_0\n'),
    ],
)
def test_what_is_set_for_the_whole_file_holds_in_its_parts(lint_files, name, text):
    assert _contradicts(lint_files, name, text)


def test_two_dicts_or_documents_are_two_configurations(lint_files):
    fp16, bf16 = '"zero_optimization": {"stage": 2}, "fp16": {"enabled": True}', '"bf16": {"enabled": True}'
    head = "import deepspeed\n"
    both = "fp16: {enabled: true}\nzero_optimization: {stage: 2}\n---\nbf16: {enabled: true}\n"

    assert _contradicts(lint_files, "a.py", f"{head}A = {{{fp16}, {bf16}}}\n")
    assert not _contradicts(lint_files, "a.py", f"{head}A = {{{fp16}}}\nB = {{{bf16}}}\n")
    assert not _contradicts(lint_files, "a.yaml", both)
