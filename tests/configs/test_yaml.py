import json
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as tuned
from hypothesis import strategies as some
from typed import added, changed, edited, read, removed, setting, settings

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Form
from nccl_logscan.configs.read import read_text, syntax_named

POD = """\
apiVersion: v1
kind: Pod
spec:
  containers:
  - name: trainer   # the one that trains
    image: nvcr.io/nvidia/pytorch:24.03-py3
    env:
    # for the fabric
    - name: NCCL_IB_TIMEOUT
      value: "14"  # low
    - {name: NCCL_DEBUG, value: INFO}
    - name: NODE
      valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
"""


def test_a_pods_variables_are_settings_by_their_names():
    config = read("pod.yaml", POD)
    variables = [placed for placed in config.settings if placed.kind is Kind.ENV]
    assert [(placed.name, placed.value, placed.at.line) for placed in variables] == [
        ("NCCL_IB_TIMEOUT", "14", 9),
        ("NCCL_DEBUG", "INFO", 11),
        ("NODE", None, 12),
    ]
    assert {placed.form for placed in variables} == {Form.ENV_LIST}
    image = setting(config, "spec.containers[0].image")
    assert (image.kind, image.framework) == (Kind.K8S_FIELD, "kubernetes")


def test_a_pods_variable_stays_a_string_when_changed():
    assert changed("pod.yaml", POD, "NCCL_DEBUG", "1") == POD.replace("value: INFO", 'value: "1"')
    assert changed("pod.yaml", POD, "NCCL_IB_TIMEOUT", "22") == POD.replace('"14"', '"22"')


def test_a_variable_goes_with_its_lines_and_its_own_comment_alone():
    out = POD.replace('    - name: NCCL_IB_TIMEOUT\n      value: "14"  # low\n', "")
    assert removed("pod.yaml", POD, "NCCL_IB_TIMEOUT") == out


def test_a_new_variable_joins_the_containers_list():
    out = POD + "    - name: NCCL_NET_PLUGIN\n      value: none\n"
    assert added("pod.yaml", POD, Kind.ENV, "NCCL_NET_PLUGIN", "none") == out


def test_each_container_of_a_job_gets_the_variable():
    text = "spec:\n  containers:\n  - image: a\n    name: x\n  - name: y\n    image: b # c\n"
    after = yaml.safe_load(added("job.yaml", text, Kind.ENV, "NCCL_DEBUG", "1"))
    assert [one["env"] for one in after["spec"]["containers"]] == [[{"name": "NCCL_DEBUG", "value": "1"}]] * 2


@pytest.mark.parametrize("form", ["      NCCL_A: '1'\n      NCCL_B:\n", "    - NCCL_A=1\n    - NCCL_B\n"])
def test_compose_takes_a_mapping_or_a_list(form):
    found = settings("docker-compose.yml", f"services:\n  x:\n    environment:\n{form}")
    assert found == {"NCCL_A": "1", "NCCL_B": None}


def test_what_an_alias_gives_is_set_at_its_anchor_once():
    text = (
        "x: &env\n  NCCL_A: a\n  NCCL_B: b\nservices:\n  p:\n    environment:\n      <<: *env\n"
        "      NCCL_B: c\n  q:\n    environment: *env\n"
    )
    config = read("compose.yaml", text)
    assert [(placed.name, placed.value, placed.at.line) for placed in config.settings] == [
        ("NCCL_A", "a", 2),
        ("NCCL_B", "b", 3),
        ("NCCL_B", "c", 8),
    ]


def test_values_are_what_a_yaml_1_1_reader_makes_of_them():
    text = (
        "a: yes\nb: 010\nc: 1_000\nd: ~\ne: 'no'\nf: 1e-3\ng: 1.5\nh: 0x10\ni: \"a\\tb\"\nj: |\n"
        "  x\n  y\nk: >-\n  x\n  y\nl: x\n  y\n"
    )
    config = read("a.yaml", text)
    assert {placed.name: (placed.value, placed.scalar) for placed in config.settings} == {
        "a": ("true", "boolean"),
        "b": ("8", "integer"),
        "c": ("1000", "integer"),
        "d": ("null", "null"),
        "e": ("no", "text"),
        "f": ("1e-3", "text"),
        "g": ("1.5", "number"),
        "h": ("16", "integer"),
        "i": ("a\tb", "text"),
        "j": ("x\ny\n", "text"),
        "k": ("x y", "text"),
        "l": ("x y", "text"),
    }


def test_what_a_template_fills_in_has_no_value():
    text = '{{- if .Values.on }}\na: {{ .Values.a }}\nb: "x-{{ .Values.b }}"\n{{- end }}\nc: 1\nd: ${oc.env:HOME}\n'
    config = read("values.yaml", text)
    assert settings("values.yaml", text) == {"a": None, "b": None, "c": "1", "d": None}
    assert config.faults == ()


def test_nothing_is_added_within_a_templates_condition():
    text = "env:\n  NCCL_A: x\n{{- if .Values.b }}\n  NCCL_B: y\n{{- end }}\n"
    assert added("t.yaml", text, Kind.ENV, "NCCL_C", "1") is None


def test_a_script_within_a_manifest_is_read_and_edited_at_its_lines():
    text = (
        "containers:\n- image: x\n  command: [bash, -c]\n  args:\n  - |\n    # first\n"
        "    export NCCL_DEBUG=INFO  # loud\n    torchrun train.py\n"
    )
    config = read("job.yaml", text)
    placed = setting(config, "NCCL_DEBUG")
    assert (placed.value, placed.at.line, placed.column, placed.form) == ("INFO", 7, 5, Form.EXPORT)
    assert changed("job.yaml", text, "NCCL_DEBUG", "WARN") == text.replace("INFO", "WARN")
    assert removed("job.yaml", text, "NCCL_DEBUG") == text.replace("    export NCCL_DEBUG=INFO  # loud\n", "")


def test_words_of_a_command_go_in_whole():
    text = 'containers:\n- image: x\n  command: ["mpirun", "-x", "NCCL_DEBUG=INFO", "-np", "16", "train"]\n'
    assert removed("job.yaml", text, "NCCL_DEBUG") == text.replace(' "-x", "NCCL_DEBUG=INFO",', "")


def test_a_ray_runtime_env_in_a_block_is_read_at_its_place():
    text = 'apiVersion: ray.io/v1\nkind: RayJob\nspec:\n  runtimeEnvYAML: |\n    env_vars:\n      NCCL_DEBUG: "INFO"\n'
    placed = setting(read("ray.yaml", text), "NCCL_DEBUG")
    assert (placed.at.line, placed.column, placed.form) == (6, 7, Form.RUNTIME_ENV)
    assert changed("ray.yaml", text, "NCCL_DEBUG", "WARN") == text.replace("INFO", "WARN")


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        ("compute_environment: LOCAL_MACHINE\n", "accelerate"),
        ("actor_rollout_ref:\n  actor: 1\n", "verl"),
        ("per_device_train_batch_size: 1\n", "transformers"),
        ("base_model: x\ndatasets: []\n", "axolotl"),
        ("stage: sft\nfinetuning_type: lora\n", "llama-factory"),
    ],
)
def test_keys_tell_the_framework(text, framework):
    assert {placed.framework for placed in read("config.yaml", text).settings} == {framework}


def test_a_broken_line_costs_only_itself():
    config = read("a.yaml", "a: 1\nb: [1, 2\nc: 3\nd: 4\n")
    assert config.faults
    assert {"a": "1", "d": "4"}.items() <= {placed.name: placed.value for placed in config.settings}.items()


def test_a_key_is_added_to_its_mapping_and_missing_parents_are_made():
    text = "trainer:\n  nnodes: 2  # two\n# end\nmodel: x\n"
    out = "trainer:\n  nnodes: 2  # two\n  fsdp:\n    offload: true\n# end\nmodel: x\n"
    assert added("a.yaml", text, Kind.YAML_KEY, "trainer.fsdp.offload", "true") == out
    assert added("a.yaml", text, Kind.YAML_KEY, "trainer.nnodes.x", "1") is None


def test_the_last_entry_leaves_an_empty_mapping():
    assert removed("a.yaml", "a:\n  b: 1  # x\nc: 2\n", "a.b") == "a: {}\nc: 2\n"
    assert removed("a.yaml", "a: {b: 1}\n", "a.b") == "a: {}\n"
    assert removed("a.yaml", "- a: 1\n  b: 2\n", "[0].a") == "- b: 2\n"


def test_an_anchor_that_is_used_is_not_taken_out():
    assert removed("a.yaml", "a: &x 1\nb: *x\n", "a") is None


WORDS = some.text(alphabet="abcxyz019_-./:# '\"\\{}[],&*!|>%@`~é\t", max_size=12)
NAMES = some.text(alphabet="abcdefgh_", min_size=1, max_size=6)
LEAVES = some.one_of(
    WORDS, some.integers(), some.booleans(), some.none(), some.floats(allow_nan=False, allow_infinity=False)
)
TREES = some.dictionaries(
    NAMES,
    some.recursive(
        LEAVES,
        lambda inner: some.one_of(some.lists(inner, max_size=3), some.dictionaries(NAMES, inner, max_size=3)),
        max_leaves=8,
    ),
    min_size=1,
    max_size=4,
)


def leaves(tree, path=""):
    """Yield every leaf with its dotted path."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(tree, list):
        for number, value in enumerate(tree):
            yield from leaves(value, f"{path}[{number}]")
    else:
        yield path, tree


def is_meant(value, placed):
    if placed.value is None:
        return isinstance(value, str) and any(sign in value for sign in ("${", "$(", "{{"))
    if placed.scalar == "text":
        return value == placed.value
    if placed.scalar == "number":
        return float(placed.value.replace("_", "")) == value
    return json.dumps(value) == placed.value


@given(TREES, some.sampled_from([None, True, False]), some.sampled_from([None, '"', "'"]), some.sampled_from([2, 4]))
@tuned(max_examples=60, deadline=None)
def test_every_leaf_is_read_as_pyyaml_reads_it(tree, flow, style, indent):
    text = yaml.safe_dump(
        tree, default_flow_style=flow, default_style=style, indent=indent, sort_keys=False, allow_unicode=True, width=40
    )
    config = read("a.yaml", text)
    known = dict(leaves(yaml.safe_load(text)))
    found = {placed.name: placed for placed in config.settings}
    assert config.faults == ()
    assert found.keys() == known.keys()
    assert all(is_meant(known[name], placed) for name, placed in found.items())


def without(tree, path):
    """Return the tree less the leaf of a path, and whether it was a mapping's."""
    copy = json.loads(json.dumps(tree))
    parts = [part for part in path.replace("[", ".[").split(".") if part]
    holder = copy
    for part in parts[:-1]:
        holder = holder[int(part[1:-1])] if part.startswith("[") else holder[part]
    last = parts[-1]
    del holder[int(last[1:-1]) if last.startswith("[") else last]
    return copy


def put(tree, path, value):
    copy = json.loads(json.dumps(tree))
    parts = [part for part in path.replace("[", ".[").split(".") if part]
    holder = copy
    for part in parts[:-1]:
        holder = holder[int(part[1:-1])] if part.startswith("[") else holder[part]
    last = parts[-1]
    holder[int(last[1:-1]) if last.startswith("[") else last] = value
    return copy


@given(TREES, some.sampled_from([None, True, False]), some.sampled_from([None, '"', "'"]), some.data())
@tuned(max_examples=60, deadline=None)
def test_an_edit_changes_one_leaf_and_nothing_else(tree, flow, style, data):
    text = yaml.safe_dump(tree, default_flow_style=flow, default_style=style, sort_keys=False, allow_unicode=True)
    before = yaml.safe_load(text)
    config = read("a.yaml", text)
    if not config.settings:
        return
    syntax = syntax_named("yaml")
    placed = data.draw(some.sampled_from(config.settings))
    value = data.draw(some.one_of(WORDS, some.sampled_from(["600", "true", "1.5", "null", "on"])))
    after = edited(config, syntax.change(config, placed, value))
    if after is not None:
        new = dict(leaves(yaml.safe_load(after)))[placed.name]
        assert yaml.safe_load(after) == put(before, placed.name, new)
        assert new == value or new == yaml.safe_load(value)
    less = edited(config, syntax.remove(config, placed))
    if less is not None:
        assert yaml.safe_load(less) == without(before, placed.name)
        assert len(less.splitlines()) <= len(text.splitlines())


@given(TREES, some.sampled_from([None, True, False]), NAMES, some.sampled_from(["600", "true", "fp16", "a: b", "1e-3"]))
@tuned(max_examples=40, deadline=None)
def test_an_added_key_is_all_that_comes(tree, flow, name, value):
    text = yaml.safe_dump(tree, default_flow_style=flow, sort_keys=False)
    after = added("a.yaml", text, Kind.YAML_KEY, f"new.{name}", value)
    if "new" not in tree:
        before = yaml.safe_load(text)
        assert yaml.safe_load(after) == {**before, "new": {name: yaml.safe_load(value) if value != "a: b" else value}}


@given(some.binary(max_size=200))
@tuned(max_examples=80, deadline=None)
def test_any_bytes_give_a_result(data):
    assert read_text("a.yaml", data).data == data


@given(
    some.lists(
        some.sampled_from(
            [
                "a: ",
                "- ",
                "\n",
                "  ",
                "{",
                "}",
                "[",
                "]",
                "|\n",
                ">\n",
                "&a ",
                "*a",
                "<<: ",
                "'",
                '"',
                "{{ x }}",
                "#",
                "é",
                "\r\n",
                "x",
                "? ",
                "---\n",
            ]
        ),
        max_size=40,
    )
)
@tuned(max_examples=100, deadline=None)
def test_any_pieces_of_yaml_give_spans_within_the_file(pieces):
    config = read("a.yaml", "".join(pieces))
    for placed in config.settings:
        assert 0 <= placed.span.start <= placed.span.end <= len(config.data)


@pytest.mark.parametrize("text", ["[" * 100_000, "{" * 100_000, "- " * 100_000, "{{" * 50_000, "a: {{ x }}\n" * 20_000])
def test_a_hostile_file_takes_linear_time(text):
    started = time.process_time()
    read("a.yaml", text)
    assert time.process_time() - started < 5


def test_a_bomb_of_aliases_is_not_expanded():
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert len(read("a.yaml", "\n".join(lines)).settings) < 10_000


def test_composes_default_is_a_value_that_may_be_overridden():
    text = "services:\n  x:\n    image: y\n    environment:\n      NCCL_A: ${A:-x}\n"
    placed = setting(read("compose.yaml", text), "NCCL_A")
    assert (placed.value, placed.fallback) == ("x", True)
    assert changed("compose.yaml", text, "NCCL_A", "y") == text.replace(":-x}", ":-y}")


def test_an_alias_to_what_it_stands_in_ends():
    config = read("a.yaml", "a: &x\n  b: 1\n  c: *x\n")
    assert [placed.name for placed in config.settings] == ["a.b", "a.c.b", "a.c.c.b"]


def test_a_script_that_aliases_share_is_read_once():
    text = "x: &x\n  command: [bash, -c, export NCCL_A=1]\nservices:\n  a:\n    <<: *x\n  b: *x\n"
    assert [placed.name for placed in read("a.yaml", text).settings] == ["NCCL_A"]


@pytest.mark.parametrize("entry", ["NCCL_A", "NCCL_A=1"])
def test_a_variable_of_a_list_keeps_its_name_when_changed(entry):
    text = f"services:\n  x:\n    environment:\n    - {entry}\n"
    assert changed("compose.yaml", text, "NCCL_A", "2") == text.replace(entry, "NCCL_A=2")


@pytest.mark.parametrize("module", ["shell", "ansible.builtin.shell", "ansible.builtin.command"])
def test_what_ansible_runs_is_a_script(module):
    text = f"- hosts: gpu\n  tasks:\n    - name: run\n      {module}: |\n        mpirun -np 8 -x NCCL_CROSS_NIC=1 ./t\n"
    config = read_text("site.yml", text.encode())

    assert [placed.value for placed in config.settings if placed.name == "NCCL_CROSS_NIC"] == ["1"]
