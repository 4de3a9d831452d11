"""One agent on one provider: where its CLI runs, and how it gets its text."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Delivery, ResolvedAgent, Use
from agentmux_compiler.providers.schema import Provider
from agentmux_compiler.suggest import listing

if TYPE_CHECKING:
    from agentmux_compiler.diagnostics import Diagnostic

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
    def own(self) -> str:
        """The plan's own folder, which git ignores."""
        return f"{GENERATED}/agents/{self.agent.name}/{self.use.provider}"

    @property
    def cwd(self) -> str:
        return self.own if self.delivery is Delivery.FOLDER else self.agent.workdir

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
    possible = deliveries(provider)
    wanted = use.delivery or Delivery(provider.default_delivery)
    if wanted in possible:
        return Site(agent, use, provider, wanted), []
    fault = rules.UNSUPPORTED_CAPABILITY.at(
        use.place("delivery"),
        f"`{provider.name}` cannot get its instructions by `delivery: {wanted}`",
        help=f"it takes {listing(possible)}",
    )
    return Site(agent, use, provider, possible[0]), [fault]


def deliveries(provider: Provider) -> tuple[Delivery, ...]:
    """The ways in which a provider can be given instructions, the default first."""
    possible = {
        Delivery.FILE: provider.instructions.written is not None,
        Delivery.FLAG: provider.flag_delivery is not None,
        Delivery.FOLDER: provider.instructions.written is not None and provider.arguments.add_directory is not None,
        Delivery.STARTUP: True,
    }
    default = Delivery(provider.default_delivery)
    return (default, *(way for way, there in possible.items() if there and way is not default))
