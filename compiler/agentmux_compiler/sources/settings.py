"""`agents.d/_project.yaml`: the project's settings, each checked against what it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Listed, Settings
from agentmux_compiler.diagnostics import Diagnostic, Severity
from agentmux_compiler.sources.source_names import OUTPUT_FOLDER, outside, project_path
from agentmux_compiler.sources.spec_errors import validate
from agentmux_compiler.sources.spec_models import ProjectSettings
from agentmux_compiler.sources.yaml_nodes import Mapping, Node, Scalar, Sequence

if TYPE_CHECKING:
    from agentmux_compiler.diagnostics import Span

_DEFAULTS = Settings()


def settings_of(node: Node) -> tuple[Settings, list[Diagnostic]]:
    """Settings of a parsed `_project.yaml`; what is wrong in it keeps its default."""
    model, rest, found = validate(ProjectSettings, node)
    if model is None:
        return _DEFAULTS, found
    folders, path_faults = _folders(rest)
    ignored, ignore_faults = _ignored(rest)
    settings = Settings(
        bundles=folders.get("bundles", _DEFAULTS.bundles),
        skills=folders.get("skills", _DEFAULTS.skills),
        snapshots=folders.get("snapshots", _DEFAULTS.snapshots),
        sections=model.sections,
        header=model.header,
        prefill_rate=model.prefill_rate,
        launches_per_day=model.launches_per_day,
        retention_days=model.retention_days,
        retention_runs=model.retention_runs,
        opt_outs=_opt_outs(rest, model.opt_out),
        ignored=ignored,
    )
    return settings, [*found, *path_faults, *ignore_faults]


def _folders(node: Node) -> tuple[dict[str, str], list[Diagnostic]]:
    paths = node.get("paths") if isinstance(node, Mapping) else None
    folders: dict[str, str] = {}
    found: list[Diagnostic] = []
    for entry in paths.entries if isinstance(paths, Mapping) else ():
        text, span = str(entry.value.plain()), entry.value.span
        path = project_path(text)
        if path is None:
            found.append(outside(span, f"`{entry.key.text}`", text))
        elif path == "." or path.split("/")[0].lower() in {".git", OUTPUT_FOLDER, _DEFAULTS.agents}:
            found.append(rules.INVALID_VALUE.at(span, f"`{entry.key.text}` cannot be `{text}`, which is taken"))
        else:
            folders[entry.key.text] = path
    return folders, found


def _opt_outs(node: Node, names: tuple[str, ...]) -> tuple[Listed[str], ...]:
    listed = node.get("opt_out") if isinstance(node, Mapping) else None
    items = listed.items if isinstance(listed, Sequence) else ()
    places = {item.text: item.span for item in reversed(items) if isinstance(item, Scalar)}
    return tuple(Listed(name, places[name]) for name in dict.fromkeys(names) if name in places)


def _ignored(node: Node) -> tuple[tuple[str, ...], list[Diagnostic]]:
    listed = node.get("ignore") if isinstance(node, Mapping) else None
    items = [item for item in listed.items if isinstance(item, Scalar)] if isinstance(listed, Sequence) else []
    faults = [(item, _not_ignorable(item.text, item.span)) for item in items]
    return tuple(item.text for item, fault in faults if not fault), [fault for _, fault in faults if fault]


def _not_ignorable(code: str, span: Span) -> Diagnostic | None:
    rule = rules.RULES.get(code)
    if rule is None:
        named = next((each for each in rules.RULES.values() if each.name == code), None)
        remedy = f"write `{named.code}`" if named else None
        return rules.INVALID_VALUE.at(span, f"there is no diagnostic `{code}`", help=remedy)
    if rule.severity is Severity.ERROR:
        return rules.INVALID_VALUE.at(span, f"`{code}` is an error, and errors cannot be ignored")
    return None
