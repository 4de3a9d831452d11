"""One way to run a CLI: its arguments and wiring, and what its figures, its errors and its end look like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from agentmux_compiler.providers.schema_base import Argv, Facts, Group, Sourced, Unknown

Outcome = Literal["frame", "rpc-error", "stderr", "text", "nothing", "no-answer", "unknown"]
Fate = Literal["started", "deferred", "if-trusted", "ignored", "refused", "unknown"]


class Stdio(Facts):
    """How each stream of the child is wired."""

    stdin: Literal["pipe", "pty"]
    stdout: Literal["pipe", "raw-pty", "pty"]
    stderr: Literal["pipe", "pty"]


class Permissions(Sourced):
    """Arguments of each permission; None where the CLI cannot enforce it, empty where it takes no argument to do so.

    `set` is the environment of those that a variable chooses.
    """

    plan: Argv | None
    ask: Argv | None
    edit: Argv | None
    auto: Argv | None
    bypass: Argv | None
    set: Mapping[Literal["plan", "ask", "edit", "auto", "bypass"], Mapping[str, str]] = {}


class Usage(Sourced):
    """What the usage figures of a mode mean; one that is unknown is never counted as nothing.

    `field` is where they stand in a frame or an answer. `scope`: one model call, the last call of a turn, a turn, the
    process, or all of the session so far (`cumulative`). `context` is the field that says how much of the window is
    taken, `cost` the one with money. `side_calls` are model calls that the CLI makes of its own accord.
    """

    field: str | Unknown | None
    scope: Literal["call", "last-call", "turn", "process", "cumulative", "none", "unknown"]
    input_includes_cached: bool | Unknown | None
    output_includes_reasoning: bool | Unknown | None
    context: str | Unknown | None
    cost: str | Unknown | None
    side_calls: tuple[str, ...] | Unknown


class Errors(Sourced):
    """How a mode shows that the endpoint refused (401) or limited (429) a turn.

    `frame`: one that says so; `rpc-error`: the answer to the prompt is an error; `text`: words of the CLI's own where
    the model's would stand; `nothing`: the turn ends as if it were well; `no-answer`: it goes on trying beyond 25 s.
    `field` holds the message in a frame. `exit`: the code of `failure` is not 0, that of `status` is the HTTP status
    modulo 256, an agent that `stays` does not end. `own_words` begin texts that are not the model's.
    """

    refused: Outcome
    limited: Outcome
    field: str | Unknown | None
    exit: Literal["failure", "status", "success", "stays", "unknown"]
    own_words: tuple[str, ...]


class Stop(Sourced):
    """How a mode ends. `interrupt` is what ends a turn in the protocol, `at_eof` what closing stdin does.

    `sigterm` is what the leader does on that signal in the middle of a turn, `sigterm_exit` its code then, negative
    for the signal itself. `leaves` is what outlives it: a process of its own (`child`), commands its tools started, a
    daemon outside of its process group.
    """

    interrupt: str | Unknown | None
    at_eof: Literal["ends", "ends-if-idle", "goes-on", "sometimes-ends", "unknown"]
    sigterm: Literal["ends", "ignored", "unknown"]
    sigterm_exit: int | Unknown | None
    leaves: tuple[Literal["child", "tools", "daemon"], ...] | Unknown


class Mode(Sourced):
    """One way to run the CLI: the arguments every launch begins with, the wiring, how a prompt gets in.

    `executable` runs it, None: the provider's own; `package` (`NAME@VERSION`) brings that one if the provider's does
    not. `needs` is what has to be there first, besides an account. `takes` are the groups of arguments it has;
    `permission` is a table of its own, None: that of `arguments`. `prompt` is the argument a turn's prompt stands in
    (`{}`), `prompt_absent` what stands there without one. `frames` names the dialect of its output.
    """

    executable: str | None
    package: str | None
    needs: tuple[str, ...]
    argv: Argv
    takes: tuple[Group, ...]
    permission: Permissions | None
    prompt_delivery: Literal["stdin", "argument", "stream-json", "acp", "terminal"]
    prompt: Argv
    prompt_absent: Argv
    stdio: Stdio
    frames: str
    usage: Usage
    errors: Errors
    stop: Stop


class SessionServers(Facts):
    """What becomes of the MCP servers of `session/new`, by transport, whatever the agent said of itself.

    `deferred`: started, their tools found by a search tool; `refused`: the session cannot be made with one.
    """

    stdio: Fate
    http: Fate
    sse: Fate


class Acp(Sourced):
    """What an ACP agent does that `initialize` does not say, or says wrongly.

    `load` goes on with a session; `sessions` are the capabilities it names besides. `resumes`: `session/resume`, where
    it is one of these, finds sessions that another process has begun. `loads_at_once`: one outlives being loaded in the
    minute of the clock in which it began. `model` and `effort` say how each is chosen: `config:ID`, an option of the
    session; `set-model`, the method; `argument`. `session_modes` is the mode that stands for a permission, where one
    has to be set. `asks`: whether it asks before it acts; `offers` the kinds of options it then gives; `grants` the
    file that `allow_always` writes; `rejected` what a rejection does to the turn. `tool_calls`: the order of its frames
    for one call. `authentication` is what has to be there for a session; `authenticate` maps a variable to the method
    that has to be called where it is set.
    """

    load: bool | Unknown
    sessions: tuple[str, ...] | Unknown
    resumes: bool = True
    loads_at_once: bool = True
    content: tuple[Literal["image", "audio", "embedded"], ...] | Unknown
    servers: SessionServers
    model: str | Unknown | None
    effort: str | Unknown | None
    session_modes: Mapping[Literal["plan", "ask", "edit", "auto", "bypass"], str]
    asks: Literal["always", "by-setting", "never", "unknown"]
    offers: tuple[Literal["allow_once", "allow_always", "reject_once", "reject_always"], ...] | Unknown
    grants: str | Unknown | None
    rejected: Literal["goes-on", "ends-turn", "cancels-turn", "unknown"]
    tool_calls: Literal["call-first", "update-first", "updates-only", "unknown"]
    authentication: str | Unknown | None
    authenticate: Mapping[str, str] = {}
