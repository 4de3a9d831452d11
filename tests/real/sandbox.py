"""A home, a project and an environment in which a real CLI knows no other address than the recorder's."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cli_cache import Installed

DUMMY_KEY = "sk-test"


@dataclass(frozen=True, slots=True)
class Redirect:
    """What points one CLI at the recorder: variables (`{url}` is its address), and files below its home."""

    variables: Mapping[str, str]
    files: Mapping[str, Callable[[str], str]] = field(default_factory=dict)


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


REDIRECTS = {
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
    "codex": Redirect({"OPENAI_API_KEY": DUMMY_KEY}, {".codex/config.toml": _codex_config}),
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
    "kimi": Redirect(
        {
            "KIMI_MODEL_BASE_URL": "{url}/v1",
            "KIMI_MODEL_NAME": "kimi-k2",
            "KIMI_MODEL_API_KEY": DUMMY_KEY,
        }
    ),
    "opencode": Redirect(
        {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        {".config/opencode/opencode.json": _opencode_config},
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
    env: Mapping[str, str]


def prepare(provider: str, url: str, root: Path, cli: Installed) -> Sandbox:
    """Make a sandbox below `root` in which `provider` talks to the recorder at `url`."""
    home, project = root / "home", root / "project"
    redirect = REDIRECTS[provider]
    project.mkdir(parents=True)
    for name, made in redirect.files.items():
        target = home / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(made(url), encoding="utf-8")
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
    return Sandbox(home, project, env)
