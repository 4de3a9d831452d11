"""The one clock that a build reads, for `{{DATE}}` in generated files."""

from __future__ import annotations

import datetime


def today() -> str:
    """The date in UTC, ISO."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()
