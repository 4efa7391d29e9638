// Spreads the events of an export over a morning. Each event gets a later time and a matching id (RFC 9562, section
// 6.2, method 3). Times in its payload keep their distance to the time of the event.

import { readFileSync } from "node:fs";

const START = Date.UTC(2026, 2, 2, 8, 0, 0) * 1000;
/** Minutes between events. The list is repeated. */
const GAPS = [0.4, 1.1, 2.7, 0.8, 3.9, 1.6, 0.3, 5.2];
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

const micros = (text) => Date.parse(`${text.slice(0, 19)}Z`) * 1000 + Number((/\.(\d+)/.exec(text)?.[1] ?? "").padEnd(6, "0").slice(0, 6));
const text = (time) => `${new Date(Math.floor(time / 1000)).toISOString().slice(0, 19)}.${String(time % 1e6).padStart(6, "0")}Z`;

function id(time, old) {
  const ms = Math.floor(time / 1000).toString(16).padStart(12, "0");
  const part = Math.floor(((time % 1000) * 4096) / 1000).toString(16).padStart(3, "0");
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${part}-${old.slice(19)}`;
}

const events = readFileSync(0, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const ids = new Map();
let time = START;
events.forEach((event, index) => {
  time += Math.round(GAPS[index % GAPS.length] * 60e6) + 137 * index;
  ids.set(event.id, { id: id(time, event.id), from: micros(event.created_at), to: time });
});
for (const event of events) {
  const { from, to } = ids.get(event.id);
  let line = JSON.stringify(event).replace(TIME, (found) => (micros(found) < START ? found : text(to + micros(found) - from)));
  for (const [old, { id }] of ids) line = line.replaceAll(old, id);
  process.stdout.write(`${line}\n`);
}
