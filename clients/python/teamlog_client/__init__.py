"""A typed client of teamlog's daemon: `Client` for ordinary programs, `AsyncClient` for programs with an event loop."""

from . import types
from ._async import AsyncClient
from ._consume import AsyncDelivery, Delivery
from ._core import Answer, Connection, Refusal, Unreachable, local
from ._sync import Client

__all__ = ["Answer", "AsyncClient", "AsyncDelivery", "Client", "Connection", "Delivery", "Refusal", "Unreachable", "local", "types"]
