from __future__ import annotations

import hashlib

import pytest

from agentmux_compiler.prefix import claude_tokens
from agentmux_compiler.prefix.counters import Count, counter_for, total

PROSE = """\
Review the diff, not the author. It's NASA's 3rd of 12,345 rules: `x == y` — see §4.

- one
- Zwölf Bäume 樹木 🎉
"""


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("", 0, 0),
        ("hello, world", 3, 4),
        ("hello, world\n", 4, 5),
        ("NASA likes tokenizers", 4, 10),
        ("it's", 2, 2),
        ("\n\n", 1, 1),
        ("    indented", 3, 3),
        ("你好世界", 4, 4),
        ("👩‍💻", 6, 6),
        ("\ud800", 1, 1),
    ],
)
def test_counts_of_both_vocabularies(text, old, new):
    assert (claude_tokens.count(text, "claude-3"), claude_tokens.count(text, "claude-4.7")) == (old, new)


def test_the_count_of_every_character_is_pinned():
    """The same on every Python: later Unicode tables change no count."""
    digest = hashlib.sha256()
    for point in (*range(0xD800), *range(0xE000, 0x10600)):
        char = chr(point)
        digest.update(bytes([claude_tokens.count(f"a{char} {char}1", "claude-4.7")]))
    assert digest.hexdigest()[:16] == "85a10f91e5cd66a7"


def test_text_adds_up_where_lines_do():
    lines = PROSE.splitlines(keepends=True)
    for vocabulary in ("claude-3", "claude-4.7"):
        whole = claude_tokens.count("".join(lines), vocabulary)
        assert abs(sum(claude_tokens.count(line, vocabulary) for line in lines) - whole) <= len(lines)


def test_no_piece_spans_two_words():
    """What the counting by words rests on."""
    for vocabulary in ("claude-3", "claude-4.7"):
        for node in claude_tokens.model(vocabulary).trie.root.values():
            assert_no_marker_inside(node)


def assert_no_marker_inside(node):
    for char, below in node.items():
        if char is not None:
            assert char != claude_tokens.EOW_G
            inner = {key for key in below if key is not None}
            assert char != claude_tokens.BOW_G or inner <= {claude_tokens.SHIFT_G, claude_tokens.CAPS_G}
            assert_no_marker_inside(below)


@pytest.mark.parametrize(
    ("vendor", "model", "method", "error", "tokens"),
    [
        ("anthropic", "claude-opus-4-6", "ctok 1.3.0 (claude-3)", 1, 55),
        ("anthropic", "claude-haiku-4-5-20251001", "ctok 1.3.0 (claude-3)", 1, 55),
        ("anthropic", "claude-opus-4-7", "ctok 1.3.0 (claude-4.7)", 1, 62),
        ("anthropic", "opus", "ctok 1.3.0 (claude-4.7)", None, 62),
        ("anthropic", None, "ctok 1.3.0 (claude-4.7)", None, 62),
        ("openai", "gpt-5.5", "o200k_base", 0, 45),
        ("openai", "gpt-6-sol", "o200k_base", None, 45),
        ("google", "gemini-2.5-pro", "gemma3", 0, 51),
        ("google", "gemini-3.5-flash", "gemma4", 0, 51),
        ("moonshot", "kimi-k2.7-code", "kimi_k2", 0, 49),
        ("moonshot", "kimi-k3", "kimi_k3", 0, 49),
        ("alibaba", "qwen3-coder-plus", "qwen3", 0, 53),
        ("alibaba", "qwen3.7-max", "qwen3", None, 53),
        ("deepseek", "deepseek-v3.2", "deepseek_v3", 0, 49),
        ("zai", "glm-5.3", "glm4", None, 50),
        ("xai", "grok-4.7", "o200k_base", None, 45),
        ("nobody", None, "o200k_base", None, 45),
    ],
)
def test_a_model_is_counted_by_its_vocabulary_with_its_bound(vendor, model, method, error, tokens):
    assert counter_for(vendor, model).measured(PROSE) == Count(tokens, method, error)


def test_names_of_special_tokens_are_text():
    assert counter_for("openai", "gpt-5.5").count("<|endoftext|>") > 1


def test_text_of_known_size_only_is_estimated_by_a_stated_ratio():
    assert counter_for("anthropic", "claude-opus-5").estimated(35_000) == Count(12821, "2.73 bytes per token", 20)
    assert counter_for("openai", "gpt-5.5").estimated(35_000) == Count(8178, "4.28 bytes per token", 20)


def test_counts_add_up_with_their_methods_and_weighted_errors():
    exact, guess, unknown = Count(900, "o200k_base", 0), Count(100, "bytes", 20), Count(1, "qwen3", None)
    assert total([exact, guess]) == Count(1000, "o200k_base, bytes", 2.0)
    assert total([exact, unknown]) == Count(901, "o200k_base, qwen3", None)
    assert total([]) == Count(0, "", 0.0)
