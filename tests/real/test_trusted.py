"""`agentmux run --trust` with the real CLIs that only a file of the user's own opens."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentmux_launcher.recorder import Answer, Recorder, Script

from .sandbox import prepare

pytestmark = pytest.mark.real

SERVER = Path(__file__).parent / "mcp_server.py"
SPEC = """providers: {{{provider}: {{controller: {controller}}}}}
permission: bypass
"""


@dataclass(frozen=True, slots=True)
class Gated:
    """A CLI, how it is driven, and the file that it trusts by: below which variable's folder, and what stands there.

    `servers` is where it looks for servers of the project, `more` what one needs there besides.
    """

    provider: str
    controller: str
    servers: str
    variable: str = ""
    standing: tuple[str, str] | None = None
    more: Mapping[str, object] = field(default_factory=dict)


HEADED = '// Managed.\n{\n  "firstLaunchAt": "2026-11-30"\n}\n'
GATED = (
    Gated("copilot", "acp", ".mcp.json", "COPILOT_HOME", ("config.json", HEADED), {"type": "local", "tools": ["*"]}),
    Gated("kimi", "subprocess", ".kimi-code/mcp.json", "KIMI_CODE_HOME"),
    Gated("pi", "acp", ".pi/mcp.json", standing=(".pi/agent/trust.json", '{\n  "/elsewhere": false\n}\n')),
)


@pytest.mark.parametrize("gated", GATED, ids=[each.provider for each in GATED])
def test_servers_of_a_folder_start_once_it_is_trusted(gated, real_cli, tmp_path, request):
    cli = real_cli(gated.provider)
    recorder = Recorder(Script(default=Answer(text="Hello.")))
    recorder.__enter__()
    request.addfinalizer(lambda: recorder.__exit__(None, None, None))
    sandbox = prepare(gated.provider, recorder.url, tmp_path, cli)
    request.addfinalizer(sandbox.end)
    root = sandbox.home / "moved" if gated.variable else sandbox.home
    env = {**sandbox.env, "AGENTMUX_HOME": str(sandbox.home / "agentmux"), gated.variable or "UNUSED": str(root)}
    if gated.standing:
        name, text = gated.standing
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    log = tmp_path / "mcp.log"
    (sandbox.project / "agents.d").mkdir()
    spec = SPEC.format(provider=gated.provider, controller=gated.controller)
    (sandbox.project / "agents.d" / "tester.yaml").write_text(spec, encoding="utf-8")
    server = {"command": sys.executable, "args": [str(SERVER), str(log)], **gated.more}
    (sandbox.project / gated.servers).parent.mkdir(exist_ok=True)
    (sandbox.project / gated.servers).write_text(json.dumps({"mcpServers": {"probe": server}}), encoding="utf-8")

    def run(*words):
        command = [sys.executable, "-m", "agentmux", "run", "tester", "Hello", "--timeout", "120", *words]
        done = subprocess.run(command, cwd=sandbox.project, env=env, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stderr.decode()

    assert f"unless it trusts this folder, `{gated.provider}` leaves out " in run()
    assert not log.exists()

    assert f"`{gated.provider}` trusts this folder from now on, " in run("--trust")
    assert log.exists()
    assert "trusts this folder" not in run()
    if gated.standing:
        kept = (root / gated.standing[0]).read_text(encoding="utf-8")
        assert gated.standing[1].split('"')[1] in kept  # Copilot writes its file anew, with what it knows of it
