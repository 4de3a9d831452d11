"""A model endpoint on loopback: records what a CLI sends, answers from a script, plays the cache."""

from agentmux_launcher.recorder.answers import Answer, Failure, ServedUsage, ToolCall
from agentmux_launcher.recorder.exchange import Exchange
from agentmux_launcher.recorder.script import Match, Script, Turn
from agentmux_launcher.recorder.server import Recorder

__all__ = ["Answer", "Exchange", "Failure", "Match", "Recorder", "Script", "ServedUsage", "ToolCall", "Turn"]
