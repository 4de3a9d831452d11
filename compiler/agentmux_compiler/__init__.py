"""Compile agent specs into each provider's files and argv, and diff the prompt prefix they make."""

__version__ = "0.1.0"
