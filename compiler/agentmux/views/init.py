"""A proposal as text for people, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_compiler.proposal.blocks import heading
from agentmux_compiler.render import machine
from agentmux_compiler.render.visible import cells, visible
from agentmux_compiler.render.words import count, listed, number
from agentmux_compiler.tree import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.proposal.proposing import Proposal
    from agentmux_compiler.proposal.spec_text import AgentDraft
    from agentmux_compiler.proposal.trial import Proof
    from agentmux_compiler.render.paint import Paint

Row = tuple[str, ...]


def for_people(proposal: Proposal, paint: Paint) -> str:
    """What would be written, what a build would give, what stays; ends with an empty line."""
    parts = (
        ("files to write", _files(proposal)),
        ("what a build of them gives", _results(proposal)),
        ("what stays as it is", [(left.path, left.reason) for left in proposal.left]),
        ("values that were not copied, since they look like secrets", _secrets(proposal)),
    )
    texts = [f"{paint('strong', title)}\n{_columns(rows)}" for title, rows in parts if rows]
    texts[-1:] = [texts[-1] + _still_there(proposal)] if proposal.replaced else texts[-1:]
    diffs = [_diff(proof) for proof in proposal.proofs if proof.diff]
    return "\n".join([*texts, *diffs]) + "\n"


def as_json(proposal: Proposal, found: Iterable[Diagnostic], *, written: bool) -> dict[str, Any]:
    """The proposal, with what a build of it and the writing of it said."""
    status = "written" if written else "would-write"
    return {
        "agents": [_agent_json(agent) for agent in proposal.agents],
        "bundles": [
            {"name": bundle.name, "providers": list(bundle.piece.providers) if bundle.piece.providers else None}
            for bundle in proposal.bundles
        ],
        "diagnostics": machine.listed(found),
        "files": [
            {"path": path, "status": status, "bytes": len(data), "sha256": digest(data)}
            for path, data in proposal.files.items()
        ],
        "proof": [
            {
                "path": proof.path,
                "bytes": proof.bytes,
                "same": not proof.differences,
                "differences": list(proof.differences),
                "diff": proof.diff or None,
                "link": proof.link,
            }
            for proof in proposal.proofs
        ],
        "added": list(proposal.added),
        "left": [{"path": left.path, "reason": left.reason} for left in proposal.left],
        "secrets": [
            {"path": each.path, "server": each.server, "field": each.field, "variable": each.variable}
            for each in proposal.replaced
        ],
    }


def _agent_json(agent: AgentDraft) -> dict[str, Any]:
    return {
        "name": agent.name,
        "workdir": agent.workdir,
        "providers": list(agent.providers),
        "bundles": list(agent.bundles),
        "skills": list(agent.skills),
        "mcp": [server.name for server in agent.servers],
    }


def _files(proposal: Proposal) -> list[Row]:
    """Every file with its size and what it holds; the files of a skill are one row."""
    agents = {f"{proposal.settings.agents}/{agent.name}.yaml": agent for agent in proposal.agents}
    bundles = {bundle.name: bundle.piece for bundle in proposal.bundles}
    rows: dict[str, tuple[int, str]] = {}
    for path, data in proposal.files.items():
        shown, what = path, ""
        if path in agents:
            what = _agent(agents[path])
        elif path.startswith(f"{proposal.settings.agents}/"):
            what = ", ".join(" ".join(line.split()) for line in data.decode().splitlines() if not line.endswith(":"))
        elif path.startswith(f"{proposal.settings.bundles}/"):
            piece = bundles[path.rpartition("/")[2].partition(".")[0]]
            what = _bundle(piece.text, piece.providers)
        elif path.startswith(f"{proposal.settings.skills}/"):
            shown = "/".join(path.split("/")[: proposal.settings.skills.count("/") + 2]) + "/"
            what = "skill"
        elif path in proposal.lines:
            what = f"+ {count(len(proposal.lines[path]), 'line')}: {', '.join(proposal.lines[path])}"
        elif path in proposal.rewritten:
            what = "written anew"
        size = rows[shown][0] if shown in rows else 0
        rows[shown] = (size + len(data), what)
    return [(path, _bytes(size), what) for path, (size, what) in rows.items()]


def _agent(agent: AgentDraft) -> str:
    parts = [f"an agent on {listed(agent.providers)}"]
    parts += [f"in {agent.workdir}"] if agent.workdir != "." else []
    named = [
        count(len(items), noun)
        for items, noun in ((agent.bundles, "bundle"), (agent.skills, "skill"), (agent.servers, "MCP server"))
        if items
    ]
    return ": ".join([" ".join(parts), *([", ".join(named)] if named else [])])


def _bundle(text: str, providers: Sequence[str] | None) -> str:
    top = heading(text)
    opening = top[1] if top else next(line.strip() for line in text.split("\n") if line.strip())
    return (f"only for {listed(providers)}: " if providers else "") + _shortened(opening)


def _shortened(text: str, width: int = 60) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _results(proposal: Proposal) -> list[Row]:
    rows = [(proof.path, _bytes(proof.bytes), _result(proof)) for proof in proposal.proofs if not proof.diff]
    return [*rows, *((path, "", "new") for path in proposal.added)]


def _result(proof: Proof) -> str:
    said = "the same bytes" if not proof.differences else f"the same text, but {listed(proof.differences)}"
    return f"{said}; it is a link now: remove the link, and a build writes the file" if proof.link else said


def _secrets(proposal: Proposal) -> list[Row]:
    return [
        (f"{each.path} {each.server}.{each.field}", f"is ${{{each.variable}}} now: set {each.variable} before a launch")
        for each in proposal.replaced
    ]


def _still_there(proposal: Proposal) -> str:
    """That the files which hold the secrets are not changed; a line below theirs."""
    paths = list(dict.fromkeys(each.path for each in proposal.replaced))
    hold = "is not changed and still holds" if len(paths) == 1 else "are not changed and still hold"
    one = len(proposal.replaced) == 1
    advice = "if it was ever committed, withdraw it" if one else "if they were ever committed, withdraw them"
    return f"  {visible(listed(paths))} {hold} {'it' if one else 'them'}: {advice}, and write the variable there too\n"


def _diff(proof: Proof) -> str:
    return "".join(f"  {visible(line)}\n" for line in proof.diff.splitlines())


def _bytes(size: int) -> str:
    return f"{number(size)} bytes" if size != 1 else "1 byte"


def _columns(rows: Iterable[Row]) -> str:
    """Rows below each other, two spaces in; a column of sizes stands to the right."""
    safe = [tuple(visible(cell) for cell in row) for row in rows]
    widths = [max(cells(cell) for cell in column) for column in zip(*safe, strict=True)]
    return "".join(f"{line.rstrip()}\n" for line in _lines(safe, widths))


def _lines(rows: Sequence[Row], widths: Sequence[int]) -> Iterator[str]:
    for row in rows:
        *front, last = zip(row, widths, strict=True)
        padded = [
            " " * (width - cells(cell)) + cell if index else cell + " " * (width - cells(cell))
            for index, (cell, width) in enumerate(front)
        ]
        yield "  " + "  ".join([*padded, last[0]])
