"""Loading `agents.d/`: fields, inheritance, settings, and one report for each fault."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.agent import Settings
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.providers import NAMES
from agentmux_compiler.sources.inherit import merge
from agentmux_compiler.sources.yaml_source import parse
from agentmux_compiler.spec import Specs, json_schema, load
from agentmux_compiler.tree import MemoryTree

FIELDS_OF_A_USE = (
    "the fields here are `model`, `effort`, `permission`, `delivery`, `flags`, `base_url`, `api_key_env`, "
    "`backend`, `vendor`, `controller`, `version`, `mcp`, `lend`"
)
FIELDS_OF_AN_AGENT = (
    "the fields here are `display`, `description`, `extends`, `abstract`, `providers`, `permission`, "
    "`workdir`, `delivery`, `soul`, `instructions`, `bundles`, `skills`, `mcp`, `env`, `startup`"
)
VARIABLE = "takes the name of an environment variable"
ADDRESS = "takes an address that begins with `http://` or `https://`"
SPELLING = "letters, digits and `_`, not a digit first"
RELATIVE = "write a path relative to the project, with `/`"
MODES = "`plan`, `ask`, `edit`, `auto`, `bypass`"
KEBAB = "is not lower-case letters, digits and single `-`"
SECTIONS = "the sections are `global-bundles`, `soul`, `instructions`, `bundles`, `skills-index`"


def loaded(files):
    if isinstance(files, str):
        files = {"a": files}
    paths = {name if "." in name else f"{name}.yaml": text for name, text in files.items()}
    tree = MemoryTree({f"agents.d/{name}": text.encode() for name, text in paths.items()})
    return load(tree)


def said(files):
    _, found = loaded(files)
    return [(item.code, item.span.path[9:], item.span.line, item.span.column, item.message) for item in found]


def fields(files, name="a"):
    specs, found = loaded(files)
    assert found == []
    return next(spec.fields for spec in specs.agents if spec.name == name)


def test_no_project_no_agents():
    assert load(MemoryTree({})) == (Specs(Settings(), (), whole=True), [])
    assert load(MemoryTree({"agents.d/README.md": b"#", "agents.d/.a.yaml": b"x", "agents.d/b/c.yaml": b"x"}))[1] == []


def test_every_field():
    spec = fields("""\
display: Code Reviewer
description: Reviews
abstract: false
providers:
  claude: {model: opus, effort: high, permission: auto, delivery: file}
  codex: {flags: [--add-dir, ../docs], base_url: "http://127.0.0.1:8000/v1", api_key_env: KEY}
  gemini:
permission: plan
workdir: docs
delivery: flag
soul: {file: souls/reviewer.md}
instructions: |
  Review.
bundles: [b, a]
skills: [s]
mcp:
  issues: {command: issues-mcp, args: [--stdio], env: {TOKEN: "${TOKEN}"}}
  web: {url: "https://example.org/mcp", headers: {Authorization: "Bearer ${T}"}}
env: {LOG_LEVEL: info}
startup: Go.
""")
    assert spec.model_dump(exclude_defaults=True, mode="json") == {
        "display": "Code Reviewer",
        "description": "Reviews",
        "providers": {
            "claude": {"model": "opus", "effort": "high", "permission": "auto", "delivery": "file"},
            "codex": {
                "flags": ["--add-dir", "../docs"],
                "base_url": "http://127.0.0.1:8000/v1",
                "api_key_env": "KEY",
            },
            "gemini": None,
        },
        "permission": "plan",
        "workdir": "docs",
        "delivery": "flag",
        "soul": {"file": "souls/reviewer.md"},
        "instructions": "Review.\n",
        "bundles": ["b", "a"],
        "skills": ["s"],
        "mcp": {
            "issues": {"command": "issues-mcp", "args": ["--stdio"], "env": {"TOKEN": "${TOKEN}"}},
            "web": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${T}"}},
        },
        "env": {"LOG_LEVEL": "info"},
        "startup": "Go.",
    }


def test_flags_are_text_or_a_list():
    assert fields("providers: {claude: {flags: \"--add-dir 'my docs'\"}}\n").providers["claude"].flags == (
        "--add-dir 'my docs'"
    )
    assert said("providers: {claude: {flags: 3}}\n") == [
        ("AMX103", "a.yaml", 1, 29, "`flags` takes text or a list, found the number `3`")
    ]
    assert said("providers: {claude: {flags: [x, 3]}}\n") == [
        ("AMX103", "a.yaml", 1, 33, "item 2 of `flags` takes text, found the number `3`")
    ]
    assert said('providers: {claude: {flags: "x\\ny"}}\n') == [
        ("AMX112", "a.yaml", 1, 29, "`flags` takes one line of text")
    ]


def test_an_unknown_field_is_named_with_what_it_may_have_meant():
    _, found = loaded("bundels: [x]\nproviders:\n  claude: {efort: high}\n")
    assert [(item.code, item.span, item.message, item.help, item.notes) for item in found] == [
        (
            "AMX102",
            Span("agents.d/a.yaml", 3, 12, 3, 17),
            "unknown field `efort`",
            "did you mean `effort`?",
            (FIELDS_OF_A_USE,),
        ),
        (
            "AMX102",
            Span("agents.d/a.yaml", 1, 1, 1, 8),
            "unknown field `bundels`",
            "did you mean `bundles`?",
            (FIELDS_OF_AN_AGENT,),
        ),
    ]


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "remedy"),
    [
        ("display: 5\n", 1, 10, "`display` takes text, found the number `5`", 'write `"5"`'),
        ("abstract: yes\n", 1, 11, "`abstract` takes `true` or `false`, found the text `yes`", "write `true`"),
        ("bundles: x\n", 1, 10, "`bundles` takes a list, found the text `x`", "write `[x]`"),
        ("bundles:\n", 1, 1, "`bundles` takes a list, found nothing", "give it a value, or remove the key"),
        ("bundles: {x: y}\n", 1, 1, "`bundles` takes a list, found a mapping", None),
        ("bundles:\n  - x\n  - 1.0\n", 3, 5, "item 2 of `bundles` takes text, found the number `1.0`", 'write `"1.0"`'),
        ("bundles: [[x]]\n", 1, 11, "item 1 of `bundles` takes text, found a list", None),
        ("providers: [claude]\n", 1, 1, "`providers` takes a mapping, found a list", None),
        ("providers:\n  claude: opus\n", 2, 11, "`claude` takes a mapping, found the text `opus`", None),
        ("permission: [plan]\n", 1, 1, f"`permission` takes one of {MODES}, found a list", None),
        ("permission: 1\n", 1, 13, f"`permission` takes one of {MODES}, found the number `1`", None),
        ("env: {PORT: 8080}\n", 1, 13, "`PORT` takes text, found the number `8080`", 'write `"8080"`'),
        ("env: {DEBUG: true}\n", 1, 14, "`DEBUG` takes text, found `true`", 'write `"true"`'),
        ("soul: [x]\n", 1, 1, "`soul` takes text or `{file: PATH}`, found a list", None),
        ("soul: 5\n", 1, 7, "`soul` takes text or `{file: PATH}`, found the number `5`", None),
        ("- a\n", 1, 1, "the document takes a mapping, found a list", None),
        ("just text\n", 1, 1, "the document takes a mapping, found the text `just text`", None),
    ],
)  # fmt: skip
def test_wrong_types_say_what_was_found_and_what_is_wanted(text, line, column, message, remedy):
    _, found = loaded(text)
    assert [(item.code, item.span.line, item.span.column, item.message, item.help) for item in found] == [
        ("AMX103", line, column, message, remedy)
    ]


def test_null_is_the_absence_of_an_optional_value():
    assert fields("display:\nsoul: ~\npermission: null\n").model_dump(exclude_defaults=True) == {}


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "remedy"),
    [
        ("permission: pln\n", 1, 13, "`permission` cannot be `pln`", "did you mean `plan`?"),
        ("providers:\n  claude: {delivery: mail}\n", 2, 22, "`delivery` cannot be `mail`", None),
        ("display: ''\n", 1, 10, "`display` takes text, and this is empty", None),
        ('description: "a\\nb"\n', 1, 14, "`description` takes one line of text", None),
        ("env: {1X: y}\n", 1, 7, f"`1X` {VARIABLE}", SPELLING),
        ("providers: {claude: {api_key_env: sk-1}}\n", 1, 35, f"`api_key_env` {VARIABLE}", SPELLING),
        ("providers: {claude: {base_url: x}}\n", 1, 32, f"`base_url` {ADDRESS}", None),
        ("mcp: {a b: {command: x}}\n", 1, 7, "`a b` takes letters, digits, `-` and `_`, at most 64", None),
        ("mcp: {a: {}}\n", 1, 7, "`a` needs `command` or `url`", None),
        ("mcp: {a: {command: x, url: 'http://x'}}\n", 1, 7, "`a` has both `command` and `url`", "keep one of them"),
        ("mcp: {a: {url: 'http://x', args: [y]}}\n", 1, 7, "`a` has `args` or `env` but no `command`", None),
        ("mcp: {a: {command: x, headers: {y: z}}}\n", 1, 7, "`a` has `headers` but no `url`", None),
    ],
)  # fmt: skip
def test_invalid_values(text, line, column, message, remedy):
    _, found = loaded(text)
    assert [(item.code, item.span.line, item.span.column, item.message, item.help) for item in found] == [
        ("AMX112", line, column, message, remedy)
    ]


def test_a_missing_field_is_reported_where_its_mapping_is_named():
    assert said("soul: {}\n") == [("AMX108", "a.yaml", 1, 1, "in `soul`, `file` is missing")]


def test_what_only_follows_from_a_fault_is_not_said():
    assert said("soul: {fil: x}\nmcp: {a: {comand: x}}\n") == [
        ("AMX102", "a.yaml", 1, 8, "unknown field `fil`"),
        ("AMX102", "a.yaml", 2, 11, "unknown field `comand`"),
    ]


def test_what_is_left_of_a_faulty_spec_is_used():
    text = "bundels: []\nbundles: [x, 1]\npermission: pln\nproviders: {claude: {model: 5, effort: low}}\n"
    specs, found = loaded(text)
    assert sorted(item.code for item in found) == ["AMX102", "AMX103", "AMX103", "AMX112"]
    assert not specs.whole
    assert specs.agents[0].fields.model_dump(exclude_defaults=True) == {
        "bundles": ("x",),
        "providers": {"claude": {"effort": "low"}},
    }


def test_faults_of_all_files_are_reported_in_one_run():
    assert said({"a": "x: 1\n", "b": "a: [\n", "c": "", "d": "a: 1\na: 2\n"}) == [
        ("AMX101", "b.yaml", 2, 1, "the file ends inside of brackets"),
        ("AMX107", "c.yaml", 1, 1, "the file has no content"),
        ("AMX104", "d.yaml", 2, 1, "key `a` stands twice"),
        ("AMX102", "a.yaml", 1, 1, "unknown field `x`"),
        ("AMX102", "d.yaml", 1, 1, "unknown field `a`"),
    ]


@pytest.mark.parametrize(
    ("file", "message", "remedy"),
    [
        ("Reviewer.yaml", f"agent name `Reviewer` {KEBAB}", "call it `reviewer`"),
        ("a_b.yaml", f"agent name `a_b` {KEBAB}", "call it `a-b`"),
        ("a--b.yml", f"agent name `a--b` {KEBAB}", "call it `a-b`"),
        ("é.yaml", f"agent name `é` {KEBAB}", None),
        ("nul.yaml", "agent name `nul` is a device on Windows", None),
        (f"{'a' * 65}.yaml", f"agent name `{'a' * 65}` has 65 characters, more than 64", f"call it `{'a' * 64}`"),
        (
            "_base.yaml",
            "agent name `_base` begins with `_`, which only `_project` may",
            "a spec that is only a base has `abstract: true`",
        ),
    ],
)
def test_names_that_no_agent_can_have(file, message, remedy):
    specs, found = loaded({file: "x: 1\n"})
    assert specs.agents == ()
    assert [(item.code, item.span, item.message, item.help) for item in found] == [
        ("AMX111", Span(f"agents.d/{file}"), message, remedy)
    ]


def test_two_endings_name_one_agent():
    specs, found = loaded({"a.yaml": "display: A\n", "a.yml": "display: B\n", "b.yml": "display: C\n"})
    assert [(spec.name, spec.path) for spec in specs.agents] == [("a", "agents.d/a.yaml"), ("b", "agents.d/b.yml")]
    assert [(item.code, item.span.path, item.message) for item in found] == [
        ("AMX110", "agents.d/a.yml", "`agents.d/a.yml` names the same agent as `agents.d/a.yaml`")
    ]


BASE = """\
abstract: true
display: Base
providers:
  claude: {model: opus, effort: low}
  codex:
bundles: [one, two]
soul: {file: base.md}
env: {A: base, B: base}
mcp: {m: {command: x, args: [a]}}
"""


def test_extends_replaces_scalars_and_lists_and_merges_maps():
    spec = fields(
        {
            "base": BASE,
            "a": "extends: base\ndisplay: A\nbundles: [zero, ..., three]\nsoul: inline\n"
            "env: {B: own, C: own}\nproviders: {gemini: {}, claude: {effort: high}}\nmcp: {m: {args: [b, ...]}}\n",
        }
    )
    assert spec.model_dump(exclude_defaults=True) == {
        "display": "A",
        "extends": "base",
        "providers": {"claude": {"model": "opus", "effort": "high"}, "codex": None, "gemini": {}},
        "bundles": ("zero", "one", "two", "three"),
        "soul": "inline",
        "env": {"A": "base", "B": "own", "C": "own"},
        "mcp": {"m": {"command": "x", "args": ("b", "a")}},
    }
    assert list(spec.providers) == ["claude", "codex", "gemini"]


def test_extends_keeps_every_place():
    own = "extends: base\nbundles:\n  - ...\n  - three\nproviders: {claude: {effort: high}}\n"
    specs, _ = loaded({"base": BASE, "a": own})
    node = specs.agents[0].node
    assert [(item.text, item.span.path, item.span.line) for item in node.get("bundles").items] == [
        ("one", "agents.d/base.yaml", 6),
        ("two", "agents.d/base.yaml", 6),
        ("three", "agents.d/a.yaml", 4),
    ]
    claude = node.get("providers").get("claude")
    assert [(entry.key.text, entry.place.path, entry.place.line) for entry in claude.entries] == [
        ("model", "agents.d/base.yaml", 4),
        ("effort", "agents.d/a.yaml", 5),
    ]


def test_abstract_is_not_inherited_and_null_takes_a_value_away():
    spec = fields({"base": BASE, "a": "extends: base\nsoul:\nbundles: []\n"})
    assert (spec.abstract, spec.soul, spec.bundles) == (False, None, ())


def test_a_chain_of_bases():
    files = {"c": "bundles: [x]\n", "b": "extends: c\nbundles: [..., y]\n", "a": "extends: b\nbundles: [..., z]\n"}
    assert fields(files).bundles == ("x", "y", "z")


def test_a_very_long_chain_of_bases():
    files = {f"a{i}": f"extends: a{i + 1}\nbundles: [..., b{i}]\n" for i in range(1500)}
    specs, found = loaded({**files, "a1500": "bundles: [first]\n"})
    assert found == []
    assert next(spec for spec in specs.agents if spec.name == "a0").fields.bundles[:2] == ("first", "b1499")


def test_a_fault_of_a_base_is_reported_once():
    assert said({"base": "abstract: true\nbundels: []\n", "a": "extends: base\n", "b": "extends: base\n"}) == [
        ("AMX102", "base.yaml", 2, 1, "unknown field `bundels`")
    ]


def test_a_base_that_cannot_be_read_says_so_once_and_its_heirs_are_left_out():
    specs, found = loaded({"base": "a: [\n", "a": "extends: base\n", "b": "extends: a\n", "c": "display: C\n"})
    assert [item.code for item in found] == ["AMX101"]
    assert [spec.name for spec in specs.agents] == ["c"]


def test_an_unknown_base():
    specs, found = loaded({"base": BASE, "a": "extends: bsae\n", "b": "extends: a\n"})
    assert [(item.code, item.span, item.message, item.help) for item in found] == [
        ("AMX204", Span("agents.d/a.yaml", 1, 10, 1, 14), "there is no spec `bsae` to extend", "did you mean `base`?")
    ]
    assert [spec.name for spec in specs.agents] == ["base"]


def test_a_circle_is_reported_once_with_its_path():
    files = {"a": "extends: c\n", "b": "extends: d\n", "c": "extends: b\n", "d": "extends: c\n", "e": "extends: e\n"}
    specs, found = loaded(files)
    assert specs.agents == ()
    assert [(item.code, item.span.path, item.span.line, item.span.column, item.notes) for item in found] == [
        ("AMX203", "agents.d/b.yaml", 1, 10, ("`b` -> `d` -> `c` -> `b`",)),
        ("AMX203", "agents.d/e.yaml", 1, 10, ("`e` -> `e`",)),
    ]


def test_inherited_lists_that_are_not_there_or_stand_twice():
    files = {
        "base": BASE,
        "a": "bundles: [x, ..., '...']\n",
        "b": "extends: base\nskills: [...]\nbundles: [..., x, ...]\n",
    }
    specs, found = loaded(files)
    assert [(item.code, item.span.path, item.span.line, item.span.column) for item in found] == [
        ("AMX212", "agents.d/a.yaml", 1, 14),
        ("AMX212", "agents.d/b.yaml", 2, 10),
        ("AMX207", "agents.d/b.yaml", 3, 19),
    ]
    assert {spec.name: spec.fields.bundles for spec in specs.agents} == {
        "a": ("x", "..."),
        "b": ("one", "two", "x"),
        "base": ("one", "two"),
    }


def test_project_settings():
    specs, found = loaded(
        {
            "_project": "paths: {bundles: ./texts/, snapshots: a/../baseline}\n"
            "sections: [soul, global-bundles, bundles, instructions, skills-index]\nheader: false\n"
            "prefill_rate: 1200\nlaunches_per_day: 20.5\nretention_days: 30\nignore: [AMX210, AMX113]\n"
        }
    )
    assert found == []
    assert specs.settings == Settings(
        bundles="texts",
        snapshots="baseline",
        sections=("soul", "global-bundles", "bundles", "instructions", "skills-index"),
        header=False,
        prefill_rate=1200.0,
        launches_per_day=20.5,
        retention_days=30,
        ignored=("AMX210", "AMX113"),
    )


def test_faulty_settings_keep_their_defaults():
    text = (
        "paths: {bundles: ../x, skills: 'C:\\x', snapshots: .agentmux/s, agents: y}\n"
        "sections: [soul]\nheader: no\nprefill_rate: 0\nretention_days: 1.5\nlaunches_per_day: .nan\n"
        "ignore: [AMX101, AMX999, unused-bundle, AMX210]\n"
    )
    specs, found = loaded({"_project.yml": text})
    assert specs.settings == Settings(ignored=("AMX210",))
    assert sorted((item.span.line, item.span.column, item.code, item.message, item.help) for item in found) == [
        (1, 18, "AMX208", "`bundles` `../x` leaves the project", RELATIVE),
        (1, 32, "AMX208", "`skills` `C:\\x` is not a relative path with `/`", RELATIVE),
        (1, 51, "AMX112", "`snapshots` cannot be `.agentmux/s`, which is taken", None),
        (1, 64, "AMX102", "unknown field `agents`", None),
        (2, 1, "AMX112", "`sections` takes every section once", SECTIONS),
        (3, 9, "AMX103", "`header` takes `true` or `false`, found the text `no`", "write `false`"),
        (4, 15, "AMX112", "`prefill_rate` takes a number greater than 0", None),
        (5, 17, "AMX103", "`retention_days` takes a whole number, found the number `1.5`", None),
        (6, 19, "AMX112", "`launches_per_day` takes a finite number", None),
        (7, 10, "AMX112", "`AMX101` is an error, and errors cannot be ignored", None),
        (7, 18, "AMX112", "there is no diagnostic `AMX999`", None),
        (7, 26, "AMX112", "there is no diagnostic `unused-bundle`", "write `AMX210`"),
    ]  # fmt: skip


def test_the_schema_describes_specs_and_settings():
    schema = json_schema()
    json.dumps(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert set(NAMES) <= set(schema["properties"]["providers"]["propertyNames"]["enum"])
    assert {"ProviderUse", "McpServer", "ProjectSettings"} <= set(schema["$defs"])
    shapes = {name: each for name, each in schema["$defs"].items() if "properties" in each} | {"AgentSpec": schema}
    for shape in shapes.values():
        assert shape["additionalProperties"] is False
        assert shape["description"]
    described = {name for name, each in schema["properties"].items() if each.get("description")}
    assert set(schema["properties"]) - described == {"permission", "delivery", "mcp"} - described


def references(value):
    if isinstance(value, dict):
        yield from (item for key, item in value.items() if key == "$ref")
        yield from (item for each in value.values() for item in references(each))
    elif isinstance(value, list):
        yield from (item for each in value for item in references(each))


def test_every_reference_of_the_schema_leads_somewhere():
    schema = json_schema()
    assert {each.removeprefix("#/$defs/") for each in references(schema)} <= set(schema["$defs"])


NAME = st.sampled_from(
    ["display", "bundles", "env", "providers", "mcp", "soul", "extends", "claude", "file", "x", "<file>", "[key]"]
)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "x", "a", "...", "plan"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(NAME, VALUE, max_size=5), st.dictionaries(NAME, VALUE, max_size=5))
def test_no_spec_makes_the_loader_raise(first, second):
    files = {"a": json.dumps(first), "b": json.dumps(second), "_project": json.dumps(first)}
    specs, found = loaded(files)
    assert specs.whole == (not [item for item in found if item.severity == "error"])
    for item in found:
        assert item.message[0].islower() or item.message[0] == "`"
        assert not item.message.endswith(".")


LISTS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4)


@given(LISTS, LISTS, LISTS)
def test_dots_stand_for_exactly_the_inherited_list(inherited, before, after):
    base, _ = parse("base", json.dumps({"x": inherited}).encode())
    own, _ = parse("own", f"x: [{', '.join([*before, '...', *after])}]".encode())
    merged, found = merge(base, own)
    assert found == []
    assert merged.plain() == {"x": [*before, *inherited, *after]}


def test_a_backend_is_one_of_those_that_are_known():
    _, found = loaded("providers:\n  claude: {backend: vlm}\n")
    assert [(item.code, item.span.line, item.message, item.help) for item in found] == [
        ("AMX112", 2, "`backend` takes the name of a cache, and `vlm` is none", "did you mean `vllm`?")
    ]
