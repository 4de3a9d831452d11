"""Counts of texts whose tokens are known, and what they are counted by."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agentmux_compiler.prefix.counters import Count, counter_for, total

O200K = counter_for("openai", "gpt-5.5")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("<|endoftext|>", 7),
        ("hello <|endoftext|> world", 9),
        ("a <|endofprompt|> b", 9),
        ("日本語テキスト", 5),
        ("   \n\n\t x", 3),
        ("\x00", 1),
        ("one \ud800 two", 3),
    ],
)
def test_text_counts_as_plain_text(text, tokens):
    assert O200K.measured(text) == Count(tokens, "o200k_base", 0)


def test_an_opaque_part_counts_by_its_size():
    assert [O200K.estimated(size) for size in (0, 428, 76_500)] == [
        Count(tokens, "4.28 bytes per token", 20.0) for tokens in (0, 100, 17_874)
    ]


@pytest.mark.parametrize(
    ("vendor", "model", "method", "error"),
    [
        ("anthropic", "claude-opus-4-6", "ctok 1.3.0 (claude-3)", 1),
        ("anthropic", "opus", "ctok 1.3.0 (claude-4.7)", None),
        ("anthropic", None, "ctok 1.3.0 (claude-4.7)", None),
        ("google", "gemini-2.5-pro", "gemma3", 0),
        ("custom", "somebody/qwen3-coder-plus", "qwen3", 0),
        ("custom", "a-model-nobody-knows", "o200k_base", None),
    ],
)
def test_a_model_counts_by_its_own_vocabulary(vendor, model, method, error):
    counter = counter_for(vendor, model)
    assert (counter.method, counter.error_pct) == (method, error)


def test_several_counts_are_one_with_both_methods_and_the_error_by_weight():
    assert total([Count(300, "a", 0.0), Count(100, "b", 20.0), Count(0, "c", None)]) == Count(400, "a, b", 5.0)
    assert total([Count(300, "a", 0.0), Count(100, "b", None)]) == Count(400, "a, b", None)


def test_no_tokenizer_is_loaded_before_a_text_is_counted():
    code = (
        "import sys; from agentmux_compiler.prefix.counters import counter_for\n"
        "counter = counter_for('openai', 'gpt-5.5'); counter.count(''); early = 'splintr' in sys.modules\n"
        "counter.count('x'); print(early, 'splintr' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"
