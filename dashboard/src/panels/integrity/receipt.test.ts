import { expect, it } from "vitest";
import { receiptIn } from "./receipt.ts";

const receipt = { team: "demo", log: "l", seq: 4, segment: "s", length: 9, digest: "d" };

it("takes what head printed, a line among others, and an answer that holds one", () => {
  expect(receiptIn(JSON.stringify(receipt))).toEqual({ receipt });
  expect(receiptIn(`claimed 1\n${JSON.stringify(receipt)}\n`)).toEqual({ receipt });
  expect(receiptIn(JSON.stringify({ ok: true, data: { receipt } }))).toEqual({ receipt });
});

it("says why a text holds none", () => {
  expect(receiptIn(" ")).toEqual({ why: "it is empty" });
  expect(receiptIn("no")).toEqual({ why: "it is not JSON" });
  expect(receiptIn('{"log":1,"seq":2}')).toEqual({ why: "it has no log, seq and digest, which every receipt has" });
  expect(receiptIn("x".repeat(70_000))).toEqual({ why: "it is larger than any receipt (64 KiB)" });
});
