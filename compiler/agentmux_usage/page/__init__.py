"""One page that shows what sessions used: HTML that needs neither a network nor a script to be read."""

from agentmux_usage.page.document import page

__all__ = ["page"]
