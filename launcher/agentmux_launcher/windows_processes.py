"""When a process of Windows was started, which with its number makes it no other."""

from __future__ import annotations

import ctypes
from typing import Any

_QUERY = 0x1000
_STILL_ACTIVE = 259


def look(pid: int, kernel: Any = None) -> tuple[str, bool] | None:
    """When it was started, in the system's own units, and whether it has ended; None where there is none."""
    kernel = kernel or ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = kernel.OpenProcess(_QUERY, 0, pid)
    if not handle:
        return None
    try:
        times = [ctypes.c_uint64() for _ in range(4)]
        code = ctypes.c_uint32()
        told = kernel.GetProcessTimes(ctypes.c_void_p(handle), *map(ctypes.byref, times))
        known = kernel.GetExitCodeProcess(ctypes.c_void_p(handle), ctypes.byref(code))
        return (str(times[0].value), code.value != _STILL_ACTIVE) if told and known else None
    finally:
        kernel.CloseHandle(ctypes.c_void_p(handle))
