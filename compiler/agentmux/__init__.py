"""The command `agentmux`: the front door of the compiler and the launcher."""

__version__ = "0.1.0"
