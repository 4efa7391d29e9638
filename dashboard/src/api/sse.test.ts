import { describe, expect, it } from "vitest";
import { StreamParser } from "./sse.ts";

const WHOLE = ": hello\r\n\r\nretry: 1000\n\nid: 4\ndata: {\"seq\":4}\n\nevent: cut\nid: 7\ndata: a\ndata: b\n\nid: 9\ndata: last\r\ndata: line\r\n\r\n";

const all = (pieces: Iterable<string>): unknown[] => {
  const parser = new StreamParser();
  return [...pieces].flatMap((piece) => parser.push(piece));
};

const EVENTS = [
  { name: "message", id: "4", data: '{"seq":4}' },
  { name: "cut", id: "7", data: "a\nb" },
  { name: "message", id: "9", data: "last\nline" },
];

describe("StreamParser", () => {
  it("gives the same events however the stream is cut into pieces", () => {
    expect(all([WHOLE])).toEqual(EVENTS);
    for (let size = 1; size < 12; size += 1) {
      const pieces = Array.from({ length: Math.ceil(WHOLE.length / size) }, (_, index) => WHOLE.slice(index * size, (index + 1) * size));
      expect(all(pieces)).toEqual(EVENTS);
    }
  });

  it("keeps an event back until its empty line", () => {
    const parser = new StreamParser();
    expect(parser.push("id: 1\ndata: x\n")).toEqual([]);
    expect(parser.push("\n")).toEqual([{ name: "message", id: "1", data: "x" }]);
  });

  it("takes off one space behind the colon and no more, and knows fields without a value", () => {
    expect(all(["data:  two\ndata\ndata:none\n\n"])).toEqual([{ name: "message", id: "", data: " two\n\nnone" }]);
  });

  it("passes by a mark of byte order, comments, and what has no data", () => {
    expect(all(["\ufeff:a\nevent: x\n\ndata: y\n\n"])).toEqual([{ name: "message", id: "", data: "y" }]);
  });
});
