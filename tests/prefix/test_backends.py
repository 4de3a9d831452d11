from __future__ import annotations

from importlib.resources import files

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from agentmux_compiler.prefix.backends import BACKENDS, UNKNOWN, choose, load_backend
from agentmux_compiler.prefix.backends.schema import Backend
from agentmux_compiler.prefix.models import known, matches


def raw(name):
    text = files("agentmux_compiler.prefix.backends").joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    return YAML(typ="safe", pure=True).load(text)


def paths(value, at=()):
    """Where every field of a table stands."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        if isinstance(value, dict):
            yield (*at, key)
        yield from paths(each, (*at, key))


def without(value, path):
    copy = {**value} if isinstance(value, dict) else list(value)
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = without(value[path[0]], path[1:])
    return copy


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_loads_under_its_own_name(name):
    backend = load_backend(name)
    assert backend.name == name
    assert (backend.kind == "units") == (backend.units is not None)
    assert backend.kind != "breakpoints" or backend.breakpoints is not None
    assert {row.name for row in backend.lifetimes.default} <= {row.name for row in backend.lifetimes.rows}
    for rows in (backend.minimum.rows, backend.effort.rows, backend.lifetimes.default):
        assert rows[-1].models == ("*",)


def test_the_registry_is_the_folder():
    names = {path.name for path in files("agentmux_compiler.prefix.backends").iterdir() if path.name.endswith(".yaml")}
    assert names == {f"{name}.yaml" for name in (*BACKENDS, "choice")}


@pytest.mark.parametrize("name", BACKENDS)
def test_no_field_may_be_left_out(name):
    table = raw(name)
    accepted = []
    for path in paths(table):
        try:
            Backend.model_validate(without(table, path))
            accepted.append(path)
        except ValidationError:
            pass
    assert accepted == []


def test_a_field_nobody_declared_is_refused():
    with pytest.raises(ValidationError, match="extra_forbidden"):
        Backend.model_validate({**raw("vllm"), "speed": 1})


@pytest.mark.parametrize("source", ["the guide, 2026-11-30", "documented somewhere", "measured"])
def test_a_source_says_how_it_is_known_and_when(source):
    table = raw("vllm")
    table["minimum"]["source"] = source
    with pytest.raises(ValidationError, match="string_pattern_mismatch"):
        Backend.model_validate(table)


def test_a_backend_nobody_knows_is_none():
    assert load_backend(UNKNOWN) is None
    assert load_backend("choice") is None


@pytest.mark.parametrize(
    ("vendor", "model", "backend", "base_url", "expected"),
    [
        ("anthropic", "opus", None, None, "anthropic"),
        ("openai", "gpt-5.5", None, None, "openai"),
        ("openai", "gpt-5.5-codex", None, None, "openai"),
        ("openai", "gpt-5.6-sol", None, None, "openai-5.6"),
        ("openai", "openai/gpt-6-sol", None, None, "openai-5.6"),
        ("openai", None, None, None, "openai"),
        ("google", "gemini-3.5-flash", None, None, "gemini"),
        ("gemini", "gemini-3.5-flash", None, None, "gemini"),
        ("moonshotai", "kimi-k3", None, None, "moonshot"),
        ("nobody", "model", None, None, UNKNOWN),
        ("anthropic", "opus", "vllm", "https://api.anthropic.com", "vllm"),
        ("anthropic", "opus", "typo", None, UNKNOWN),
        ("anthropic", "opus", None, "https://gateway.example/v1", UNKNOWN),
        ("anthropic", "opus", None, "https://api.anthropic.com", "anthropic"),
        ("nobody", "gpt-5.6-sol", None, "https://eu.api.openai.com/v1", "openai-5.6"),
        ("alibaba", "qwen3-max", None, "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "dashscope"),
        ("openai", "qwen3-coder", None, "http://127.0.0.1:8000/v1", "vllm"),
        ("openai", "qwen3-coder", None, "http://[::1]:30000", "sglang"),
        ("openai", "qwen3-coder", None, "localhost:11434", "ollama"),
        ("openai", "qwen3-coder", None, "http://localhost:9999/v1", UNKNOWN),
        ("openai", "qwen3-coder", None, "http://localhost:port/v1", UNKNOWN),
    ],
)
def test_a_backend_is_chosen_by_name_then_address_then_vendor_and_model(vendor, model, backend, base_url, expected):
    assert choose(vendor, model, backend, base_url) == expected


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-opus-5", 512),
        ("claude-opus-4-8", 1024),
        ("claude-opus-4-1", 1024),
        ("claude-sonnet-5", 1024),
        ("claude-sonnet-4-6", 1024),
        ("claude-opus-4-7", 2048),
        ("claude-opus-4-5-20251101", 4096),
        ("claude-haiku-4-5", 4096),
        ("claude-opus-5-5", "unknown"),
        ("claude-opus-9", "unknown"),
    ],
)
def test_the_minimum_of_a_claude_model(model, tokens):
    rows = load_backend("anthropic").minimum.rows
    assert next(row.tokens for row in rows if matches(model, row.models)) == tokens


def test_the_models_table_ends_with_a_row_for_all():
    assert known().vocabularies[-1].models == ("*",)
    assert {row.vendor for row in known().aliases} <= set(known().vendors)
    assert set(known().unnamed) == set(known().vendors)
