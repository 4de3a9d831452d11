"""The one clock that a build reads, for `{{DATE}}` in generated files."""

from __future__ import annotations

import datetime as dt


def today() -> str:
    """The date in UTC, ISO."""
    return dt.datetime.now(dt.UTC).date().isoformat()
