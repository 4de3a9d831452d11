"""A home, a project and an environment in which a real CLI knows no other address than the recorder's."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cli_cache import Installed

DUMMY_KEY = "sk-test"


@dataclass(frozen=True, slots=True)
class Redirect:
    """What points one CLI at the recorder: variables (`{url}` is its address), and files below its home.

    `commands` are arguments with which the CLI itself is run first, to save its settings; `service` those of a process
    of its own that has to listen on `{port}` meanwhile, which files may name too.
    """

    variables: Mapping[str, str]
    files: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    commands: tuple[tuple[str, ...], ...] = ()
    service: tuple[str, ...] = ()


def _codex_config(url: str) -> str:
    return (
        'model_provider = "recorder"\n'
        "[model_providers.recorder]\n"
        'name = "recorder"\n'
        f'base_url = "{url}/v1"\n'
        'env_key = "OPENAI_API_KEY"\n'
        'wire_api = "responses"\n'
        "request_max_retries = 1\n"
        "stream_max_retries = 1\n"
        "[analytics]\n"
        "enabled = false\n"
    )


def _opencode_config(url: str) -> str:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": DUMMY_KEY},
        "models": {"mock-model": {"name": "mock-model"}},
    }
    return json.dumps(
        {"provider": {"recorder": provider}, "model": "recorder/mock-model", "share": "disabled", "autoupdate": False}
    )


def _pi_models(url: str) -> str:
    models = [{"id": "mock-model", "contextWindow": 200000, "maxTokens": 32000}]
    provider = {"baseUrl": f"{url}/v1", "apiKey": DUMMY_KEY, "api": "openai-completions", "models": models}
    return json.dumps({"providers": {"recorder": provider}})


def _openclaw_config(url: str) -> str:
    gateway = {"mode": "local", "port": "{port}", "bind": "loopback", "auth": {"mode": "token", "token": DUMMY_KEY}}
    models = [{"id": "mock-model", "name": "Mock", "contextWindow": 200000, "maxTokens": 32000}]
    provider = {"baseUrl": f"{url}/v1", "apiKey": DUMMY_KEY, "api": "openai-completions", "models": models}
    config = {
        "gateway": gateway,
        "models": {"providers": {"recorder": provider}},
        "agents": {"defaults": {"model": {"primary": "recorder/mock-model"}}},
        "update": {"checkOnStart": False},
    }
    return json.dumps(config).replace('"{port}"', "{port}")


# Where a CLI would ask for prices or updates: nothing answers there.
_NOWHERE = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost"}

REDIRECTS = {
    "aider": Redirect(
        {
            "OPENAI_API_BASE": "{url}/v1",
            "OPENAI_API_KEY": DUMMY_KEY,
            "AIDER_MODEL": "openai/gpt-5.5",
            "AIDER_ANALYTICS": "false",
            "AIDER_CHECK_UPDATE": "false",
            "AIDER_GITIGNORE": "false",
            "AIDER_SHOW_MODEL_WARNINGS": "false",
            "AIDER_SHOW_RELEASE_NOTES": "false",
            **_NOWHERE,
        }
    ),
    "claude": Redirect(
        {
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": DUMMY_KEY,
            "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "IS_SANDBOX": "1",
        }
    ),
    "cline": Redirect(
        {"CLINE_API_KEY": DUMMY_KEY, "CLINE_PROVIDER": "openai-compatible", "CLINE_MODEL": "gpt-4o", **_NOWHERE},
        commands=(("auth", "-p", "openai-compatible", "-k", DUMMY_KEY, "-b", "{url}/v1", "-m", "gpt-4o"),),
    ),
    "codex": Redirect({"OPENAI_API_KEY": DUMMY_KEY}, {".codex/config.toml": _codex_config}),
    "copilot": Redirect(
        {
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
            "COPILOT_PROVIDER_API_KEY": DUMMY_KEY,
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_MODEL": "gpt-5.1",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            **_NOWHERE,
        }
    ),
    "gemini": Redirect(
        {
            "GOOGLE_GEMINI_BASE_URL": "{url}",
            "GEMINI_API_KEY": DUMMY_KEY,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        },
        {
            ".gemini/settings.json": lambda _: json.dumps(
                {
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": False},
                    "general": {"disableAutoUpdate": True, "maxAttempts": 2},
                }
            )
        },
    ),
    "grok": Redirect(
        {
            "GROK_XAI_API_BASE_URL": "{url}/v1",
            "GROK_CLI_CHAT_PROXY_BASE_URL": "{url}/v1",
            "XAI_API_KEY": DUMMY_KEY,
            "GROK_TELEMETRY_ENABLED": "0",
            "GROK_TELEMETRY_TRACE_UPLOAD": "0",
            "GROK_DISABLE_AUTOUPDATER": "1",
            **_NOWHERE,
        }
    ),
    "kilo": Redirect(
        {"KILO_DISABLE_AUTOUPDATE": "1", "KILO_DISABLE_MODELS_FETCH": "1", "KILO_TELEMETRY_LEVEL": "off", **_NOWHERE},
        {".config/kilo/kilo.json": _opencode_config},
    ),
    "kimi": Redirect(
        {
            "KIMI_MODEL_BASE_URL": "{url}/v1",
            "KIMI_MODEL_NAME": "kimi-k2",
            "KIMI_MODEL_API_KEY": DUMMY_KEY,
        }
    ),
    "openclaw": Redirect(
        {"DO_NOT_TRACK": "1", **_NOWHERE},
        {".openclaw/openclaw.json": _openclaw_config},
        service=("gateway", "run"),
    ),
    "opencode": Redirect(
        {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        {".config/opencode/opencode.json": _opencode_config},
    ),
    "pi": Redirect(
        {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", **_NOWHERE},
        {
            ".pi/agent/models.json": _pi_models,
            ".pi/agent/settings.json": lambda _: json.dumps(
                {"defaultProvider": "recorder", "defaultModel": "mock-model", "quietStartup": True}
            ),
        },
    ),
    "qwen": Redirect(
        {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": DUMMY_KEY, "OPENAI_MODEL": "qwen3-coder-plus"},
        {
            ".qwen/settings.json": lambda _: json.dumps(
                {
                    "security": {"auth": {"selectedType": "openai"}},
                    "privacy": {"usageStatisticsEnabled": False},
                    "general": {"disableAutoUpdate": True},
                }
            )
        },
    ),
}


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A scratch home, a git repository as the project, and all that the CLI's environment holds."""

    home: Path
    project: Path
    env: dict[str, str]
    service: subprocess.Popen[bytes] | None = None

    def end(self) -> None:
        """End the service, and all else that still runs with this home: daemons stand in groups of their own."""
        mark = f"HOME={self.home}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
        if self.service is not None:
            self.service.wait(10)


def prepare(provider: str, url: str, root: Path, cli: Installed) -> Sandbox:
    """Make a sandbox below `root` in which `provider` talks to the recorder at `url`."""
    home, project = root / "home", root / "project"
    redirect = REDIRECTS[provider]
    port = _free_port()
    project.mkdir(parents=True)
    for name, made in redirect.files.items():
        target = home / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(made(url).replace("{port}", str(port)), encoding="utf-8")
    home.mkdir(exist_ok=True)
    env = {
        "HOME": str(home),
        "PATH": cli.path,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": str(root),
        **{name: value.format(url=url) for name, value in redirect.variables.items()},
    }
    subprocess.run(["git", "init", "--quiet", str(project)], check=True, env={**os.environ, "HOME": str(home)})
    for command in redirect.commands:
        argv = [cli.executable, *(word.format(url=url) for word in command)]
        subprocess.run(argv, check=True, env=env, cwd=project, capture_output=True, timeout=120)
    service = _started(cli, redirect.service, env, port) if redirect.service else None
    return Sandbox(home, project, env, service)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _started(cli: Installed, argv: tuple[str, ...], env: Mapping[str, str], port: int) -> subprocess.Popen[bytes]:
    """A service that listens."""
    quiet = subprocess.DEVNULL
    service = subprocess.Popen(
        [cli.executable, *argv],
        env=env,
        cwd=env["HOME"],
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
    )
    for _ in range(240):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return service
        assert service.poll() is None, service.returncode
        time.sleep(0.5)
    raise TimeoutError(f"nothing listens on {port}")
