"""Volatile placeholders of outputs."""

from __future__ import annotations

from agentmux_compiler.pipeline import BuildOptions, build


def test_a_sample_stays_beside_a_value_of_another_segment(tmp_path):
    for name, text in {
        "agents.d/a.yaml": "providers: {claude: {}}\ndelivery: flag\nbundles: [sample, today]\n",
        "bundles/sample.md.j2": "{% raw %}Write {{DATE}}.{% endraw %}\n",
        "bundles/today.md": "Today is {{DATE}}.\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    build(tmp_path, BuildOptions(accept=True, today="2026-11-30"))

    written = (tmp_path / ".agentmux/agents/a/claude/instructions.md").read_bytes()
    assert written == b"Write {{DATE}}.\n\nToday is 2026-11-30.\n"
