"""Request bodies as clients send them, unpacked: identity, gzip, deflate, zstd."""

from __future__ import annotations

import gzip
import importlib
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class UnknownEncodingError(ValueError):
    """The body's content encoding is one that this Python cannot undo."""


def decode(raw: bytes, encoding: str) -> bytes:
    """The body without its content encodings (`gzip, zstd` were applied from left to right).

    Raises:
        UnknownEncodingError: an encoding that the standard library here does not know.
        ValueError: the body is not in the encoding that it claims.
    """
    for name in reversed([each.strip().lower() for each in encoding.split(",")]):
        undo = _DECODERS.get(name)
        if undo is None:
            raise UnknownEncodingError(f"content encoding `{name}` is not known")
        try:
            raw = undo(raw)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"body is not {name}: {error}") from error
    return raw


def _inflate(raw: bytes) -> bytes:
    # Clients disagree on whether `deflate` has a zlib header.
    try:
        return zlib.decompress(raw)
    except zlib.error:
        return zlib.decompress(raw, -zlib.MAX_WBITS)


def _zstd(raw: bytes) -> bytes:
    try:
        module = importlib.import_module("compression.zstd")
    except ImportError as error:
        raise UnknownEncodingError("content encoding `zstd` needs Python 3.14") from error
    try:
        return bytes(module.decompress(raw))
    except module.ZstdError as error:
        raise ValueError(f"body is not zstd: {error}") from error


_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.decompress,
    "x-gzip": gzip.decompress,
    "deflate": _inflate,
    "zstd": _zstd,
}
