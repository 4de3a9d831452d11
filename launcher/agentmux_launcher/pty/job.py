"""A job object of Windows: all that a child starts belongs to it, and ends when the last handle to it is closed."""

from __future__ import annotations

import ctypes
from typing import Any

_EXTENDED_LIMITS = 9
_KILL_ON_CLOSE = 0x2000
_ALL_ACCESS = 0x1F0FFF


class _Basic(ctypes.Structure):
    _fields_ = (
        ("per_process_time", ctypes.c_int64),
        ("per_job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
    )


class _Extended(ctypes.Structure):
    _fields_ = (
        ("basic", _Basic),
        ("io", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class Job:
    """One child and its descendants. The system ends them when this process ends, however it does.

    `kernel` is kernel32. A child that starts another before it is put into the job may lose it: the time between is a
    millisecond, and no CLI is that fast.
    """

    def __init__(self, pid: int, kernel: Any = None) -> None:
        self._kernel = kernel or ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
        self._kernel.CreateJobObjectW.restype = ctypes.c_void_p
        self._kernel.OpenProcess.restype = ctypes.c_void_p
        self._handle = ctypes.c_void_p(self._kernel.CreateJobObjectW(None, None))
        limits = _Extended()
        limits.basic.flags = _KILL_ON_CLOSE
        size = ctypes.sizeof(limits)
        self._kernel.SetInformationJobObject(self._handle, _EXTENDED_LIMITS, ctypes.byref(limits), size)
        process = ctypes.c_void_p(self._kernel.OpenProcess(_ALL_ACCESS, 0, pid))
        self._kernel.AssignProcessToJobObject(self._handle, process)
        self._kernel.CloseHandle(process)

    def end(self) -> None:
        """End everything in it."""
        self._kernel.TerminateJobObject(self._handle, 1)

    def close(self) -> None:
        """End what is left, and let go."""
        self._kernel.CloseHandle(self._handle)
