from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.proposal.alignment import Group, groups
from agentmux_compiler.proposal.beside import found_beside
from agentmux_compiler.proposal.blocks import blocks, heading, is_heading, sections
from agentmux_compiler.proposal.bundle_file import bundle_file
from agentmux_compiler.proposal.bundling import NamedBundle, Piece, bundles_of, outline
from agentmux_compiler.proposal.proposing import Request, propose
from agentmux_compiler.proposal.secrets import Hider, Replaced, looks_secret
from agentmux_compiler.proposal.spec_text import scalar
from agentmux_compiler.proposal.survey import FoundText
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.sources.yaml_nodes import Mapping
from agentmux_compiler.sources.yaml_source import parse_text
from agentmux_compiler.tree import DiskTree

LINES = st.sampled_from(
    [
        "",
        "",
        "",
        "Text.",
        "  ",
        "# One",
        "## Two",
        "```",
        "~~~~",
        "<!-- a",
        "b -->",
        "- item",
        "---",
        "{{AGENT}}",
        "{% x",
        "文",
    ]
)
TEXTS = (
    st.lists(LINES, min_size=1, max_size=30).map("\n".join).filter(str.strip).map(lambda text: text.rstrip("\n") + "\n")
)
LONG = "A sentence that is long enough to be worth a bundle of its own. " * 2


@given(TEXTS)
def test_blocks_are_the_text(text):
    assert "\n".join(blocks(text)) == text


def test_blocks_are_cut_at_empty_lines_but_not_in_code_or_comments():
    text = "# One\n\nText.\n\n\n```sh\na\n\nb\n```\n\n<!-- c\n\nd -->\n\n~~~\n\n```\n\n~~~\n\n- e\n\n  f\n"
    assert blocks(text) == (
        "# One\n",
        "Text.\n",
        "\n```sh\na\n\nb\n```\n",
        "<!-- c\n\nd -->\n",
        "~~~\n\n```\n\n~~~\n",
        "- e\n",
        "  f\n",
    )


def test_a_fence_that_is_never_closed_ends_with_the_text():
    assert blocks("```\na\n\nb\n") == ("```\na\n\nb\n",)


def test_headings():
    assert heading("## Two ##\n\nText\n") == (2, "Two")
    assert heading("\n\n# One\nText\n") == (1, "One")
    assert heading("#hashtag\n") is None
    assert (is_heading("## Two\n"), is_heading("## Two\nText\n"), is_heading("Text\n")) == (True, False, False)


def test_sections_begin_at_the_first_two_levels():
    group = ("Text\n", "# A\n", "a\n", "### A.1\n", "b\n", "## B\n")
    assert sections(group) == (("Text\n",), ("# A\n", "a\n", "### A.1\n", "b\n"), ("## B\n",))


@given(st.lists(st.lists(st.sampled_from([*"abcdefgh", "# H", LONG]), max_size=12), min_size=1, max_size=4))
def test_every_file_is_the_sequence_of_its_groups(files):
    found = groups(files)
    for index, file in enumerate(files):
        assert [text for group in found if index in group.holders for text in group.blocks] == file


def common(*blocks_, holders=(0, 1)):
    return Group(blocks_, frozenset(holders))


def test_what_differs_stands_between_what_is_common():
    one, other = ([LONG, "x", LONG + "2"], [LONG, "y", LONG + "2"])
    assert groups([one, other]) == (
        common(LONG),
        common("x", holders=[0]),
        common("y", holders=[1]),
        common(LONG + "2"),
    )


def test_particular_blocks_are_brought_together_across_short_common_ones():
    found = groups([[LONG, "a1", "short", "a2", LONG + "2"], [LONG, "b1", "short", "b2", LONG + "2"]])
    assert found == (
        common(LONG),
        common("a1", "short", "a2", holders=[0]),
        common("b1", "short", "b2", holders=[1]),
        common(LONG + "2"),
    )


def test_a_common_heading_goes_with_the_text_that_differs_below_it():
    found = groups([[LONG, "## Test", "a"], [LONG, "## Test", "b"]])
    assert found == (common(LONG), common("## Test", "a", holders=[0]), common("## Test", "b", holders=[1]))


def test_a_common_heading_stays_where_one_file_only_adds_text():
    found = groups([[LONG, "## Test", "a", LONG + "2"], [LONG, "## Test", LONG + "2"]])
    assert found == (common(LONG, "## Test"), common("a", holders=[0]), common(LONG + "2"))


def test_two_of_three_that_agree_keep_one_copy():
    found = groups([[LONG, "## Test", "a"], [LONG, "## Test", "a"], [LONG, "## Test", "b"]])
    assert found == (
        common(LONG, holders=[0, 1, 2]),
        common("## Test", "a"),
        common("## Test", "b", holders=[2]),
    )


def test_the_heaviest_common_text_is_kept():
    found = groups([["a", "b", "c", LONG], [LONG, "a", "b", "c"]])
    assert [group for group in found if len(group.holders) > 1] == [common(LONG)]


def test_long_files_are_aligned_too():
    one = [f"block {number}" for number in range(1500)]
    other = [text for text in one if text != "block 700"] + ["end"]
    other[3] = "changed"
    held = [text for group in groups([one, other]) if group.holders == {0, 1} for text in group.blocks]
    assert len(held) == 1498


def text_of(path, text, *providers):
    folder = path.rpartition("/")[0] or "."
    return FoundText(path, folder, providers, text.encode(), text)


def test_sections_that_agents_share_are_one_bundle():
    style = f"## House style\n\n{LONG}\n\n{LONG}\n"
    outlines = [
        outline("main", [text_of("CLAUDE.md", f"# Main\n\nText.\n\n{style}\n## Rest\n\nMore.\n", "claude")]),
        outline("api", [text_of("api/CLAUDE.md", f"# API\n\nOther.\n\n{style}", "claude")]),
    ]
    lists, bundles = bundles_of(outlines)
    assert lists == {"main": ("project", "house-style", "rest"), "api": ("api", "house-style")}
    assert [bundle.name for bundle in bundles] == ["project", "house-style", "rest", "api"]


def test_a_text_that_stands_twice_in_a_file_is_listed_under_two_names():
    part = f"## Part\n\n{LONG * 6}\n"
    lists, bundles = bundles_of([outline("main", [text_of("CLAUDE.md", f"{part}\n{part}", "claude")])])
    assert lists == {"main": ("part", "part-2")}
    assert {bundle.piece.text for bundle in bundles} == {part}


def test_names_come_from_headings_and_say_whom_a_bundle_is_for():
    one = f"# Title\n\n{LONG}\n\n## Use `npm run` & [docs](https://x.example)\n\n{LONG * 5}\n"
    other = f"# Title\n\n{LONG}\n\n## 文体\n\n{LONG * 6}\n"
    lists, _ = bundles_of(
        [outline("main", [text_of("CLAUDE.md", one, "claude"), text_of("AGENTS.md", other, "codex")])]
    )
    assert lists == {"main": ("project", "use-npm-run-docs-claude", "project-codex")}


@pytest.mark.parametrize(
    ("piece", "path", "data"),
    [
        (Piece("Text.\n"), "b/x.md", "Text.\n"),
        (Piece("\nText.\n"), "b/x.md", "\nText.\n"),
        (Piece("Text.\n", ("claude", "codex")), "b/x.md", "---\nproviders: [claude, codex]\n---\nText.\n"),
        (Piece("---\nText.\n"), "b/x.md", "---\n---\n---\nText.\n"),
        (Piece("\nText.\n", ("claude",)), "b/x.md.j2", "---\nproviders: [claude]\n---\n{% raw %}\nText.{% endraw %}\n"),
        (Piece("{{AGENT}}\n"), "b/x.md.j2", "{% raw %}{{AGENT}}{% endraw %}\n"),
        (Piece("${{ env.AGENT }} {{ AGENT }}\n"), "b/x.md", "${{ env.AGENT }} {{ AGENT }}\n"),
        (
            Piece("{{AGENT}} {% endraw %}\n"),
            "b/x.md.j2",
            '{{ "" }}{{ "{{" }}AGENT}} {{ "{%" }} endraw %}\n',
        ),
    ],
)
def test_the_file_of_a_bundle(piece, path, data):
    assert bundle_file("b", NamedBundle("x", piece)) == (path, data.encode())


@pytest.mark.parametrize(
    ("words", "hidden", "variables"),
    [
        (["a", "--token", "abc", "--limit=5"], ["a", "--token", "${S_TOKEN}", "--limit=5"], ["S_TOKEN"]),
        (["a", "--api-key=abc"], ["a", "--api-key=${S_API_KEY}"], ["S_API_KEY"]),
        (
            ["docker", "-e", "MY_TOKEN=abc", "img:1.2"],
            ["docker", "-e", "MY_TOKEN=${S_MY_TOKEN}", "img:1.2"],
            ["S_MY_TOKEN"],
        ),
        (
            ["npx", "mcp-remote", "https://x.example/mcp", "--header", "Authorization: Bearer abc"],
            ["npx", "mcp-remote", "https://x.example/mcp", "--header", "Authorization: Bearer ${S_TOKEN}"],
            ["S_TOKEN"],
        ),
        (["a", "--header", "X-Api-Key:abc"], ["a", "--header", "X-Api-Key:${S_X_API_KEY}"], ["S_X_API_KEY"]),
        (["a", "postgres://u:p@host/db"], ["a", "postgres://${S_LOGIN}@host/db"], ["S_LOGIN"]),
        (
            ["a", "--url=https://x.example?key=abc&page=2"],
            ["a", "--url=https://x.example?key=${S_KEY}&page=2"],
            ["S_KEY"],
        ),
        (["a", "sk-abcdefgh12345678"], ["a", "${S_TOKEN}"], ["S_TOKEN"]),
        (["a", "0123456789abcdef0123"], ["a", "${S_TOKEN}"], ["S_TOKEN"]),
        (["a", "${TOKEN}", "--token", "${TOKEN:-abc}"], ["a", "${TOKEN}", "--token", "${TOKEN}"], []),
        (["a", "postgres://${U}:${P}@host/db"], ["a", "postgres://${U}:${P}@host/db"], []),
        (["API_KEY=abc run"], ["API_KEY=${S_API_KEY}"], ["S_API_KEY"]),
        (
            ["uvx", "--from", "mcp-server-sqlite==0.6.2", "/srv/2024/some/long/path/to/a/data.db", "C:\\Users\\me"],
            ["uvx", "--from", "mcp-server-sqlite==0.6.2", "/srv/2024/some/long/path/to/a/data.db", "C:\\Users\\me"],
            [],
        ),
        (["a", "--max-tokens", "4096", "--verbose"], ["a", "--max-tokens", "4096", "--verbose"], []),
        (["a", "@modelcontextprotocol/server-github"], ["a", "@modelcontextprotocol/server-github"], []),
    ],
)
def test_secrets_of_a_command_line(words, hidden, variables):
    found: list[Replaced] = []
    assert list(Hider(".mcp.json", "s", found).words(words[0], words[1:])) == hidden
    assert [each.variable for each in found] == variables


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("GITHUB_TOKEN", "x", True),
        ("DATABASE_URL", "postgres://u:p@host/db", True),
        ("DATABASE_URL", "postgres://host/db", False),
        ("ACCOUNT", "550e8400-e29b-41d4-a716-446655440000", True),
        ("MAX_TOKENS", "4096", False),
        ("TOKENIZERS_PARALLELISM", "false", False),
        ("LOG_LEVEL", "info", False),
        ("MONKEY", "bars", False),
        ("API_KEY", "${API_KEY}", False),
        ("API_KEY", "", False),
    ],
)
def test_what_looks_like_a_secret(name, value, secret):
    assert looks_secret(name, value) is secret


@given(st.text(max_size=30).filter(str.isprintable))
def test_a_scalar_is_read_back_as_it_was(text):
    node, found = parse_text("x.yaml", f"key: {scalar(text)}\n")
    assert found == []
    assert isinstance(node, Mapping)
    assert node.plain() == {"key": text}


@pytest.mark.parametrize("word", ["true", "No", "null", "1", "1.5", "~", "- x", "a: b", "#", "@x", "${X}", "x y", ""])
def test_a_scalar_that_yaml_would_read_otherwise_is_quoted(word):
    assert scalar(word)[0] == '"'


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_a_build_gives_every_file_back(tmp_path_factory, texts):
    root = tmp_path_factory.mktemp("project")
    files = dict(zip(("CLAUDE.md", "AGENTS.md", "GEMINI.md"), texts, strict=False))
    for name, text in files.items():
        (root / name).write_bytes(text.encode())
    proposal = propose(DiskTree(root), [load_provider(name) for name in NAMES], Request())
    assert [(proof.path, proof.differences) for proof in proposal.proofs] == [(name, ()) for name in files]
    assert [item for item in proposal.diagnostics if item.severity.value == "error"] == []


def test_what_a_cli_reads_by_itself_is_said_and_an_empty_folder_is_not(tmp_path):
    for path in (".claude/agents/one.md", "sub/.codex/config.toml", ".claude/settings.json"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x", encoding="utf-8")
    (tmp_path / ".claude/commands").mkdir()
    catalog = [load_provider(name) for name in NAMES]

    assert list(found_beside(DiskTree(tmp_path), [".", "sub"], catalog)) == [
        (".claude/agents/", "sub-agents; they reach `claude` by themselves, and none is taken in"),
        (".claude/settings.json", "settings; they reach `claude` by themselves, and none is taken in"),
        ("sub/.codex/config.toml", "settings; they reach `codex` by themselves, and none is taken in"),
    ]
