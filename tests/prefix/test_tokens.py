"""Counts of texts whose tokens are known."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agentmux_compiler.prefix.tokens import Counter, estimate


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
    assert Counter().count(text) == tokens


def test_a_text_is_counted_once():
    counter = Counter()
    assert [counter.count("hello world"), counter.count("hello" + " world")] == [2, 2]
    assert counter == Counter(_counts={"hello world": 2})


def test_an_opaque_part_counts_by_its_size():
    assert [estimate(size) for size in (0, 407, 76_500)] == [0, 100, 18_796]


def test_no_tokenizer_is_loaded_before_a_text_is_counted():
    code = (
        "import sys; from agentmux_compiler.prefix.tokens import Counter\n"
        "counter = Counter(); counter.count(''); early = 'splintr' in sys.modules\n"
        "counter.count('x'); print(early, 'splintr' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"
