// Parser for server-sent events, fed with pieces of text. The page does not use the browser's EventSource, because
// EventSource cannot send the header with the session token.

export interface ServerEvent {
  /** The name in the field `event`, or `message` without this field. */
  name: string;
  /** The last id in the stream, which is a seq. */
  id: string;
  data: string;
}

/** Parses a stream piece by piece. Each call returns the events that are complete. */
export class StreamParser {
  #rest = "";
  #name = "";
  #data: string[] = [];
  #id = "";
  #first = true;

  push(piece: string): ServerEvent[] {
    let text = this.#rest + piece;
    if (this.#first && text.length > 0) {
      this.#first = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    const events: ServerEvent[] = [];
    let start = 0;
    for (;;) {
      const end = nextLineEnd(text, start);
      // A carriage return at the end may be the first half of a line end, so wait for the next piece.
      if (end < 0 || (text[end] === "\r" && end === text.length - 1)) break;
      this.#line(text.slice(start, end), events);
      start = text[end] === "\r" && text[end + 1] === "\n" ? end + 2 : end + 1;
    }
    this.#rest = text.slice(start);
    return events;
  }

  #line(line: string, events: ServerEvent[]): void {
    if (line === "") {
      if (this.#data.length > 0) {
        events.push({ name: this.#name || "message", id: this.#id, data: this.#data.join("\n") });
      }
      this.#name = "";
      this.#data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") this.#name = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
  }
}

const nextLineEnd = (text: string, from: number): number => {
  const feed = text.indexOf("\n", from);
  const back = text.indexOf("\r", from);
  if (feed < 0) return back;
  return back < 0 ? feed : Math.min(feed, back);
};
