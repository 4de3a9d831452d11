"""What is said to the user: one kind of diagnostic, built once, rendered by `render/`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Severity(StrEnum):
    """How bad it is; errors cannot be silenced."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place in a source: POSIX path relative to the project, lines and columns counted from 1, end exclusive."""

    path: str
    line: int = 1
    column: int = 1
    end_line: int = 0
    end_column: int = 0

    def __post_init__(self) -> None:
        """An end that was not given is the start."""
        if not self.end_line:
            object.__setattr__(self, "end_line", self.line)
        if not self.end_column:
            object.__setattr__(self, "end_column", self.column)


@dataclass(frozen=True, slots=True)
class Rule:
    """A code and what it stands for; its page is `rules/CODE.md`."""

    code: str
    name: str
    severity: Severity
    summary: str

    def at(
        self,
        span: Span | None,
        message: str,
        *,
        help: str | None = None,  # noqa: A002  the word rustc and its readers use
        notes: Iterable[str] = (),
    ) -> Diagnostic:
        """Build the diagnostic of this rule; `message` is lower case, without a final period, names in backticks."""
        return Diagnostic(self, span, message, help, tuple(notes))


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One cause, reported once. `help` holds the remedy, `notes` the context."""

    rule: Rule
    span: Span | None
    message: str
    help: str | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def code(self) -> str:
        return self.rule.code

    @property
    def severity(self) -> Severity:
        return self.rule.severity

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Order of every report: path, line, column, code; never discovery or time."""
        span = self.span or Span("")
        return (span.path, span.line, span.column, self.rule.code, self.message)


def ordered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The same diagnostics in report order, each once."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=lambda item: item.sort_key))


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(item.severity is Severity.ERROR for item in diagnostics)
