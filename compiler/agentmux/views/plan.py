"""A lowered plan for people and for programs."""

from __future__ import annotations

import shlex
from itertools import groupby
from typing import TYPE_CHECKING, Any

from agentmux.table import table
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.render.visible import visible
from agentmux_compiler.render.words import number
from agentmux_compiler.tree import byte_order
from agentmux_launcher.arguments import expand, shown
from agentmux_launcher.manifest import FromFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentmux_compiler.argv import Overrides
    from agentmux_compiler.lowered import Lowered, PlanPrefix, PrefixSegment
    from agentmux_compiler.prefix.counters import Counter
    from agentmux_compiler.render.paint import Paint
    from agentmux_launcher.manifest import Environment

OPAQUE = "the CLI's own"


def as_json(lowered: Lowered, overrides: Overrides) -> dict[str, Any]:
    """Everything at once; `argv` is exact, the executable first."""
    plan = lowered.plan
    return {
        "agent": plan.agent,
        "provider": plan.provider,
        "display": plan.display,
        "model": plan.model,
        "effort": plan.effort,
        "permission": plan.permission,
        "delivery": plan.delivery,
        "cli_version": plan.cli_version,
        "argv": exact_argv(lowered, overrides.values),
        "cwd": plan.cwd,
        "env": environment(plan.env),
        "files": files(lowered),
        "segments": segments(lowered.prefix),
    }


def exact_argv(lowered: Lowered, values: Mapping[str, str]) -> list[str]:
    """What the child would be started with."""
    texts = {file.path: file.content.decode("utf-8", "replace") for file in lowered.files}
    return [lowered.plan.executable, *expand(lowered.plan.argv, lambda path: texts.get(path, f"<{path}>"), values)]


def environment(env: Environment) -> dict[str, Any]:
    """Values that are set, names whose value is passed on, names that are removed; never a secret's value."""
    return {
        "set": dict(env.set),
        "pass": list(env.passed),
        "renamed": dict(env.renamed),
        "unset": list(env.unset),
    }


def files(lowered: Lowered) -> list[str]:
    return sorted({file.path for file in lowered.files}, key=byte_order)


def segments(plan: PlanPrefix) -> list[dict[str, Any]]:
    """The prompt in the order the backend sees it; tokens of the CLI's own parts are estimates from their size."""
    counter = counter_for(plan.vendor, plan.served_model)
    return [_segment(part, counter) for part in plan.segments]


def _segment(part: PrefixSegment, counter: Counter) -> dict[str, Any]:
    body = part.body
    return {
        "layer": part.layer,
        "name": part.name,
        "path": body.path if body else None,
        "line": body.line(0) if body else None,
        "bytes": len(body.text.encode("utf-8", "replace")) if body else part.size,
        "tokens": counter.count(body.text) if body else counter.estimate(part.size),
        "stability": "volatile" if part.volatile else "stable",
        "varies_with": list(part.varies_with),
    }


def for_people(lowered: Lowered, overrides: Overrides, part: str | None, paint: Paint) -> str:
    """One part by itself, so that it can be piped; or all of them under headings."""
    parts = {
        "argv": _argv(lowered, overrides),
        "env": _environment(lowered.plan.env),
        "files": "".join(f"{visible(path)}\n" for path in files(lowered)),
        "prefix": _prefix(lowered, paint, folded=part is None) if part in {None, "prefix"} else "",
    }
    if part:
        return parts[part]
    headings = {
        "argv": "command line",
        "env": "environment",
        "files": "files",
        "prefix": "prompt (`--prefix` lists every part of the CLI's own)",
    }
    blocks = [f"{paint('strong', f'{headings[name]}:')}\n{text}" for name, text in parts.items() if text]
    return "\n".join([_title(lowered, paint), *blocks])


def _title(lowered: Lowered, paint: Paint) -> str:
    plan = lowered.plan
    facts = {
        "model": plan.model or "the CLI's default",
        "effort": plan.effort or "the CLI's default",
        "permission": plan.permission,
        "delivery": plan.delivery,
        "runs in": plan.cwd,
        "described for": f"{plan.executable} {plan.cli_version}",
    }
    lines = "".join(f"  {name:<14}{visible(value)}\n" for name, value in facts.items())
    return f"{paint('strong', visible(f'{plan.display} ({plan.agent}) on {plan.provider}'))}\n{lines}"


def _argv(lowered: Lowered, overrides: Overrides) -> str:
    """As a shell would take it, a file's name for its text."""
    return visible(shlex.join([lowered.plan.executable, *shown(lowered.plan.argv, overrides.values)])) + "\n"


def shortened(lowered: Lowered, overrides: Overrides) -> str:
    """Says that the command line is not exact, where the name of a file stands for its text or a count for a prompt."""
    stand_ins = [
        f"`<{item.file}>` stands for the text of that file" for item in lowered.plan.argv if isinstance(item, FromFile)
    ]
    if overrides.prompt is not None:
        stand_ins.append("a count stands for the prompt")
    told = ", ".join(dict.fromkeys(stand_ins))
    return visible(f"note: {told}; `--format json` has the exact arguments") + "\n" if told else ""


def _environment(env: Environment) -> str:
    rows = [
        *(f"set    {name}={value}" for name, value in sorted(env.set.items())),
        *(f"pass   {name}" for name in sorted(env.passed)),
        *(f"pass   {name} as {new}" for new, name in sorted(env.renamed.items())),
        *(f"unset  {name}" for name in sorted(env.unset)),
    ]
    return "".join(f"{visible(row)}\n" for row in rows)


def _prefix(lowered: Lowered, paint: Paint, *, folded: bool) -> str:
    """A row for each segment; `folded` makes one of neighbours that are the CLI's own."""
    parts = lowered.prefix.segments
    values = segments(lowered.prefix)
    rows: list[tuple[str, ...]] = []
    for own, group in groupby(zip(parts, values, strict=True), key=lambda pair: pair[0].opaque and folded):
        run = list(group)
        rows += [_run(run)] if own and len(run) > 1 else [_row(part, each) for part, each in run]
    total = (number(sum(each[name] for each in values)) for name in ("bytes", "tokens"))
    rows.append(("total", "", "", *total, ""))
    return table(("LAYER", "SEGMENT", "FROM", "BYTES", "TOKENS", "STABILITY"), rows, paint, right={3, 4})


def _run(run: Sequence[tuple[PrefixSegment, Mapping[str, Any]]]) -> tuple[str, ...]:
    """Neighbouring parts of the CLI's own as one row: their layers, their number, their size."""
    layers = list(dict.fromkeys(part.layer for part, _ in run))
    cli = run[0][0].name.partition("/")[0]
    size, tokens = (number(sum(values[name] for _, values in run)) for name in ("bytes", "tokens"))
    varied = any(part.varies_with or part.volatile for part, _ in run)
    layer = layers[0] if len(layers) == 1 else f"{layers[0]} to {layers[-1]}"
    return (layer, f"{cli}/{len(run)} parts", OPAQUE, size, f"~{tokens}", "varies in part" if varied else "stable")


def _row(part: PrefixSegment, values: Mapping[str, Any]) -> tuple[str, ...]:
    place = OPAQUE if part.opaque else f"{values['path']}:{values['line']}"
    about = "~" if part.opaque else ""
    size, tokens = number(values["bytes"]), f"{about}{number(values['tokens'])}"
    stability = f"varies with {', '.join(part.varies_with)}" if part.varies_with else values["stability"]
    return (values["layer"], values["name"], place, size, tokens, stability)
