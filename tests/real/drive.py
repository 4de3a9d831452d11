"""One turn of a plan on its real CLI, by whichever controller the plan names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentmux_launcher.arguments import json_literal

from .acp_client import Agent, NoAnswerError, RpcError, initialize, start_agent
from .plans import Built, new_session
from .run import plan_argv, plan_env, run_plan
from .sandbox import Sandbox

PATIENCE = 180


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a turn ended well, and all that was said if it did not."""

    well: bool
    told: str


@dataclass(frozen=True, slots=True)
class Drive:
    """A plan, its CLI and its sandbox.

    `typed` are the arguments that stand for a prompt typed at a terminal, `method` the one to authenticate by.
    """

    built: Built
    executable: Path
    sandbox: Sandbox
    typed: tuple[str, ...] = ()
    method: str = ""

    @property
    def folder(self) -> Path:
        return self.sandbox.project / self.built.plan.cwd

    @property
    def env(self) -> dict[str, str]:
        return plan_env(self.built.plan, self.sandbox.env, trusted=True)

    def turn(self, prompt: str) -> Outcome:
        """One turn of a new session."""
        plan = self.built.plan
        opened = f"{plan.startup}\n{prompt}" if plan.startup else prompt
        slots = {"trust": json_literal(str(self.folder))[1:-1], "prompt": opened}
        argv = plan_argv(plan, self.sandbox.project, self.executable.parent / plan.executable, **slots)
        argv += [word.replace("{}", opened) for word in self.typed]
        return self._by_protocol(argv, opened) if plan.prompt_delivery == "acp" else self._run(argv, opened)

    def _run(self, argv: list[str], prompt: str) -> Outcome:
        plan = self.built.plan
        line = json.dumps({"type": "user", "message": {"role": "user", "content": prompt}}) + "\n"
        stdin = {"stdin": prompt, "stream-json": line}.get(plan.prompt_delivery)
        raw = plan.stdio["stdout"] == "raw-pty"
        ran = run_plan(argv, env=self.env, cwd=self.folder, prompt=stdin, raw_pty=raw, timeout=PATIENCE)
        told = f"{ran.argv}\n{ran.exit_code}\n{ran.stdout[-3000:]!r}\n{ran.stderr[-3000:]!r}"
        return Outcome(ran.exit_code == 0 and not ran.timed_out, told)

    def _by_protocol(self, argv: list[str], prompt: str) -> Outcome:
        agent = start_agent(argv, env=self.env, cwd=self.folder)
        try:
            answer = self._session(agent, prompt)
            told = f"{argv}\n{answer}\n{agent.updates[-5:]}\n{agent.complaints}"
            return Outcome(answer.get("stopReason") == "end_turn" and not agent.strays, told)
        except (RpcError, NoAnswerError) as error:
            return Outcome(well=False, told=f"{argv}\n{error}\n{agent.complaints}")
        finally:
            agent.close()

    def _session(self, agent: Agent, prompt: str) -> dict[str, Any]:
        plan, facts = self.built.plan, self.built.provider.acp
        assert facts is not None
        initialize(agent)
        if self.method:
            agent.request("authenticate", {"methodId": self.method})
        made = agent.request("session/new", new_session(plan, self.folder, self.env))
        session = {"sessionId": made["sessionId"]}
        if mode := facts.session_modes.get(plan.permission):
            agent.request("session/set_mode", {**session, "modeId": mode})
        for chosen, way in ((plan.model, facts.model), (plan.effort, facts.effort)):
            if chosen and str(way).startswith("config:"):
                option = {"configId": str(way).removeprefix("config:"), "value": chosen}
                agent.request("session/set_config_option", {**session, **option})
        asked = {**session, "prompt": [{"type": "text", "text": prompt}]}
        return agent.request("session/prompt", asked, PATIENCE)
