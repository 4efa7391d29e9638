"""Both clients of this package against a daemon: keys, claims, messages, refusals, the stream, restarts."""

import asyncio
import re
import runpy
import sys
import threading
import time
import unittest
from itertools import islice
from pathlib import Path

from teamlog_client import AsyncClient, Client, Connection, Refusal, Unreachable, local

sys.path.insert(0, str(Path(__file__).parent))
from daemon import TEAM, DaemonTest  # noqa: E402


class ClientTest(DaemonTest):
    def setUp(self) -> None:
        super().setUp()
        self.client = Client(local(self.root, TEAM))
        self.addCleanup(self.client.close)

    def refused(self, call, *arguments, **named) -> Refusal:
        with self.assertRaises(Refusal) as caught:
            call(*arguments, **named)
        return caught.exception

    def test_a_key_records_once(self) -> None:
        first = self.client.create_task(title="Fix the parser", key="k-1")
        again = self.client.create_task(title="Fix the parser", key="k-1")
        self.assertEqual((first.replayed, again.replayed), (False, True))
        self.assertEqual(first.data, again.data)
        self.assertEqual(len(self.client.list_tasks().data["tasks"]), 1)
        other = self.refused(self.client.create_task, title="Write a song", key="k-1")
        self.assertEqual((other.status, other.code), (422, "idempotency_key_reused"))

    def test_a_claim_has_one_holder(self) -> None:
        task = self.client.create_task(title="Fix the parser").data["task"]
        epoch = self.client.claim_task(task["id"], agent_id="ada").data["task"]["epoch"]
        refusal = self.refused(self.client.claim_task, task["id"], agent_id="bob")
        self.assertEqual((refusal.status, refusal.code), (409, "claim_conflict"))
        self.assertEqual(self.refused(self.client.get_task, "99").code, "task_not_found")
        self.assertEqual(self.refused(self.client.create_task, title="").details["field"], "title")
        done = self.client.complete_task(task["id"], epoch=epoch, result="fixed").data["task"]
        self.assertEqual(done["status"], "completed")

    def test_operations_have_their_data(self) -> None:
        sent = self.client.api_send_message(from_worker="ada", to_worker="bob", body="The parser is fixed.").data["message"]
        read = self.client.api_read_inbox(agent="bob").data["messages"]
        self.assertEqual([message["id"] for message in read], [sent["message_id"]])
        self.assertEqual(self.client.api_list_tasks(status="pending").data["count"], 0)

    def test_an_append_has_conditions(self) -> None:
        taken = {"kind": "name_taken", "tags": ["name=anna"]}
        first = self.client.append_events(events=[taken], if_none=[{"kinds": ["name_taken"], "tags": ["name=anna"]}])
        conflict = self.refused(self.client.append_events, events=[taken], if_none=[{"tags": ["name=anna"]}])
        self.assertEqual((conflict.status, conflict.code), (409, "append_conflict"))
        self.assertEqual(conflict.details["kind"], "name_taken")
        found = self.client.list_events(tag=["name=anna", "name=anna"]).data["events"]
        self.assertEqual([event["tags"] for event in found], [["name=anna"]])
        self.assertEqual(first.data["first_seq"], found[0]["seq"])

    def test_the_stream_has_every_event_once(self) -> None:
        self.client.create_task(title="one")
        stream = self.client.events(after=0, kind="task_created", bookkeeping=False)
        self.assertEqual(next(stream)["payload"]["subject"], "one")
        self.client.create_task(title="two")
        event = next(stream)
        self.assertEqual((event["payload"]["subject"], event["kind"]), ("two", "task_created"))
        # Without `after` the stream begins with the next event.
        new = self.client.events(kind="task_created")
        found = []
        follower = threading.Thread(target=lambda: found.extend(islice(new, 1)))
        follower.start()
        while follower.is_alive():
            self.client.create_task(title="later")
            follower.join(0.2)
        self.assertEqual(found[0]["payload"]["subject"], "later")
        new.close()
        stream.close()

    def test_a_subscription_delivers_until_the_ack(self) -> None:
        for title in ("one", "two", "three"):
            self.client.create_task(title=title)
        seen = []
        deliveries = self.client.consume("creations", kind="task_created", from_="start")
        for delivery in deliveries:
            seen.append((delivery.event["task_id"], delivery.attempt))
            if len(seen) == 1:
                self.assertTrue(delivery.nak("not yet", delay=0.001))
            elif len(seen) < 4:
                self.assertTrue(delivery.ack())
            else:
                break
        deliveries.close()
        self.assertEqual(seen, [("1", 1), ("1", 2), ("2", 1), ("3", 1)])
        # The loop ended without an ack of the third task. The next consumer begins with it, also in a new daemon.
        self.daemon.stop()
        self.daemon.start()
        deliveries = self.client.consume("creations", kind="task_created")
        delivery = next(deliveries)
        self.assertEqual(delivery.event["task_id"], "3")
        self.assertTrue(delivery.ack())
        deliveries.close()

    def test_a_consumer_keeps_its_lease_while_it_works(self) -> None:
        self.client.create_task(title="one")
        deliveries = self.client.consume("creations", kind="task_created", from_="start", lease=0.6)
        delivery = next(deliveries)
        time.sleep(2)
        self.assertTrue(delivery.ack())
        deliveries.close()

    def test_a_consumer_without_a_lease_cannot_settle(self) -> None:
        self.client.create_task(title="one")
        self.client.api_subscribe(name="creations", kind="task_created", from_="start")
        # This consumer never renews its lease.
        first = self.client.api_fetch_subscription(name="creations", lease_ms=100).data
        deliveries = self.client.consume("creations", kind="task_created")
        delivery = next(deliveries)
        seqs = [delivery.event["seq"]]
        late = self.refused(self.client.api_ack_subscription, name="creations", epoch=first["epoch"], seqs=seqs)
        self.assertEqual(late.code, "subscription_fenced")
        self.assertTrue(delivery.ack())
        deliveries.close()

    def test_calls_and_streams_survive_a_restart(self) -> None:
        self.client.create_task(title="before")
        stream = self.client.events(after=0, kind="task_created")
        self.assertEqual(next(stream)["payload"]["subject"], "before")
        self.daemon.stop()
        self.daemon.start()
        # The new daemon has another address and another token.
        self.assertEqual(self.client.create_task(title="after").data["task"]["id"], "2")
        self.assertEqual(next(stream)["payload"]["subject"], "after")
        stream.close()

    def test_errors_say_what_is_wrong(self) -> None:
        known = local(self.root, TEAM)()
        self.assertNotIn(known.token, repr(known))
        with Client(Connection(known.url, "wrong")) as stranger:
            self.assertEqual(self.refused(stranger.get_status).code, "unauthorized")
        self.daemon.stop()
        with Client(known, attempts=2) as alone, self.assertRaises(Unreachable):
            alone.get_status()
        self.daemon.start()

    def test_threads_share_a_client(self) -> None:
        threads = [threading.Thread(target=self.client.create_task, kwargs={"title": str(at)}) for at in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.client.list_tasks().data["tasks"]), 16)


class AsyncClientTest(DaemonTest):
    def run_with_client(self, program) -> None:
        async def run() -> None:
            async with AsyncClient(local(self.root, TEAM)) as client:
                await program(client)

        asyncio.run(run())

    def test_keys_claims_and_refusals(self) -> None:
        async def program(client: AsyncClient) -> None:
            first = await client.create_task(title="Fix the parser", key="k-1")
            again = await client.create_task(title="Fix the parser", key="k-1")
            self.assertEqual((first.replayed, again.replayed, first.data), (False, True, again.data))
            await client.claim_task("1", agent_id="ada")
            with self.assertRaises(Refusal) as caught:
                await client.claim_task("1", agent_id="bob")
            self.assertEqual(caught.exception.code, "claim_conflict")
            sent = await client.api_send_message(from_worker="ada", to_worker="bob", body="The parser is fixed.")
            read = await client.api_read_inbox(agent="bob")
            self.assertEqual(read.data["messages"][0]["id"], sent.data["message"]["message_id"])

        self.run_with_client(program)

    def test_many_calls_at_a_time(self) -> None:
        async def program(client: AsyncClient) -> None:
            made = await asyncio.gather(*(client.create_task(title=str(at)) for at in range(40)))
            self.assertEqual(len({answer.data["task"]["id"] for answer in made}), 40)

        self.run_with_client(program)

    def test_the_stream_survives_a_restart(self) -> None:
        async def program(client: AsyncClient) -> None:
            await client.create_task(title="before")
            stream = client.events(after=0, kind="task_created")
            self.assertEqual((await stream.__anext__())["payload"]["subject"], "before")
            self.daemon.stop()
            self.daemon.start()
            await client.create_task(title="after")
            self.assertEqual((await stream.__anext__())["payload"]["subject"], "after")
            await stream.aclose()

        self.run_with_client(program)

    def test_a_subscription_delivers_until_the_ack(self) -> None:
        async def program(client: AsyncClient) -> None:
            await asyncio.gather(*(client.create_task(title=str(at)) for at in range(8)))
            deliveries = client.consume("creations", kind="task_created", from_="start", window=4)
            first = await deliveries.__anext__()
            self.assertTrue(await first.nak("not yet", delay=0))
            found = []
            async for delivery in deliveries:
                found.append(delivery.event["seq"])
                self.assertTrue(await delivery.ack())
                if len(found) == 8:
                    break
            await deliveries.aclose()
            self.assertEqual(len(set(found)), 8)
            subscription = (await client.api_show_subscription(name="creations")).data["subscription"]
            self.assertEqual(subscription["position"], max(found))

        self.run_with_client(program)

    def test_a_cancelled_call_ends(self) -> None:
        async def program(client: AsyncClient) -> None:
            stream = client.events()
            waiting = asyncio.ensure_future(stream.__anext__())
            await asyncio.sleep(0)
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting
            self.assertEqual((await client.list_tasks()).data["tasks"], [])

        self.run_with_client(program)


class ReadmeTest(DaemonTest):
    def test_the_example_runs(self) -> None:
        text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
        example = re.search(r"```python\n(.*?)```", text, re.S).group(1)
        program = self.root / "example.py"
        program.write_text(example.replace("/path/to/root", str(self.root)), encoding="utf-8")
        runpy.run_path(str(program))


if __name__ == "__main__":
    unittest.main()
