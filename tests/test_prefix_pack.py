import zlib

import pytest

from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.revisions.prefix_pack import pack, unpack
from agentmux_compiler.tree import DiskTree, MemoryTree

PROJECT = {
    "agents.d/a.yaml": b"providers: {claude: {model: opus}, codex: {}, gemini: {}}\nbundles: [x]\nsoul: Be brief.\n",
    "agents.d/b.yaml": b"providers: {claude: {}}\ndelivery: file\nbundles: [x, y]\n",
    "bundles/x.md": "Say {{AGENT}}, \U0001f600 and \u4e2d.\n".encode(),
    "bundles/y.md": b"It is {{MODEL}}.\n",
}


def prefixes(tree):
    return tuple(plan.prefix for plan in compile_project(tree).plans)


def test_what_was_packed_comes_back_value_for_value():
    plans = prefixes(MemoryTree(PROJECT))
    assert unpack(pack(plans)) == plans
    assert pack(unpack(pack(plans))) == pack(plans)
    assert unpack(pack(())) == ()


def test_this_repository_comes_back_value_for_value(repository):
    plans = prefixes(DiskTree(repository))
    assert unpack(pack(plans)) == plans


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "incomplete"),
        (b"text", "incorrect header"),
        (pack(())[:-1], "incomplete"),
        (zlib.compress(b"{"), "Expecting"),
    ],
)
def test_other_bytes_are_refused(data, said):
    with pytest.raises(ValueError, match=said):
        unpack(data)
