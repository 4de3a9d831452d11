from __future__ import annotations

import pytest

from agentmux_compiler.prefix.backends import BACKENDS, load_backend
from agentmux_compiler.prefix.certainty import RANKS, certainty
from agentmux_compiler.prefix.reuse import terms


@pytest.mark.parametrize(
    ("backend", "model", "effort", "expected"),
    [
        ("anthropic", "claude-opus-5", True, "documented"),
        ("anthropic", "claude-opus-5-5", False, "documented, an upper bound"),
        ("vllm", "qwen3", False, "documented"),
        ("vllm", "qwen3", True, "third-party"),
        ("ollama", "qwen3", False, "inferred"),
        ("deepseek", "deepseek-v4-pro", False, "documented, a lower bound"),
        ("gemini", "gemini-3.5-flash", False, "recalled, an upper bound"),
        ("moonshot", "kimi-k3", False, "third-party"),
    ],
)
def test_a_figure_is_as_sure_as_the_least_sure_of_its_facts(backend, model, effort, expected):
    facts = load_backend(backend)
    assert certainty(facts, terms(facts, model), effort_changed=effort) == expected


@pytest.mark.parametrize("name", BACKENDS)
def test_every_source_has_a_rank(name):
    facts = load_backend(name)
    assert certainty(facts, terms(facts, None), effort_changed=True).partition(",")[0] in RANKS
