"""Compiled plans against the real CLIs: the text arrives once, servers start or are said not to, prompts repeat."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import pytest

from agentmux_launcher.recorder import Answer, Match, Recorder, Script, ToolCall, Turn

from .cli_cache import PINS
from .drive import Drive
from .plans import OPENING, RULE, SECRET, SKILL, build, refuses_servers, trust
from .sandbox import prepare

pytestmark = pytest.mark.real

PROMPT = "Say hello to PROMPT-SENTINEL."


@dataclass(frozen=True, slots=True)
class Way:
    """How one provider is run: `use` of its spec, the `calls` by which a model uses the server's tool.

    `lists` says how often the skill's description reaches the model; `varies` are patterns of what is another in every
    session; with None the CLI itself repeats no prompt. `waits`: the first request waits for servers. `typed` and
    `method` are as in `Drive`.
    """

    provider: str
    controller: str
    use: str = "permission: bypass"
    calls: tuple[ToolCall, ...] = ()
    lists: int = 1
    varies: str | None = "(?!)"
    waits: bool = True
    typed: tuple[str, ...] = ()
    method: str = ""

    @property
    def name(self) -> str:
        return f"{self.provider}-{self.controller}"


ECHO = {"text": "hey"}
FOUND = (
    ToolCall("search_tool", {"query": "echo"}),
    ToolCall("use_tool", {"tool_name": "probe__echo", "tool_input": ECHO}),
)


def called(name, **more):
    return (ToolCall(name, ECHO, **more),)


UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
TIME = r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)"
MINUTE = r"[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d"
WAYS = (
    Way("aider", "terminal", typed=("--message", "{}")),
    Way("claude", "persistent", "permission: bypass, model: sonnet", called("mcp__probe__echo")),
    Way("claude", "subprocess", "permission: bypass, model: sonnet", called("mcp__probe__echo")),
    Way("claude", "acp", "permission: ask", called("mcp__probe__echo"), varies=None),
    Way("cline", "acp", lists=0),
    Way("codex", "subprocess", "permission: bypass, model: gpt-5.5", called("echo", namespace="mcp__probe")),
    Way("codex", "acp", calls=called("echo", namespace="mcp__probe")),
    Way("copilot", "acp", calls=called("probe-echo"), varies=f"{UUID}|{TIME}"),
    Way("gemini", "subprocess", "permission: bypass, model: gemini-2.5-pro", called("mcp_probe_echo")),
    Way("gemini", "acp", "permission: bypass, model: gemini-2.5-pro", called("mcp_probe_echo")),
    Way("grok", "subprocess", calls=FOUND, varies=UUID, waits=False),
    Way("grok", "acp", calls=FOUND, varies=UUID, waits=False, method="xai.api_key"),
    Way("kilo", "acp", calls=called("probe_echo"), varies=TIME),
    Way("kimi", "subprocess", calls=called("mcp__probe__echo")),
    Way("openclaw", "acp", varies=f"{UUID}|{MINUTE}"),
    Way("opencode", "acp", calls=called("probe_echo")),
    Way("pi", "acp", calls=called("mcp__probe__echo")),
    Way("pi", "terminal", calls=called("mcp__probe__echo"), typed=("-p", "{}")),
    Way("qwen", "subprocess", calls=called("mcp__probe__echo")),
    Way("qwen", "acp", calls=called("mcp__probe__echo")),
)


def deliveries(way):
    from agentmux_compiler.lowering.site import deliveries as possible  # noqa: PLC0415  as above
    from agentmux_compiler.providers import load_provider  # noqa: PLC0415  read when tests are collected

    provider = load_provider(way.provider)
    return possible(provider, provider.modes[way.controller])


PLANS = [pytest.param(way, str(each), id=f"{way.name}-{each}") for way in WAYS for each in deliveries(way)]


@pytest.fixture
def launched(request, real_cli, tmp_path):
    """A function that compiles a spec for a provider and runs it in a sandbox, each time as a new session."""

    def start(way, delivery, *, trusted=True, servers=True):
        cli = real_cli(way.name if way.name in PINS else way.provider)
        # Servers of a CLI that does not wait for them get their time from the model.
        wait = 0 if way.waits else 2
        turns = tuple(Turn(Answer(tool_calls=(call,), wait=wait), Match(body=PROMPT)) for call in way.calls)
        recorder = Recorder(Script(turns, Answer(text="Hello.")), folder=tmp_path / "recorded")
        recorder.__enter__()
        request.addfinalizer(lambda: recorder.__exit__(None, None, None))
        sandbox = prepare(way.provider, recorder.url, tmp_path, cli)
        request.addfinalizer(sandbox.end)
        sandbox.env["PROBE_TOKEN"] = SECRET
        log = tmp_path / "mcp.log"
        use = f"controller: {way.controller}, delivery: {delivery}, {way.use}"
        built = build(sandbox.project, way.provider, use, log if servers else None)
        if trusted:
            trust(built.provider, sandbox.home, sandbox.project / built.plan.cwd)

        def run():
            outcome = Drive(built, cli.executable, sandbox, way.typed, way.method).turn(PROMPT)
            assert outcome.well, outcome.told

        return built, recorder, run, sandbox, log

    return start


def conversation(recorder):
    """The first request of each session that holds the prompt and is no side request."""
    main = [turn.prompt for turn in recorder.turns if any(PROMPT in part.text for part in turn.prompt.parts)]
    largest = max(prompt.size for prompt in main)
    return [prompt for prompt in main if prompt.size > largest / 3]


def count(prompt, text):
    return sum(part.text.count(text) for part in prompt.parts)


def calls(log):
    """What reached the server, and the token it was given."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize(("way", "delivery"), PLANS)
def test_a_plan_brings_its_text_and_servers(way, delivery, launched):
    built, recorder, run, sandbox, log = launched(way, delivery)

    run()

    first = conversation(recorder)[0]
    assert (count(first, RULE), count(first, OPENING), count(first, PROMPT)) == (1, 1, 1)
    assert count(first, SKILL) == way.lists
    reached = calls(log)
    given = not refuses_servers(built.said)
    assert ("tools/list" in [call["method"] for call in reached]) == given, built.said
    assert {call["token"] for call in reached} == ({SECRET} if given else set())
    if given and way.calls:
        assert "tools/call" in [call["method"] for call in reached]
    written = [path for path in sandbox.project.rglob("*") if path.is_file() and ".git" not in path.parts]
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []


REPEATING = [way for way in WAYS if way.varies is not None]


@pytest.mark.parametrize("way", REPEATING, ids=[way.name for way in REPEATING])
def test_a_second_run_sends_the_same_prompt(way, launched):
    _, recorder, run, _, _ = launched(way, deliveries(way)[0], servers=way.waits)

    run()
    seen = len(recorder.turns)
    run()

    first = conversation(recorder)[0]
    second = next(turn.prompt for turn in recorder.turns[seen:] if same_kind(turn.prompt, first))
    shown = [re.sub(way.varies, "@", part.text) for part in first.parts]
    again = [re.sub(way.varies, "@", part.text) for part in second.parts]
    assert again == shown


def same_kind(prompt, other):
    return any(PROMPT in part.text for part in prompt.parts) and prompt.size > other.size / 3


UNTRUSTED = [way for way in WAYS if way.name in {"copilot-acp", "kimi-subprocess", "pi-acp"}]


@pytest.mark.parametrize("way", UNTRUSTED, ids=[way.name for way in UNTRUSTED])
def test_what_trust_holds_back_was_said(way, launched):
    built, recorder, run, _, log = launched(way, "file", trusted=False)

    run()

    prompt = conversation(recorder)[0]
    assert count(prompt, RULE) == 1
    assert (count(prompt, SKILL) == 0) == ("AMX418" in built.codes)
    assert (calls(log) == []) == ("AMX417" in built.codes)
