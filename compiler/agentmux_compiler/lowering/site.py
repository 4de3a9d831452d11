"""One agent on one provider: where its CLI runs, and how it gets its text."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Delivery, ResolvedAgent, Use
from agentmux_compiler.lowering.modes import mode_of, own_mode
from agentmux_compiler.providers.schema import Provider
from agentmux_compiler.suggest import listing

if TYPE_CHECKING:
    from agentmux_compiler.agent import Server
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.providers.schema_modes import Mode

GENERATED = ".agentmux"


@dataclass(frozen=True, slots=True)
class Site:
    """A plan before anything is made of it; paths are POSIX, relative to the project, `.` for the project itself."""

    agent: ResolvedAgent
    use: Use
    provider: Provider
    delivery: Delivery

    @property
    def key(self) -> str:
        return f"{self.agent.name}/{self.use.provider}"

    @property
    def mode(self) -> Mode:
        """How the CLI is run."""
        return mode_of(self.provider, self.use)[0]

    @property
    def own(self) -> str:
        """The plan's own folder, which git ignores."""
        return f"{GENERATED}/agents/{self.agent.name}/{self.use.provider}"

    @property
    def cwd(self) -> str:
        return self.own if self.delivery is Delivery.FOLDER else self.agent.workdir

    @property
    def servers(self) -> tuple[Server, ...]:
        """The MCP servers it is to be given."""
        return self.agent.mcp if self.use.mcp else ()

    @property
    def cli_version(self) -> str:
        """The version of the CLI that the spec names, else the one all facts hold for."""
        return self.use.version or self.provider.package.verified

    @property
    def layout_version(self) -> str:
        """The version that parts of the prefix are named by."""
        return self.use.version or self.provider.layout.version

    def seen_from_cwd(self, path: str) -> str:
        """A path as an argument of the CLI."""
        return posixpath.relpath(path, self.cwd)


def below(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path))


def is_committed(path: str) -> bool:
    return not path.startswith(f"{GENERATED}/")


def folders_to(folder: str) -> tuple[str, ...]:
    """The folders from the project down to `folder`, both included."""
    parts = [] if folder == "." else folder.split("/")
    return (".", *("/".join(parts[: depth + 1]) for depth in range(len(parts))))


def site_of(agent: ResolvedAgent, use: Use, provider: Provider) -> tuple[Site, list[Diagnostic]]:
    """The plan with a delivery that its provider has; one that it has not is said, and the next best taken."""
    possible = deliveries(provider, mode_of(provider, use)[0])
    wanted = use.delivery or possible[0]
    if wanted in possible:
        return Site(agent, use, provider, wanted), []
    fault = rules.UNSUPPORTED_CAPABILITY.at(
        use.place("delivery"),
        f"`{provider.name}` cannot get its instructions by `delivery: {wanted}`",
        help=f"it takes {listing(possible)}",
    )
    return Site(agent, use, provider, possible[0]), [fault]


def deliveries(provider: Provider, mode: Mode | None = None) -> tuple[Delivery, ...]:
    """The ways in which a provider can be given instructions in a mode (its own), the default first."""
    takes = mode.takes if mode else own_mode(provider).takes
    to_file = provider.instructions.written is not None
    adds = provider.arguments.add_directory is not None and "directories" in takes
    ways = {
        Delivery.FILE: to_file,
        Delivery.FLAG: provider.flag_delivery is not None and "delivery" in takes,
        Delivery.FOLDER: to_file and adds,
        Delivery.STARTUP: True,
    }
    possible = [way for way, there in ways.items() if there]
    return tuple(sorted(possible, key=lambda way: way != provider.default_delivery))
