"""The HTTP side of the recorder: reads whole requests, writes replies plain or chunked, on loopback only."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from typing import Any

from agentmux_launcher.recorder.answers import Answer
from agentmux_launcher.recorder.exchange import Headers
from agentmux_launcher.recorder.wires.reply import Piece

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A reply: either `body` in one, or `pieces` as a stream that keeps to the pace of `answer`."""

    number: int
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    pieces: Iterator[Piece] | None = None
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Callbacks:
    """What the listener asks for a request (method, path, headers, body), and tells about its end (number, outcome)."""

    take: Callable[[str, str, Headers, bytes], Outgoing]
    done: Callable[[int, str], None]


class Listener(ThreadingHTTPServer):
    """Accepts connections on loopback; `stopping` ends every wait of a reply that is under way."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, port: int, callbacks: Callbacks) -> None:
        super().__init__((LOOPBACK, port), _Connection)
        self.callbacks = callbacks
        self.stopping = Event()
        self._open: set[socket.socket] = set()

    def server_bind(self) -> None:
        # The base class looks up the host's name, which asks the network.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, int(self.server_address[1])

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Break every connection that is still open, so that no client and no thread of ours waits on."""
        for connection in tuple(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that hangs up is none of our faults; everything else is shown.
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "agentmux-recorder"
    sys_version = ""
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        listener = self._listener()
        outgoing = listener.callbacks.take(self.command, self.path, tuple(self.headers.items()), self._read_body())
        outcome = "aborted"
        try:
            outcome = self._write(outgoing)
        finally:
            listener.callbacks.done(outgoing.number, outcome)

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Serve every method alike: the base class looks for `do_METHOD`."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name for it
        """Keep quiet: what came is in the recording."""

    def _listener(self) -> Listener:
        server: socketserver.BaseServer = self.server
        if not isinstance(server, Listener):
            raise TypeError("connection of another server")
        return server

    def _read_body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            return b"".join(self._read_chunks())
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _read_chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass

    def _write(self, outgoing: Outgoing) -> str:
        self._pause(outgoing.answer.wait if outgoing.answer else 0)
        self.send_response(outgoing.status)
        for name, value in outgoing.headers.items():
            self.send_header(name, value)
        if outgoing.pieces is None:
            return self._write_whole(outgoing)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        return self._write_stream(outgoing.pieces, outgoing.answer or Answer())

    def _write_whole(self, outgoing: Outgoing) -> str:
        body = outgoing.body
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        cut = outgoing.answer is not None and outgoing.answer.cut_after is not None
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = self.close_connection or cut
        return "cut" if cut else "whole"

    def _write_stream(self, pieces: Iterator[Piece], answer: Answer) -> str:
        sent = 0
        for piece in pieces:
            if piece.delta:
                if sent == answer.cut_after:
                    break
                self._pause(answer.delay if sent else 0)
                sent += 1
            if self._listener().stopping.is_set():
                break
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece.data), piece.data))
        else:
            self.wfile.write(b"0\r\n\r\n")
            return "whole"
        if answer.cut_ends:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True
        return "cut"

    def _pause(self, seconds: float) -> None:
        if seconds:
            self._listener().stopping.wait(seconds)
