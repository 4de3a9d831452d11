"""Cache forensics: which calls read less than was stored, why, what it cost, and how well it had been predicted."""

from agentmux_usage.forensics.calibration import Calibration, Point, calibration
from agentmux_usage.forensics.find import find_breaks
from agentmux_usage.forensics.known import NOTHING, Known, known_of

__all__ = ["NOTHING", "Calibration", "Known", "Point", "calibration", "find_breaks", "known_of"]
