"""Sessions of real CLIs against a recorder that plays their backend's cache: `agentmux usage` says what broke it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from agentmux_compiler.prefix.played import player_of
from agentmux_launcher.recorder import Recorder

from .sandbox import prepare

pytestmark = pytest.mark.real

RULES = "".join(f"Rule {number} of the house style is to be held in every file.\n" for number in range(1, 201))
EDITED = RULES.replace("Rule 40 of the house", "Rule 40 of this house")
USES = {
    "claude": "{model: sonnet}",
    "codex": "{model: gpt-5.5, effort: low}",
    "gemini": "{model: gemini-2.5-pro}",
    "qwen": "{model: qwen3-coder-plus}",
}
NO_SNAPSHOT = "{model: sonnet, flags: [--system-prompt-snapshot, 'off'], base_url: 'URL', backend: anthropic}"
CACHES = {
    "claude": ("anthropic", "anthropic", "claude-sonnet-5-5"),
    "codex": ("openai", "openai", "gpt-5.5"),
    "gemini": ("gemini", "google", "gemini-2.5-pro"),
    "qwen": ("dashscope", "alibaba", "qwen3-coder-plus"),
}


class Project:
    """One agent on one provider, with a bundle of two hundred rules."""

    def __init__(self, provider, recorder, sandbox):
        self.provider, self.recorder, self.folder = provider, recorder, sandbox.project
        self.env = {**sandbox.env, "AGENTMUX_HOME": str(sandbox.home / "agentmux")}
        (self.folder / "bundles").mkdir()
        (self.folder / "agents.d").mkdir()
        self.edit(RULES)

    def spec(self, delivery, use=None):
        text = (
            f"providers:\n  {self.provider}: {(use or USES[self.provider]).replace('URL', self.recorder.url)}\n"
            f"permission: bypass\ndelivery: {delivery}\ninstructions: Be brief.\nbundles: [style]\n"
        )
        (self.folder / "agents.d" / "tester.yaml").write_text(text, encoding="utf-8")

    def edit(self, rules):
        (self.folder / "bundles" / "style.md").write_text(rules, encoding="utf-8")

    def __call__(self, *words, code=0):
        command = [sys.executable, "-m", "agentmux", *words]
        pipes = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "encoding": "utf-8"}
        child = subprocess.run(command, cwd=self.folder, env=self.env, check=False, timeout=240, **pipes)
        assert child.returncode == code, child.stderr
        return child.stdout

    def turn(self, prompt, *words, code=0):
        self("run", "tester", prompt, *words, "--output", "json", "--timeout", "200", code=code)

    @property
    def breaks(self):
        (session,) = json.loads(self("usage", "--format", "json"))["sessions"]
        return session["breaks"]

    @property
    def lost(self):
        """Tokens that the recorder's cache held after the second turn and did not serve in the third."""
        before, broken = (turn.usage for turn in self.recorder.turns[1:3])
        written = before.cache_write_tokens + before.cache_write_1h_tokens
        held = before.cache_read_tokens + written if written else before.prompt_tokens
        return min(held, broken.prompt_tokens) - broken.cache_read_tokens


@pytest.fixture
def project(request, real_cli, tmp_path):
    """A function that makes a project whose session has had two turns."""

    def make(provider, delivery, use=None):
        recorder = Recorder(cache=player_of(*CACHES[provider]))
        recorder.__enter__()
        request.addfinalizer(lambda: recorder.__exit__(None, None, None))
        here = Project(provider, recorder, prepare(provider, recorder.url, tmp_path, real_cli(provider)))
        here.spec(delivery, use)
        here.turn("Say hello.")
        here.turn("And now?", "--resume")
        assert here.breaks == []
        return here

    return make


def told(found, *names):
    return tuple(found[name] for name in names)


@pytest.mark.parametrize(
    ("provider", "delivery", "use"),
    [
        ("claude", "flag", NO_SNAPSHOT),
        ("gemini", "file", None),
        ("gemini", "flag", None),
        ("qwen", "file", None),
        ("qwen", "flag", None),
    ],
)
def test_the_line_of_an_edited_bundle_is_named(project, provider, delivery, use):
    here = project(provider, delivery, use)

    here.edit(EDITED)
    here.turn("Go on.", "--resume")
    here.turn("Once more.", "--resume")

    (found,) = here.breaks
    assert told(found, "reason", "path", "line", "turn") == ("instructions", "bundles/style.md", 40, 3)
    assert abs(found["lost_tokens"] - here.lost) <= 0.05 * here.lost
    assert abs(found["predicted_tokens"] - here.lost) <= 0.25 * here.lost


@pytest.mark.parametrize(
    ("provider", "delivery", "use"),
    [
        ("claude", "flag", None),
        ("claude", "file", None),
        ("claude", "file", NO_SNAPSHOT),
        ("codex", "flag", None),
        ("codex", "file", None),
    ],
)
def test_a_session_that_keeps_its_text_has_no_break(project, provider, delivery, use):
    here = project(provider, delivery, use)

    here.edit(EDITED)
    here.turn("Go on.", "--resume")

    assert here.breaks == []
    assert here.recorder.turns[2].usage.cache_read_tokens > 1_000


@pytest.mark.parametrize(
    ("provider", "words", "reason"),
    [
        ("claude", ("--effort", "high"), "effort"),
        ("claude", ("--model", "opus"), "model"),
        ("codex", ("--effort", "high"), "effort"),
        ("codex", ("--model", "gpt-5.4"), "model"),
    ],
)
def test_another_key_of_the_cache_is_named(project, provider, words, reason):
    here = project(provider, "flag")

    here.turn("Go on.", "--resume", *words)

    (found,) = here.breaks
    assert told(found, "reason", "turn") == (reason, 3)
    assert abs(found["lost_tokens"] - here.lost) <= 0.05 * here.lost


def test_a_compaction_is_named(project):
    here = project("claude", "flag")

    here.turn("/compact", "--resume")
    here.turn("Go on.", "--resume")

    (found,) = here.breaks
    after = here.recorder.turns[-1].usage
    assert found["reason"] == "compaction"
    assert (found["observed"], found["expected"] > found["observed"]) == (after.cache_read_tokens, True)
