"""The providers agentmux knows: their names here, all else in `NAME.yaml` beside this file."""

from __future__ import annotations

import functools
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentmux_compiler.providers.schema import Provider

# Each name with its aliases. They stand in the YAML too; a test holds both together, so that nothing is read here.
REGISTRY: dict[str, tuple[str, ...]] = {
    "claude": ("claude-code", "claude_code"),
    "codex": ("codex-cli",),
    "gemini": ("gemini-cli",),
    "qwen": ("qwen-code", "qwen3-coder"),
    "kimi": ("kimi-code", "kimi-cli", "kimi_code"),
    "muxcode": ("mux-code", "mux_code"),
    "antigravity": ("agy", "antigravity-cli", "antigravity_cli"),
    "openclaw": ("openclaw-cli", "open-claw"),
    "copilot": ("copilot-cli", "github-copilot", "copilot_cli"),
    "pi": ("pi-acp", "pi-coding-agent"),
    "kilo": ("kilo-code", "kilocode", "kilo-cli"),
    "cline": ("cline-cli",),
    "opencode": ("open-code", "opencode-ai"),
    "goose": ("goose-cli", "block-goose"),
    "grok": ("grok-build", "grok-cli", "grok_build"),
    "dsh": ("deepseek-harness", "deepseek_harness"),
    "aider": ("aider-chat",),
    "crush": ("crush-cli",),
    "muse": ("muse-code", "muse_code"),
}
NAMES: tuple[str, ...] = tuple(REGISTRY)


def canonical(name: str) -> str | None:
    """The registered name that `name` is, or is an alias of; None where there is none."""
    if name in REGISTRY:
        return name
    return next((known for known, aliases in REGISTRY.items() if name in aliases), None)


@functools.cache
def load_provider(name: str) -> Provider:
    """The facts of a registered provider, read and checked at its first use.

    Raises:
        KeyError: `name` is not in `REGISTRY`.
        ValueError: its file does not have the shape of `schema.Provider`.
    """
    if name not in REGISTRY:
        raise KeyError(name)
    return parse(text_of(name))


def text_of(name: str) -> str:
    """The text of `NAME.yaml`."""
    return files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def groups_of(name: str, groups: tuple[str, ...]) -> dict[str, Any]:
    """Some groups of `NAME.yaml` as they stand there, in a fraction of the time; only tests check their shape."""
    from ruamel.yaml import YAML  # noqa: PLC0415  as below

    blocks = re.split(r"^(?=\w)", text_of(name), flags=re.MULTILINE)
    wanted = "".join(block for block in blocks if block.partition(":")[0] in groups)
    return dict(YAML(typ="safe", pure=True).load(wanted) or {})


def parse(text: str) -> Provider:
    """A provider from the text of its file."""
    from ruamel.yaml import YAML  # noqa: PLC0415  not before a provider is asked for

    from agentmux_compiler.providers.schema import Provider  # noqa: PLC0415  as above

    return Provider.model_validate(YAML(typ="safe", pure=True).load(text))
