// The client against a daemon: keys, claims, messages, refusals, the stream, restarts.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, test } from "node:test";
import { type Event, Refusal, Teamlog, Unreachable } from "teamlog-client";
import { local } from "teamlog-client/node";
import { Daemon, TEAM } from "./daemon.js";

let daemon: Daemon;
let team: Teamlog;

beforeEach(async () => {
  daemon = new Daemon();
  await daemon.start();
  team = new Teamlog(local(daemon.root, TEAM));
});

afterEach(() => daemon.remove());

const refused = async (call: Promise<unknown>): Promise<Refusal> => {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return error;
  }
  throw new Error("the call was not refused");
};

const next = async (stream: AsyncGenerator<Event, void, undefined>): Promise<Event> => {
  const { value } = await stream.next();
  assert.ok(value);
  return value;
};

const create = async (title: string): Promise<string> => (await team.post("/v1/tasks", { body: { title } })).data.task.id;

test("a key records once", async () => {
  const first = await team.post("/v1/tasks", { body: { title: "Fix the parser" }, key: "k-1" });
  const again = await team.post("/v1/tasks", { body: { title: "Fix the parser" }, key: "k-1" });
  assert.deepEqual([first.replayed, again.replayed], [false, true]);
  assert.deepEqual(again.data, first.data);
  assert.equal((await team.get("/v1/tasks")).data.tasks.length, 1);
  const other = await refused(team.post("/v1/tasks", { body: { title: "Write a song" }, key: "k-1" }));
  assert.deepEqual([other.status, other.code], [422, "idempotency_key_reused"]);
});

test("a claim has one holder", async () => {
  const taskId = await create("Fix the parser");
  const claimed = await team.post("/v1/tasks/{taskId}/claim", { path: { taskId }, body: { agentId: "ada" } });
  const second = await refused(team.post("/v1/tasks/{taskId}/claim", { path: { taskId }, body: { agentId: "bob" } }));
  assert.deepEqual([second.status, second.code], [409, "claim_conflict"]);
  assert.equal((await refused(team.get("/v1/tasks/{taskId}", { path: { taskId: "9" } }))).code, "task_not_found");
  assert.equal((await refused(team.post("/v1/tasks", { body: { title: "" } }))).details["field"], "title");
  const { epoch } = claimed.data.task;
  const done = await team.post("/v1/tasks/{taskId}/complete", { path: { taskId }, body: { epoch, result: "fixed" } });
  assert.equal(done.data.task.status, "completed");
});

test("operations have their data", async () => {
  const sent = await team.call("send-message", { from_worker: "ada", to_worker: "bob", body: "The parser is fixed." });
  const read = await team.call("read-inbox", { agent: "bob" });
  assert.deepEqual(read.data.messages.map((message) => message.id), [sent.data.message.message_id]);
  assert.equal((await team.call("list-tasks", { status: "pending" })).data.count, 0);
});

test("an append has conditions", async () => {
  const body = { events: [{ kind: "name_taken", tags: ["name=anna"] }], if_none: [{ tags: ["name=anna"] }] };
  const first = await team.post("/v1/events", { body });
  const second = await refused(team.post("/v1/events", { body }));
  assert.deepEqual([second.status, second.code, second.details["kind"]], [409, "append_conflict", "name_taken"]);
  const { events } = (await team.get("/v1/events", { query: { tag: ["name=anna", "name=anna"] } })).data;
  assert.ok("first_seq" in first.data);
  assert.deepEqual(events.map((event) => event.seq), [first.data.first_seq]);
});

test("the stream has every event once", async () => {
  await create("one");
  const stream = team.events({ after: 0, kind: "task_created" });
  assert.equal((await next(stream)).sentence?.includes("one"), true);
  await create("two");
  const second = await next(stream);
  assert.equal(second.kind, "task_created");
  assert.equal(second.task_id, "2");
  await stream.return();
});

test("the stream ends with its signal, and begins with the next event", { timeout: 60_000 }, async () => {
  await create("before");
  const stop = new AbortController();
  const found: string[] = [];
  const following = (async () => {
    for await (const event of team.events({ kind: "task_created", signal: stop.signal })) {
      found.push(event.task_id ?? "");
      stop.abort();
    }
  })();
  while (!stop.signal.aborted) {
    await create("after");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await following;
  assert.equal(found.length, 1);
  assert.notEqual(found[0], "1");
});

test("calls and streams survive a restart", { timeout: 60_000 }, async () => {
  await create("before");
  const stream = team.events({ after: 0, kind: "task_created" });
  assert.equal((await next(stream)).task_id, "1");
  await daemon.stop();
  await daemon.start();
  // The new daemon has another address and another token.
  assert.equal(await create("after"), "2");
  assert.equal((await next(stream)).task_id, "2");
  await stream.return();
});

test("errors say what is wrong", async () => {
  const known = await local(daemon.root, TEAM)();
  assert.equal((await refused(new Teamlog({ ...known, token: "wrong" }).get("/v1/status"))).code, "unauthorized");
  await daemon.stop();
  await assert.rejects(new Teamlog(known, { attempts: 2 }).get("/v1/status"), Unreachable);
});

test("a call is repeated with its key after a lost answer, and after a request to wait", async () => {
  const keys: (string | null)[] = [];
  const lossy: typeof fetch = async (input, init) => {
    keys.push(new Headers(init?.headers).get("Idempotency-Key"));
    if (keys.length === 1) return Response.json({ error: { code: "busy", message: "wait" } }, { status: 503, headers: { "Retry-After": "0" } });
    const answer = await fetch(input, init);
    if (keys.length > 2) return answer;
    await answer.arrayBuffer();
    throw new TypeError("the connection was lost");
  };
  const { data, replayed } = await new Teamlog(local(daemon.root, TEAM), { fetch: lossy }).post("/v1/tasks", { body: { title: "once" } });
  assert.deepEqual([data.task.id, replayed, keys.length, new Set(keys).size], ["1", true, 3, 1]);
  assert.equal((await team.get("/v1/tasks")).data.tasks.length, 1);
});

test("a subscription delivers each event until it is acknowledged", { timeout: 60_000 }, async () => {
  for (const title of ["one", "two", "three"]) await create(title);
  const seen: [string, number][] = [];
  for await (const delivery of team.consume("creations", { kind: "task_created", from: "start" })) {
    seen.push([delivery.event.task_id ?? "", delivery.attempt]);
    if (seen.length === 1) assert.equal(await delivery.nak("not yet", 1), true);
    else if (seen.length < 4) assert.equal(await delivery.ack(), true);
    else break;
  }
  assert.deepEqual(seen, [["1", 1], ["1", 2], ["2", 1], ["3", 1]]);
  // The loop ended without an ack of the third task. The next consumer begins with it, also in a new daemon.
  await daemon.stop();
  await daemon.start();
  const stop = new AbortController();
  for await (const delivery of team.consume("creations", { kind: "task_created", signal: stop.signal })) {
    seen.push([delivery.event.task_id ?? "", delivery.attempt]);
    await delivery.ack();
    stop.abort();
  }
  assert.deepEqual(seen.slice(4), [["3", 1]]);
});

test("a consumer with a lost lease cannot settle, and its successor gets the event", { timeout: 60_000 }, async () => {
  await create("one");
  const input = { name: "creations", lease_ms: 100, timeout_ms: 10_000 };
  await team.call("subscribe", { name: "creations", kind: "task_created", from: "start" });
  // This consumer never renews its lease.
  const { data } = await team.call("fetch-subscription", input);
  const second = team.consume("creations", { kind: "task_created" });
  const delivery = (await second.next()).value;
  assert.ok(delivery);
  assert.equal(delivery.event.task_id, "1");
  const late = await refused(team.call("ack-subscription", { name: "creations", epoch: data.epoch ?? 0, seqs: [delivery.event.seq] }));
  assert.equal(late.code, "subscription_fenced");
  assert.equal(await delivery.ack(), true);
  await second.return();
});

test("a consumer keeps its lease while it works", { timeout: 60_000 }, async () => {
  await create("one");
  for await (const delivery of team.consume("creations", { kind: "task_created", from: "start", leaseMs: 600 })) {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    assert.equal(await delivery.ack(), true);
    break;
  }
});

test("the example of the README runs", () => {
  const text = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const example = /```ts\n(.*?)```/s.exec(text)?.[1] ?? "";
  const directory = mkdtempSync(new URL("../example-", import.meta.url).pathname);
  writeFileSync(`${directory}/example.mjs`, example.replace("/path/to/root", daemon.root));
  const ran = spawnSync(process.execPath, [`${directory}/example.mjs`], { encoding: "utf8" });
  rmSync(directory, { recursive: true });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /^claim_conflict/);
});
