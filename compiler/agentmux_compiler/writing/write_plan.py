"""What a build will do to the disk, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import Diagnostic
from agentmux_compiler.lowered import OutputFile
from agentmux_compiler.report import FileStatus
from agentmux_compiler.tree import byte_order, digest
from agentmux_launcher.manifest import WrittenFile

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes to write; `before` is the digest of what stood there when it was planned, None: nothing.

    `output` is what wants them, None where only values of ours leave a settings file.
    """

    path: str
    content: bytes
    committed: bool
    before: str | None
    output: OutputFile | None


@dataclass(frozen=True, slots=True)
class Removal:
    """A file of ours that nothing wants any more; `before` is the digest of its bytes."""

    path: str
    committed: bool
    before: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """An output that is there as it should be; `content` is the whole file."""

    output: OutputFile
    content: bytes

    @property
    def path(self) -> str:
        return self.output.path


@dataclass(frozen=True, slots=True)
class Blocked:
    """A path that must not be touched, and why."""

    path: str
    committed: bool
    diagnostic: Diagnostic


Step = Write | Removal | Unchanged | Blocked


@dataclass(frozen=True, slots=True)
class WritePlan:
    """All that emit will do, in byte order of the paths.

    `carried` are entries of the old manifest that stay in the next one. Of the folders that builds made, `folders` are
    those that still hold an output, `emptied` those that the removals may leave empty.
    """

    steps: tuple[Step, ...] = ()
    carried: tuple[WrittenFile, ...] = ()
    folders: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()

    @property
    def writes(self) -> tuple[Write, ...]:
        return tuple(step for step in self.steps if isinstance(step, Write))

    @property
    def removals(self) -> tuple[Removal, ...]:
        return tuple(step for step in self.steps if isinstance(step, Removal))

    @property
    def blocked(self) -> tuple[Blocked, ...]:
        return tuple(step for step in self.steps if isinstance(step, Blocked))

    @property
    def outputs(self) -> tuple[OutputFile, ...]:
        """What stands as it should once the plan is carried out."""
        wanting = (step.output for step in self.steps if isinstance(step, Write | Unchanged))
        return tuple(output for output in wanting if output)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that was looked at."""
        return tuple(step.path for step in self.steps)


def statuses(plan: WritePlan, *, dry: bool = False) -> tuple[FileStatus, ...]:
    """The plan as a report's files, as done or (`dry`) as what would be; blocked paths are the diagnostics' affair."""
    return tuple(sorted(_statuses(plan, dry), key=lambda status: byte_order(status.path)))


def _statuses(plan: WritePlan, dry: bool) -> Iterator[FileStatus]:
    for step in plan.steps:
        match step:
            case Write():
                yield _status(step.path, "would-write" if dry else "written", step.content)
            case Unchanged():
                yield _status(step.path, "unchanged", step.content)
            case Removal():
                yield FileStatus(step.path, "would-remove" if dry else "removed", 0, None)
            case Blocked():
                pass


def _status(path: str, status: str, content: bytes) -> FileStatus:
    return FileStatus(path, status, len(content), digest(content))
