"""Consumers of durable subscriptions: they hold the lease, and yield one delivery at a time."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Iterator, List, Optional, Set

from . import types
from ._core import RECONNECT, Refusal, Unreachable

if TYPE_CHECKING:
    from ._async import AsyncClient
    from ._sync import Client

#: Longest wait for events per call, in seconds.
WAIT = 20.0


class _Lease:
    """The lease of a consumer, and the deliveries that it works on."""

    def __init__(self, name: str, seconds: float, consumer: Optional[str], from_seq: Optional[int]) -> None:
        self.name = name
        self.seconds = seconds
        self.epoch: Optional[int] = None
        self.unsettled: Set[int] = set()
        self._consumer = consumer
        self._from_seq = from_seq

    def fetch(self, limit: int, wait: float) -> Dict[str, Any]:
        """Returns the arguments of a fetch."""
        return {
            "name": self.name,
            "consumer": self._consumer,
            "epoch": self.epoch,
            "holding": sorted(self.unsettled),
            "limit": limit,
            "lease_ms": int(self.seconds * 1000),
            # The position counts only when the lease is taken.
            "from_seq": self._from_seq if self.epoch is None else None,
            "timeout_ms": int(wait * 1000),
        }

    def renewal(self) -> Dict[str, Any]:
        """Returns the arguments of a fetch that only renews the lease."""
        return self.fetch(0, 0)

    def take(self, data: types.FetchAnswer) -> List[types.DeliveredEvent]:
        """Keeps the epoch and the events of an answer."""
        self.epoch = data.get("epoch")
        self.unsettled.update(delivered["event"]["seq"] for delivered in data["events"])
        if data["events"]:
            self._from_seq = None
        return data["events"]

    def is_fenced(self, error: Refusal, epoch: Optional[int]) -> bool:
        """Returns True if another consumer took over after the lease with this epoch. Then its deliveries are of no use."""
        if error.code != "subscription_fenced":
            return False
        if epoch == self.epoch:
            self.epoch = None
            self.unsettled.clear()
        return True

    @property
    def wait(self) -> float:
        return min(self.seconds / 3, WAIT)


@dataclass(frozen=True)
class _Delivered:
    event: types.Event
    #: Number of this delivery, from 1. Only failed deliveries count.
    attempt: int
    #: True if the event was parked and is replayed.
    replayed: bool
    _lease: _Lease
    #: Epoch of the lease under which the event was delivered.
    _epoch: int

    def _ack_of(self) -> Dict[str, Any]:
        return {"name": self._lease.name, "epoch": self._epoch, "seqs": [self.event["seq"]]}

    def _nak_of(self, reason: Optional[str], delay: Optional[float]) -> Dict[str, Any]:
        delay_ms = None if delay is None else int(delay * 1000)
        return {"name": self._lease.name, "epoch": self._epoch, "seq": self.event["seq"], "reason": reason, "delay_ms": delay_ms}


@dataclass(frozen=True)
class Delivery(_Delivered):
    """An event that a subscription delivers. Settle it with `ack` or `nak`."""

    _client: Client

    def ack(self) -> bool:
        """Acknowledges the event durably. Returns False if another consumer took over and gets the event."""
        return self._settle(self._client.api_ack_subscription, self._ack_of())

    def nak(self, reason: Optional[str] = None, delay: Optional[float] = None) -> bool:
        """Reports that the event could not be handled. It is delivered again after the delay, or parked after its last attempt."""
        return self._settle(self._client.api_nak_subscription, self._nak_of(reason, delay))

    def _settle(self, call: Any, given: Dict[str, Any]) -> bool:
        try:
            call(**given)
        except Refusal as error:
            if self._lease.is_fenced(error, self._epoch):
                return False
            raise
        self._lease.unsettled.discard(self.event["seq"])
        return True


@dataclass(frozen=True)
class AsyncDelivery(_Delivered):
    """An event that a subscription delivers. Settle it with `ack` or `nak`."""

    _client: AsyncClient

    async def ack(self) -> bool:
        """Acknowledges the event durably. Returns False if another consumer took over and gets the event."""
        return await self._settle(self._client.api_ack_subscription, self._ack_of())

    async def nak(self, reason: Optional[str] = None, delay: Optional[float] = None) -> bool:
        """Reports that the event could not be handled. It is delivered again after the delay, or parked after its last attempt."""
        return await self._settle(self._client.api_nak_subscription, self._nak_of(reason, delay))

    async def _settle(self, call: Any, given: Dict[str, Any]) -> bool:
        try:
            await call(**given)
        except Refusal as error:
            if self._lease.is_fenced(error, self._epoch):
                return False
            raise
        self._lease.unsettled.discard(self.event["seq"])
        return True


def consume(client: Client, name: str, consumer: Optional[str], lease: float, from_seq: Optional[int], declared: Dict[str, Any]) -> Iterator[Delivery]:
    """Yields the deliveries of a subscription. A thread renews the lease while the caller works."""
    window = client.api_subscribe(name=name, **declared).data["subscription"]["window"]
    held = _Lease(name, lease, consumer, from_seq)
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(lease / 3):
            if held.epoch is None or not held.unsettled:
                continue
            epoch = held.epoch
            try:
                client.api_fetch_subscription(**held.renewal())
            except Refusal as error:
                held.is_fenced(error, epoch)
            except Unreachable:
                # The next fetch or ack reports it.
                pass

    renewing = threading.Thread(target=renew, daemon=True)
    renewing.start()
    try:
        while True:
            room = window - len(held.unsettled)
            if room <= 0:
                # The caller settles its deliveries in other threads.
                time.sleep(0.01)
                continue
            try:
                events = held.take(client.api_fetch_subscription(**held.fetch(room, held.wait)).data)
            except Refusal as error:
                if not held.is_fenced(error, held.epoch):
                    raise
                continue
            except Unreachable:
                # The files of the subscription have the lease, so a new daemon continues it.
                if held.epoch is None:
                    raise
                time.sleep(RECONNECT)
                continue
            epoch = held.epoch or 0
            for given in events:
                if held.epoch != epoch:
                    break
                yield Delivery(given["event"], given["attempt"], given["replayed"], held, epoch, client)
    finally:
        ended.set()
        renewing.join()
        if held.epoch is not None:
            try:
                client.api_release_subscription(name=name, epoch=held.epoch)
            except (Refusal, Unreachable):
                # The lease ends by itself.
                pass


async def consume_async(
    client: AsyncClient, name: str, consumer: Optional[str], lease: float, from_seq: Optional[int], declared: Dict[str, Any]
) -> AsyncIterator[AsyncDelivery]:
    """Yields the deliveries of a subscription. A task renews the lease while the caller works."""
    window = (await client.api_subscribe(name=name, **declared)).data["subscription"]["window"]
    held = _Lease(name, lease, consumer, from_seq)

    async def renew() -> None:
        while True:
            await asyncio.sleep(lease / 3)
            if held.epoch is None or not held.unsettled:
                continue
            epoch = held.epoch
            try:
                await client.api_fetch_subscription(**held.renewal())
            except Refusal as error:
                held.is_fenced(error, epoch)
            except Unreachable:
                # The next fetch or ack reports it.
                pass

    renewing = asyncio.ensure_future(renew())
    try:
        while True:
            room = window - len(held.unsettled)
            if room <= 0:
                # The caller settles its deliveries in other tasks.
                await asyncio.sleep(0.01)
                continue
            try:
                events = held.take((await client.api_fetch_subscription(**held.fetch(room, held.wait))).data)
            except Refusal as error:
                if not held.is_fenced(error, held.epoch):
                    raise
                continue
            except Unreachable:
                # The files of the subscription have the lease, so a new daemon continues it.
                if held.epoch is None:
                    raise
                await asyncio.sleep(RECONNECT)
                continue
            epoch = held.epoch or 0
            for given in events:
                if held.epoch != epoch:
                    break
                yield AsyncDelivery(given["event"], given["attempt"], given["replayed"], held, epoch, client)
    finally:
        renewing.cancel()
        if held.epoch is not None:
            try:
                await client.api_release_subscription(name=name, epoch=held.epoch)
            except (Refusal, Unreachable):
                # The lease ends by itself.
                pass
