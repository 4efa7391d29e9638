"""The client for programs with an event loop, on the streams of `asyncio`."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, AsyncIterator, Dict, List, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import urlsplit

from . import types
from ._calls import LIST_EVENTS, AsyncCalls
from ._consume import AsyncDelivery, consume_async
from ._core import (
    RECONNECT,
    SILENCE,
    Answer,
    Broken,
    Caller,
    Connect,
    Connection,
    Endpoint,
    FrameParser,
    Outcome,
    Position,
    Request,
    Response,
    Send,
    Unreachable,
    answer_of,
    request_of,
    stream_request,
)

#: Longest line of a head or a stream, in bytes. An event has at most 1 MiB.
LINE_MAX = 16 << 20


class AsyncClient(AsyncCalls):
    """A client of one team for one event loop. Cancelling a call closes its connection."""

    def __init__(self, connect: Connect, *, attempts: int = 5, timeout: float = 30.0, tls: Optional[ssl.SSLContext] = None) -> None:
        """`timeout` is the time for an attempt, in seconds. `tls` has the authorities for an address with `https`."""
        self._caller = Caller(connect, attempts)
        self._timeout = timeout
        self._tls = tls
        self._idle: List[Tuple[str, _Opened]] = []

    async def close(self) -> None:
        """Closes the idle connections."""
        while self._idle:
            self._idle.pop()[1].close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, endpoint: Endpoint, fields: Mapping[str, Any], key: Optional[str] = None, trace_id: Optional[str] = None) -> Answer[Any]:
        steps = self._caller.exchange(endpoint, request_of(endpoint, fields, key, trace_id))
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as end:
                return answer_of(endpoint, end.value)
            outcome = None
            if isinstance(step, Send):
                outcome = await self._send(step.connection, step.request)
            else:
                await asyncio.sleep(step.seconds)

    async def _send(self, connection: Connection, request: Request) -> Outcome:
        opened: Optional[_Opened] = None
        sent = _bytes_of(connection, request)
        try:
            opened = await asyncio.wait_for(self._connected(connection), self._timeout)
            head = await asyncio.wait_for(_ask(opened, sent), self._timeout)
            body = b"".join([piece async for piece in _pieces(opened, head, self._timeout)])
        except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
            if opened is not None:
                opened.close()
            return Broken(str(error) or type(error).__name__)
        except asyncio.CancelledError:
            if opened is not None:
                opened.close()
            raise
        if head.stays_open:
            self._idle.append((connection.url, opened))
        else:
            opened.close()
        return Response(head.status, head.headers, body)

    async def _connected(self, connection: Connection) -> _Opened:
        while self._idle:
            address, opened = self._idle.pop()
            if address == connection.url and not opened.reader.at_eof():
                return opened
            opened.close()
        url = urlsplit(connection.url)
        tls = (self._tls or ssl.create_default_context()) if url.scheme == "https" else None
        port = url.port or (443 if tls else 80)
        reader, writer = await asyncio.open_connection(url.hostname, port, ssl=tls, limit=LINE_MAX)
        return _Opened(reader, writer)

    async def events(
        self,
        *,
        after: Optional[int] = None,
        kind: Optional[str] = None,
        tag: Optional[List[str]] = None,
        agent: Optional[str] = None,
        actor: Optional[str] = None,
        task_id: Optional[str] = None,
        trace_id: Optional[str] = None,
        type: Optional[str] = None,
        not_: Optional[str] = None,
        q: Optional[str] = None,
        bookkeeping: Optional[bool] = None,
    ) -> AsyncIterator[types.Event]:
        """Follows the events of the log after a seq, or after the last event. Reconnects, and yields each event once.

        The filters are those of `list_events`.
        """
        filters = {
            "kind": kind, "tag": tag, "agent": agent, "actor": actor, "task_id": task_id, "trace_id": trace_id,
            "type": type, "not": not_, "q": q, "bookkeeping": bookkeeping,
        }
        if after is None:
            after = (await self._call(LIST_EVENTS, {"limit": 1})).data["last_seq"]
        position = Position(after)
        began = False
        while True:
            try:
                async for event in self._stream(LIST_EVENTS, filters, position):
                    began = True
                    yield event
            except Unreachable:
                # A stream that began continues after any absence of the daemon.
                if not began:
                    raise
            await asyncio.sleep(RECONNECT)

    def consume(
        self, name: str, *, consumer: Optional[str] = None, lease: float = 30.0, from_seq: Optional[int] = None, **subscription: Any
    ) -> AsyncIterator[AsyncDelivery]:
        """Consumes a durable subscription, which is created with the given filter if it does not exist.

        Settle each delivery with `ack` or `nak`; an event whose delivery is not settled is delivered again. The iterator renews the
        lease while the caller works, and ends it at its end. `from_seq` continues after that seq instead of the stored position, for
        a consumer that keeps the seq in its own transactions. The other arguments are those of `api_subscribe`: `kind`, `task_id`,
        `agent`, `trace_id`, `actor`, `type`, `not_`, `from_`, `window` and `max_attempts`.
        """
        return consume_async(self, name, consumer, lease, from_seq, subscription)

    async def _stream(self, endpoint: Endpoint, fields: Mapping[str, Any], position: Position) -> AsyncIterator[Any]:
        """Yields the events of one connection."""
        steps = self._caller.exchange(endpoint, stream_request(endpoint, fields, position.after))
        opened: Optional[_Opened] = None
        head: Optional[_Head] = None
        outcome: Outcome = None
        try:
            while True:
                try:
                    step = steps.send(outcome)
                except StopIteration:
                    break
                outcome = None
                if not isinstance(step, Send):
                    await asyncio.sleep(step.seconds)
                    continue
                sent = _bytes_of(step.connection, step.request)
                try:
                    opened = await asyncio.wait_for(self._connected(step.connection), self._timeout)
                    head = await asyncio.wait_for(_ask(opened, sent), self._timeout)
                    body = b"" if head.status < 300 else b"".join([piece async for piece in _pieces(opened, head, self._timeout)])
                    outcome = Response(head.status, head.headers, body)
                except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
                    outcome = Broken(str(error))
                if not isinstance(outcome, Response) or outcome.status >= 300:
                    if opened is not None:
                        opened.close()
            assert opened is not None and head is not None
            async for event in _events(opened, head, position):
                yield event
        finally:
            if opened is not None:
                opened.close()


class _Opened(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def close(self) -> None:
        self.writer.close()


class _Head(NamedTuple):
    status: int
    headers: Dict[str, str]

    @property
    def stays_open(self) -> bool:
        has_end = "content-length" in self.headers or "transfer-encoding" in self.headers
        return has_end and self.headers.get("connection", "").lower() != "close"


def _bytes_of(connection: Connection, request: Request) -> bytes:
    """Encodes a request. Raises `ValueError` if a header cannot be sent."""
    body = request.body or b""
    headers = {**request.headers, "Host": urlsplit(connection.url).netloc, "Authorization": f"Bearer {connection.token}"}
    if request.body is not None:
        headers["Content-Length"] = str(len(body))
    lines = [f"{request.method} {request.target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header contains a line end")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


async def _ask(opened: _Opened, request: bytes) -> _Head:
    """Sends a request and reads the head of its answer."""
    opened.writer.write(request)
    await opened.writer.drain()
    status = int((await _line(opened)).split(b" ", 2)[1])
    answered: Dict[str, str] = {}
    while True:
        line = (await _line(opened)).decode("latin-1").strip()
        if not line:
            return _Head(status, answered)
        name, _, value = line.partition(":")
        answered[name.strip().lower()] = value.strip()


async def _line(opened: _Opened) -> bytes:
    line = await opened.reader.readline()
    if not line.endswith(b"\n"):
        raise EOFError("the connection ended")
    return line


async def _pieces(opened: _Opened, head: _Head, timeout: float) -> AsyncIterator[bytes]:
    """Yields the body piece by piece."""
    if head.headers.get("transfer-encoding", "").lower() == "chunked":
        while True:
            length = int((await asyncio.wait_for(_line(opened), timeout)).split(b";")[0], 16)
            piece = await asyncio.wait_for(opened.reader.readexactly(length), timeout)
            await asyncio.wait_for(_line(opened), timeout)
            if not length:
                return
            yield piece
    elif "content-length" in head.headers:
        yield await asyncio.wait_for(opened.reader.readexactly(int(head.headers["content-length"])), timeout)
    else:
        while True:
            piece = await asyncio.wait_for(opened.reader.read(1 << 16), timeout)
            if not piece:
                return
            yield piece


async def _events(opened: _Opened, head: _Head, position: Position) -> AsyncIterator[Any]:
    parser = FrameParser()
    rest = b""
    try:
        async for piece in _pieces(opened, head, SILENCE):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                frame = parser.line(line)
                if frame is None:
                    continue
                event = position.take(frame)
                if event is None:
                    return
                yield event
    except (OSError, EOFError, ValueError, asyncio.TimeoutError):
        return
