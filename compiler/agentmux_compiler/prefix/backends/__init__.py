"""The registry of prompt caches, and which of them serves a plan."""

from __future__ import annotations

import functools
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentmux_compiler.prefix.models import matches, model_id, vendor_id

if TYPE_CHECKING:
    from agentmux_compiler.prefix.backends.schema import Backend, Choice

UNKNOWN = "unknown"
BACKENDS = (
    "anthropic",
    "dashscope",
    "deepseek",
    "gemini",
    "llama.cpp",
    "lm-studio",
    "moonshot",
    "ollama",
    "openai",
    "openai-5.6",
    "sglang",
    "vllm",
    "xai",
    "zai",
)
LOOPBACK = ("127.0.0.1", "::1", "localhost", "0.0.0.0")  # noqa: S104  an address to recognise, none to bind


@functools.cache
def load_backend(name: str) -> Backend | None:
    """The facts of a backend; None for `unknown` and for a name that is not in `BACKENDS`."""
    if name not in BACKENDS:
        return None
    from agentmux_compiler.prefix.backends.schema import Backend  # noqa: PLC0415

    return Backend.model_validate(_read(name))


def choose(vendor: str, model: str | None, backend: str | None = None, base_url: str | None = None) -> str:
    """The backend whose cache serves a plan: a name of `BACKENDS`, or `unknown`.

    `backend` is what the spec names and wins; then the base URL's host or local port; then vendor and model. A base
    URL that nobody knows is a server nobody knows: `unknown`, whatever the vendor.
    """
    if backend is not None:
        return backend if backend in BACKENDS else UNKNOWN
    if base_url is not None:
        return _by_url(base_url, model)
    return _by_model(vendor, model)


def vendor_of(base_url: str) -> str | None:
    """The vendor whose endpoint a URL is, None where its host is nobody's."""
    host = _split(base_url).hostname or ""
    rows = (row for row in _choice().by_host if any(fnmatchcase(host, pattern) for pattern in row.hosts))
    return next((row.vendor for row in rows), None)


def _by_url(base_url: str, model: str | None) -> str:
    vendor, parts = vendor_of(base_url), _split(base_url)
    if vendor is not None:
        return _by_model(vendor, model)
    if parts.hostname in LOOPBACK:
        return next((row.backend for row in _choice().by_port if _port(parts) in row.ports), UNKNOWN)
    return UNKNOWN


def _split(base_url: str) -> Any:
    try:
        return urlsplit(base_url if "//" in base_url else f"//{base_url}")
    except ValueError:
        return urlsplit("")


def _port(parts: Any) -> int | None:
    """The port of a split URL; None where there is none or it is not a number."""
    try:
        return int(parts.port) if parts.port is not None else None
    except ValueError:
        return None


def _by_model(vendor: str, model: str | None) -> str:
    rows = (row for row in _choice().by_model if row.vendor == vendor_id(vendor))
    return next((row.backend for row in rows if matches(model_id(vendor, model), row.models)), UNKNOWN)


@functools.cache
def _choice() -> Choice:
    from agentmux_compiler.prefix.backends.schema import Choice  # noqa: PLC0415

    return Choice.model_validate(_read("choice"))


def _read(name: str) -> Any:
    from ruamel.yaml import YAML  # noqa: PLC0415

    text = files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    return YAML(typ="safe", pure=True).load(text)
