"""The command `agentmux`: the front door of the compiler and the launcher."""

from agentmux_compiler import __version__

__all__ = ["__version__"]
