"""All that other systems read of this repository: schemas, shells, and the names that are to agree."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from integration_places import INTEGRATIONS, ROOT, documents_of

SCHEMAS = {
    "action.yml": ["vendor.github-actions"],
    "integrations/github/workflow.yml": ["vendor.github-workflows"],
    "integrations/gitlab/nccl-logscan.gitlab-ci.yml": ["vendor.gitlab-ci", "--data-transform=gitlab-ci"],
    "integrations/gitlab/example.gitlab-ci.yml": ["vendor.gitlab-ci", "--data-transform=gitlab-ci"],
}
SCRIPTS = sorted(path for path in INTEGRATIONS.rglob("*") if path.is_file() and path.read_bytes().startswith(b"#!"))


def scripts_in(value, where=""):
    """Yield each script in a YAML file as (place, shell, text): GitHub's `run`, GitLab's `script`, a pod's `args`."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if key == "run":
                yield f"{where}.{key}", "bash", entry
            elif key in {"script", "after_script"}:
                yield f"{where}.{key}", "sh", "\n".join(line for line in entry if isinstance(line, str))
            elif key == "args" and "-c" in value.get("command", ()):
                yield f"{where}.{key}", Path(value["command"][0]).name, "\n".join(entry)
            else:
                yield from scripts_in(entry, f"{where}.{key}")
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from scripts_in(entry, f"{where}[{number}]")


def embedded():
    for path in [ROOT / "action.yml", *sorted(INTEGRATIONS.rglob("*.y*ml"))]:
        for document in documents_of(path):
            for place, shell, script in scripts_in(document, path.name):
                if script:
                    yield pytest.param(shell, script, id=place)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_file_follows_the_schema_of_its_system(name):
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", *SCHEMAS[name], ROOT / name],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout


def shellcheck(shell, script):
    return subprocess.run(
        [Path(sys.executable).with_name("shellcheck"), f"--shell={shell}", "-"],
        input=script,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_clean(path):
    done = shellcheck("bash", path.read_text("utf-8"))
    assert done.returncode == 0, done.stdout
    assert path.stat().st_mode & 0o100 or path.suffix == ".sbatch"


@pytest.mark.parametrize(("shell", "script"), list(embedded()))
def test_a_script_in_yaml_is_clean(shell, script):
    done = shellcheck(shell, script)
    assert done.returncode == 0, done.stdout


def test_no_expression_of_github_stands_in_a_script():
    for path in [ROOT / "action.yml", INTEGRATIONS / "github" / "workflow.yml"]:
        for place, _, script in scripts_in(documents_of(path)[0]):
            assert "${{" not in script, place


def test_every_input_of_the_action_is_used_and_every_output_is_made():
    text = (ROOT / "action.yml").read_text("utf-8")
    [action] = documents_of(ROOT / "action.yml")
    for name in action["inputs"]:
        assert re.search(rf"\binputs\.{name}\b", text), name
    made = (INTEGRATIONS / "github" / "outputs.py").read_text("utf-8")
    for name in action["outputs"]:
        assert f'"{name}":' in made, name


def test_a_variable_of_the_action_is_read_by_the_script_that_gets_it():
    for step in documents_of(ROOT / "action.yml")[0]["runs"]["steps"]:
        for name in step.get("env", {}):
            script = re.search(r"integrations/github/\w+\.sh", step["run"])[0]
            assert name in (ROOT / script).read_text("utf-8"), name


def names_in(page):
    """What the first column of a page's tables names."""
    return re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs" / "how-to" / page).read_text("utf-8"), re.MULTILINE)


def test_the_pages_name_every_input_and_variable():
    [action] = documents_of(ROOT / "action.yml")
    [template] = documents_of(INTEGRATIONS / "gitlab" / "nccl-logscan.gitlab-ci.yml")
    assert names_in("ci-github.md") == list(action["inputs"])
    assert names_in("ci-gitlab.md") == list(template[".nccl-logscan"]["variables"])


def test_a_file_that_a_page_names_is_there():
    for page in sorted((ROOT / "docs" / "how-to").glob("*.md")):
        for name in re.findall(r"\bintegrations/[\w./-]*\w", page.read_text("utf-8")):
            assert (ROOT / name).exists(), f"{page.name} names {name}"
