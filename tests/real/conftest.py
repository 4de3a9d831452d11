"""Real CLIs run only when asked for: `pytest -m real`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .cli_cache import Installed, InstallError, cache_folder, install

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    asked = config.getoption("markexpr").split()
    return None if "real" in asked and "not" not in asked else True


@pytest.fixture(scope="session")
def real_cli() -> Callable[[str], Installed]:
    """The pinned CLI of a provider; a test whose CLI does not install here fails and says why."""
    cache: Path = cache_folder()

    def installed(provider: str) -> Installed:
        try:
            return install(provider, cache)
        except InstallError as error:
            pytest.fail(str(error))

    return installed
