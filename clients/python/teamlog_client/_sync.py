"""The client for ordinary programs, on `http.client`."""

from __future__ import annotations

import http.client
import ssl
import time
from contextlib import closing
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple
from urllib.parse import urlsplit

from . import types
from ._calls import LIST_EVENTS, Calls
from ._consume import Delivery, consume
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


class Client(Calls):
    """A client of one team. Threads may share it."""

    def __init__(self, connect: Connect, *, attempts: int = 5, timeout: float = 30.0, tls: Optional[ssl.SSLContext] = None) -> None:
        """`timeout` is the time without a byte of an answer, in seconds. `tls` has the authorities for an address with `https`."""
        self._caller = Caller(connect, attempts)
        self._timeout = timeout
        self._tls = tls
        self._idle: List[Tuple[str, http.client.HTTPConnection]] = []

    def close(self) -> None:
        """Closes the idle connections."""
        while self._idle:
            self._idle.pop()[1].close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, endpoint: Endpoint, fields: Mapping[str, Any], key: Optional[str] = None, trace_id: Optional[str] = None) -> Answer[Any]:
        steps = self._caller.exchange(endpoint, request_of(endpoint, fields, key, trace_id))
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as end:
                return answer_of(endpoint, end.value)
            outcome = None
            if isinstance(step, Send):
                outcome = self._send(step.connection, step.request)
            else:
                time.sleep(step.seconds)

    def _send(self, connection: Connection, request: Request) -> Outcome:
        try:
            url, opened = self._idle.pop()
        except IndexError:
            url, opened = "", None
        if opened is None or url != connection.url:
            opened = self._open(connection, self._timeout)
        try:
            response = _ask(opened, connection, request)
            whole = Response(response.status, _headers(response), response.read())
        except (OSError, http.client.HTTPException) as error:
            opened.close()
            return Broken(str(error) or type(error).__name__)
        if response.will_close:
            opened.close()
        else:
            self._idle.append((connection.url, opened))
        return whole

    def _open(self, connection: Connection, timeout: float) -> http.client.HTTPConnection:
        url = urlsplit(connection.url)
        if url.scheme == "https":
            return http.client.HTTPSConnection(url.netloc, timeout=timeout, context=self._tls)
        return http.client.HTTPConnection(url.netloc, timeout=timeout)

    def events(
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
    ) -> Iterator[types.Event]:
        """Follows the events of the log after a seq, or after the last event. Reconnects, and yields each event once.

        The filters are those of `list_events`.
        """
        filters = {
            "kind": kind, "tag": tag, "agent": agent, "actor": actor, "task_id": task_id, "trace_id": trace_id,
            "type": type, "not": not_, "q": q, "bookkeeping": bookkeeping,
        }
        if after is None:
            after = self._call(LIST_EVENTS, {"limit": 1}).data["last_seq"]
        position = Position(after)
        began = False
        while True:
            try:
                for event in self._stream(LIST_EVENTS, filters, position):
                    began = True
                    yield event
            except Unreachable:
                # A stream that began continues after any absence of the daemon.
                if not began:
                    raise
            time.sleep(RECONNECT)

    def consume(
        self, name: str, *, consumer: Optional[str] = None, lease: float = 30.0, from_seq: Optional[int] = None, **subscription: Any
    ) -> Iterator[Delivery]:
        """Consumes a durable subscription, which is created with the given filter if it does not exist.

        Settle each delivery with `ack` or `nak`; an event whose delivery is not settled is delivered again. The iterator renews the
        lease while the caller works, and ends it at its end. `from_seq` continues after that seq instead of the stored position, for
        a consumer that keeps the seq in its own transactions. The other arguments are those of `api_subscribe`: `kind`, `task_id`,
        `agent`, `trace_id`, `actor`, `type`, `not_`, `from_`, `window` and `max_attempts`.
        """
        return consume(self, name, consumer, lease, from_seq, subscription)

    def _stream(self, endpoint: Endpoint, fields: Mapping[str, Any], position: Position) -> Iterator[Any]:
        """Yields the events of one connection."""
        steps = self._caller.exchange(endpoint, stream_request(endpoint, fields, position.after))
        outcome: Outcome = None
        opened: Optional[http.client.HTTPConnection] = None
        response: Optional[http.client.HTTPResponse] = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration:
                break
            outcome = None
            if not isinstance(step, Send):
                time.sleep(step.seconds)
                continue
            opened = self._open(step.connection, SILENCE)
            try:
                response = _ask(opened, step.connection, step.request)
                body = b"" if response.status < 300 else response.read()
                outcome = Response(response.status, _headers(response), body)
            except (OSError, http.client.HTTPException) as error:
                outcome = Broken(str(error))
            if not isinstance(outcome, Response) or outcome.status >= 300:
                opened.close()
        assert opened is not None and response is not None
        with closing(opened):
            yield from _events(response, position)


def _events(response: http.client.HTTPResponse, position: Position) -> Iterator[Dict[str, Any]]:
    parser = FrameParser()
    while True:
        try:
            line = response.readline()
        except (OSError, http.client.HTTPException):
            return
        if not line.endswith(b"\n"):
            return
        frame = parser.line(line)
        if frame is None:
            continue
        event = position.take(frame)
        if event is None:
            return
        yield event


def _ask(opened: http.client.HTTPConnection, connection: Connection, request: Request) -> http.client.HTTPResponse:
    """Sends a request and reads the head of its answer."""
    headers = {**request.headers, "Authorization": f"Bearer {connection.token}"}
    opened.request(request.method, request.target, body=request.body, headers=headers)
    return opened.getresponse()


def _headers(response: http.client.HTTPResponse) -> Dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}
