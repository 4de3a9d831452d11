"""Which sources there are: the folders of the CLIs that the catalog knows, our own runs, and paths that are named."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentmux_compiler.providers import NAMES, groups_of, text_of
from agentmux_launcher.managed import user_folder
from agentmux_launcher.usage import Convention
from agentmux_usage.sources import Source, matching

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FACTS = "transcripts.json"
_FACTS = 5  # of each provider
_FOLDER = ("config_dir", "config_folder")
_NAMED = ("**/*.jsonl", "**/*.json")
_HEAD = 1 << 18
# Words that only this format has, the first that is found; within a text their quotes would be escaped.
_SIGNS = (
    ((b'"session_meta"',), "codex"),
    ((b'"projectHash"',), "gemini"),
    ((b'"systemPayload"',), "qwen"),
    ((b'"usageMetadata"',), "qwen"),
    ((b'"sessionId"', b'"type"'), "claude"),
)


def own_sources(environ: Mapping[str, str], kept: Path | None = None) -> tuple[Source, ...]:
    """The CLIs' own folders that are there. `kept` is a folder in which the catalog's facts are kept, ready to read."""
    return tuple(source for source in catalog_sources(environ, kept) if source.root.is_dir())


def catalog_sources(environ: Mapping[str, str], kept: Path | None = None) -> tuple[Source, ...]:
    """The CLIs' own folders, there or not."""
    return tuple(_catalog(environ, kept))


def named_sources(paths: Iterable[Path], kept: Path | None = None) -> tuple[tuple[Source, ...], tuple[Path, ...]]:
    """What lies at paths and below them, by what each file begins with.

    Then the files that were named, or that hold lines of JSON, and are of no known format.
    """
    known = {reader: (name, Convention(*facts)) for name, _, _, formats, facts in _facts(kept) for reader in formats}
    known["run"] = ("", Convention("the run's own plan", "calls", input_includes_cached=None))
    sources, strange = [], []
    for asked in paths:
        for path in sorted({asked} if asked.is_file() else set(matching(asked, _NAMED)), key=os.fsencode):
            reader = format_of(path)
            if reader:
                provider, convention = known[reader]
                sources.append(Source(provider, reader, path.absolute(), (), convention, asked.absolute()))
            elif reader is None and (path == asked or path.suffix == ".jsonl" or path.is_dir()):
                strange.append(path)
    return tuple(sources), tuple(strange)


def format_of(path: Path) -> str | None:
    """The name of the reader of a file; an empty one for what has nothing to say of usage, None for what is unknown."""
    from agentmux_launcher.run_folder import FRAMES, PLAN, PROCESSES  # noqa: PLC0415  loads the translators

    if path.name in {FRAMES, PLAN, PROCESSES}:
        return "run" if path.name == FRAMES and (path.parent / PLAN).is_file() else ""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return None
    found = next((reader for words, reader in _SIGNS if all(word in head for word in words)), None)
    if path.suffix == ".json":
        return "gemini-json" if found == "gemini" else None
    return found if head.strip() else ""


def _catalog(environ: Mapping[str, str], kept: Path | None) -> Iterator[Source]:
    for provider, variable, folder, formats, facts in _facts(kept):
        named = environ.get(variable) if variable else None
        root = Path(named) if named else _below_home(folder, environ)
        convention = Convention(*facts)
        for reader, patterns in formats.items():
            yield Source(provider, reader, root.absolute(), tuple(patterns), convention)


def _below_home(folder: str, environ: Mapping[str, str]) -> Path:
    return user_folder(environ) / folder.removeprefix("~").lstrip("/") if folder.startswith("~") else Path(folder)


def _facts(kept: Path | None) -> list[Any]:
    """What the catalog says of transcripts, from the file in `kept` where that is of this catalog."""
    texts = {name: text_of(name) for name in NAMES}
    telling = [name for name in NAMES if "\ntranscripts:\n" in texts[name]]
    digest = hashlib.sha256("".join(texts[name] for name in telling).encode()).hexdigest()
    with contextlib.suppress(OSError, ValueError, AttributeError, TypeError, KeyError):
        if kept is not None and (found := json.loads((kept / FACTS).read_bytes())).get("of") == digest:
            facts = found["facts"]
            if {len(each) for each in facts} == {_FACTS}:
                return list(facts)
    facts = [_fact(name) for name in telling]
    if kept is not None:
        _keep(kept / FACTS, {"of": digest, "facts": facts})
    return facts


def _fact(name: str) -> list[Any]:
    groups = groups_of(name, ("variables", "transcripts"))
    told, variables = groups["transcripts"], groups["variables"]
    variable, folder = (None if variables[each] == "unknown" else variables[each] for each in _FOLDER)
    convention = [told["source"], "calls", told["input_includes_cached"], told["output_includes_reasoning"]]
    return [name, variable, folder or "~", told["formats"], convention]


def _keep(path: Path, value: object) -> None:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        fresh.write_bytes(json.dumps(value).encode())
        fresh.replace(path)
