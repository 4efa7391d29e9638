"""Everything about calls except the transport: requests, answers, errors, and when a call is repeated."""

from __future__ import annotations

import json
import random
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, Generator, Generic, Iterator, List, Mapping, NamedTuple, Optional, Tuple, TypeVar, Union
from urllib.parse import quote, urlencode

T = TypeVar("T")

FIRST_WAIT = 0.1
LONGEST_WAIT = 8.0
#: The time that the daemon asks for in the field `retry` of a stream.
RECONNECT = 1.0
#: The daemon sends a comment every 15 s, so a silent stream of this age is broken.
SILENCE = 45.0


class Refusal(Exception):
    """A refusal or a failure that the daemon answered. `code` says which rule or part of the system it was."""

    def __init__(self, status: int, code: str, message: str, details: Mapping[str, Any], retry_after: Optional[float]) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        #: Seconds after which the same call may succeed.
        self.retry_after = retry_after

    @property
    def hint(self) -> Optional[str]:
        """The next step that the daemon suggests."""
        return self.details.get("hint")


class Unreachable(Exception):
    """The daemon gave no answer. The effect of a recording call is unknown until the call is repeated with its key."""


@dataclass(frozen=True)
class Connection:
    """Address and token of a daemon."""

    url: str
    token: str = field(repr=False)
    #: Team of all calls. Needed only with a token for all teams of a data root.
    team_id: Optional[str] = None


#: A connection, or a function that returns it. The function is called again when the daemon moved or its token changed.
Connect = Union[Connection, Callable[[], Connection]]


def local(root: Union[str, Path], team: str) -> Callable[[], Connection]:
    """Returns a connection to the daemon of a data root on this machine. Reads `runtime.json`, which the daemon writes."""
    path = Path(root) / "teams" / team / "runtime.json"

    def read() -> Connection:
        runtime = json.loads(path.read_text(encoding="utf-8"))
        return Connection(runtime["url"], runtime["token"])

    return read


@dataclass(frozen=True)
class Answer(Generic[T]):
    """A successful answer."""

    data: T
    #: True if this repeats the answer to an earlier call with the key.
    replayed: bool = False
    #: Seq of the last event that the answer includes, if the call has `at`.
    at: Optional[int] = None
    #: Note about the team, such as the result of a recovery.
    note: Optional[str] = None


class Endpoint(NamedTuple):
    """A call of the daemon's document."""

    method: str
    path: str
    in_path: Tuple[str, ...] = ()
    #: Parameters of the query by the names of their arguments. All other fields are the body.
    query: Tuple[str, ...] = ()
    #: True for an operation, whose answer is in the field `data` of an envelope.
    operation: bool = False
    of_team: bool = True


class Request(NamedTuple):
    """A request without the connection."""

    method: str
    target: str
    headers: Dict[str, str]
    body: Optional[bytes]


class Response(NamedTuple):
    """A whole answer. The names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Send(NamedTuple):
    """A step of an exchange: send the request."""

    connection: Connection
    request: Request


class Wait(NamedTuple):
    """A step of an exchange: wait some seconds."""

    seconds: float


class Broken(Exception):
    """The transport failed: no connection, no answer in time, or half an answer."""


Outcome = Union[Response, Broken, None]


def request_of(endpoint: Endpoint, fields: Mapping[str, Any], key: Optional[str], trace_id: Optional[str]) -> Request:
    """Builds a request. Fields that are None are left out."""
    given = {name: value for name, value in fields.items() if value is not None}
    path = endpoint.path
    for name in endpoint.in_path:
        path = path.replace("{" + name + "}", quote(str(given.pop(name)), safe=""))
    query = {name: query_text(given.pop(name)) for name in endpoint.query if name in given}
    target = path + ("?" + urlencode(query, doseq=True) if query else "")
    headers: Dict[str, str] = {}
    body = None
    if endpoint.method == "POST":
        headers["Content-Type"] = "application/json"
        # One key for all attempts, so that a call records nothing twice.
        headers["Idempotency-Key"] = key or str(uuid.uuid4())
        body = json.dumps(given, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    if trace_id is not None:
        headers["X-Trace-Id"] = trace_id
    return Request(endpoint.method, target, headers, body)


def query_text(value: Any) -> Union[str, List[str]]:
    """Returns the text of a value in a query. A list is a parameter that is repeated."""
    if isinstance(value, (list, tuple)):
        return [str(one) for one in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def of_team(request: Request, connection: Connection) -> Request:
    """Adds the team of the connection to the query."""
    if connection.team_id is None:
        return request
    joint = "&" if "?" in request.target else "?"
    return request._replace(target=f"{request.target}{joint}{urlencode({'teamId': connection.team_id})}")


class Caller:
    """Keeps the connection, and decides when a call is repeated."""

    def __init__(self, connect: Connect, attempts: int) -> None:
        self._connect = connect if callable(connect) else lambda: connect
        self._attempts = attempts
        self._connection: Optional[Connection] = None

    def connection(self) -> Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def exchange(self, endpoint: Endpoint, request: Request) -> Generator[Union[Send, Wait], Outcome, Response]:
        """Yields the steps of a call; each step gets its outcome. Returns the answer, or raises `Refusal` or `Unreachable`."""
        wait = FIRST_WAIT
        attempt = 1
        while True:
            connection = self.connection()
            sent = of_team(request, connection) if endpoint.of_team else request
            outcome = yield Send(connection, sent)
            if isinstance(outcome, Response) and outcome.status < 300:
                return outcome
            failure = failure_of(outcome, connection, request)
            moved = self._moved(connection, failure)
            helps = moved or isinstance(failure, Unreachable) or failure.retry_after is not None
            if not helps or attempt >= self._attempts:
                raise failure
            asked = failure.retry_after if isinstance(failure, Refusal) else None
            yield Wait(max(asked or 0.0, wait * random.uniform(0.5, 1.5)))
            wait = min(wait * 2, LONGEST_WAIT)
            attempt += 1

    def _moved(self, connection: Connection, failure: Union[Refusal, Unreachable]) -> bool:
        """Asks for the connection again after a failure that a new address or token can explain. Returns True if it differs."""
        if isinstance(failure, Refusal) and failure.status != 401:
            return False
        try:
            self._connection = self._connect()
        except (OSError, ValueError, KeyError):
            return False
        return self._connection != connection


def failure_of(outcome: Outcome, connection: Connection, request: Request) -> Union[Refusal, Unreachable]:
    """Returns the error of an attempt."""
    if not isinstance(outcome, Response):
        target = request.target.split("?")[0]
        failure = Unreachable(f"no answer of {connection.url} to {request.method} {target}")
        failure.__cause__ = outcome
        return failure
    try:
        error = json.loads(outcome.body)["error"]
        code, message, details = error["code"], error["message"], error.get("details") or {}
    except (ValueError, KeyError, TypeError):
        code, message, details = f"http_{outcome.status}", f"the server answered {outcome.status}", {}
    try:
        retry_after: Optional[float] = float(outcome.headers["retry-after"])
    except (KeyError, ValueError):
        retry_after = None
    return Refusal(outcome.status, code, message, details, retry_after)


def answer_of(endpoint: Endpoint, response: Response) -> Answer[Any]:
    """Reads a successful answer."""
    data = json.loads(response.body)
    at = response.headers.get("x-teamlog-at")
    return Answer(
        data=data["data"] if endpoint.operation else data,
        replayed=response.headers.get("idempotent-replayed") == "true",
        at=None if at is None else int(at),
        note=response.headers.get("x-teamlog-note"),
    )


class Frame(NamedTuple):
    """A server-sent event: its field `event`, or `message` without this field, and its data."""

    name: str
    data: str


class FrameParser:
    """Parses a stream of server-sent events line by line."""

    def __init__(self) -> None:
        self._name = ""
        self._data: List[str] = []

    def line(self, raw: bytes) -> Optional[Frame]:
        """Takes a line with its end. Returns the event that the line completes."""
        line = raw.decode("utf-8").rstrip("\r\n")
        if not line:
            frame = Frame(self._name or "message", "\n".join(self._data)) if self._data else None
            self._name, self._data = "", []
            return frame
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        return None


class Position:
    """The seq after which a stream continues."""

    def __init__(self, after: int) -> None:
        self.after = after

    def take(self, frame: Frame) -> Optional[Dict[str, Any]]:
        """Returns the event of a frame, or None if the daemon cut the stream."""
        data: Dict[str, Any] = json.loads(frame.data)
        if frame.name == "cut":
            # A stream that was cut because of its token names no seq. The next request is refused then.
            self.after = max(self.after, data.get("after", 0))
            return None
        self.after = data["seq"]
        return data


def stream_request(endpoint: Endpoint, fields: Mapping[str, Any], after: int) -> Request:
    """Builds the request of a stream."""
    request = request_of(endpoint, {**fields, "after": after}, None, None)
    request.headers["Accept"] = "text/event-stream"
    return request
