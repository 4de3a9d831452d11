"""What a CLI leaves of a text that it does not pass on whole; the long sample is a CLAUDE.md and what the model got."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.lowering.stripped import as_read
from agentmux_compiler.pipeline import BuildOptions, DiffOptions, build
from agentmux_compiler.pipeline import diff as compare
from agentmux_compiler.segment import Text

BOTH = ("block-comments", "front-matter", "crlf")
WRITTEN = """<!-- top comment -->
alpha

<!-- one -->

beta

<!-- two -->
gamma
delta
<!-- mid para -->
epsilon <!-- inline --> zeta

<!-- multi
line --> tail text

eta

   <!-- three spaces -->

```html
<!-- fenced -->
```

- item
  <!-- in list -->
- item2

<!-- joined --><!-- twice -->

    <!-- indented code -->

theta
<!-- whole -->


kappa
<!-- unclosed
"""
READ = """alpha

beta

gamma
delta
epsilon <!-- inline --> zeta

 tail text

eta

```html
<!-- fenced -->
```

- item
  <!-- in list -->
- item2

    <!-- indented code -->

theta
kappa
<!-- unclosed
"""


def text(written):
    return Text(written, "a.md", tuple(range(1, written.count("\n") + 1)))


def read(written, strips=BOTH, *, top=False):
    return as_read(strips, text(written), top=top)


def test_comments_go_as_the_cli_was_seen_to_take_them_out():
    assert read(WRITTEN).text == READ


def test_every_line_that_stays_knows_where_it_was_written():
    lines = WRITTEN.split("\n")
    made = read(WRITTEN)
    pairs = zip(made.text.split("\n"), made.lines, strict=False)
    assert [(line, at) for line, at in pairs if not lines[at - 1].endswith(line)] == []
    assert len(made.lines) == made.text.count("\n")


def test_front_matter_goes_at_the_very_top_alone():
    written = "---\nname: x\n---\nalpha\n"
    assert read(written, top=True) == Text("alpha\n", "a.md", (4,))
    assert read(written) == text(written)


@given(
    st.lists(st.sampled_from(["alpha\n", "\n", "<!-- c -->\n", "<!--\n", "-->\n", "- x\n", "  <!-- l -->\n", "```\n"]))
)
def test_whatever_is_written_lines_and_origins_stay_in_step(lines):
    made = read("".join(lines), top=True)
    assert len(made.lines) == made.text.count("\n")
    assert list(made.lines) == sorted(made.lines)


def test_a_cli_that_strips_nothing_changes_nothing():
    assert read(WRITTEN, ()) == text(WRITTEN)


@pytest.fixture
def project(write_project):
    return write_project(
        {
            "agents.d/main.yaml": "providers: {claude: {}, codex: {}}\ndelivery: file\nbundles: [style]\n",
            "bundles/style.md": "Be brief.\n\n<!-- for us -->\n\nBe kind.\n",
            "CLAUDE.local.md": "",
        }
    )


def verdicts(report):
    return {plan.provider: plan.verdict for plan in report.plans}


def test_an_edit_of_a_comment_breaks_only_who_gets_it(project):
    build(project, BuildOptions(accept=True))
    (project / "bundles/style.md").write_bytes(b"Be brief.\n\n<!-- for us alone -->\n\nBe kind.\n")
    assert verdicts(compare(project, DiffOptions())) == {"claude": "unchanged", "codex": "broken"}


def test_the_first_comment_breaks_nothing_for_who_does_not_get_it(project):
    (project / "bundles/style.md").write_bytes(b"Be brief.\n\nBe kind.\n")
    build(project, BuildOptions(accept=True))
    (project / "bundles/style.md").write_bytes(b"Be brief.\n\n<!-- for us -->\nBe kind.\n")
    assert verdicts(compare(project, DiffOptions())) == {"claude": "kept", "codex": "broken"}


def test_a_fresh_clone_knows_the_file_for_its_own(project):
    build(project, BuildOptions(accept=True))
    subprocess.run(["rm", "-r", str(project / ".agentmux")], check=True)
    report = build(project, BuildOptions(check=True))
    assert [file for file in report.files if file.status != "unchanged"] == []
