/** One server-sent event. */
export interface Frame {
  /** The field `event`, or `message` without this field. */
  name: string;
  data: string;
}

/** Parses a stream of server-sent events piece by piece. Each call returns the events that are complete. */
export class StreamParser {
  #rest = "";
  #name = "";
  #data: string[] = [];

  push(piece: string): Frame[] {
    const text = this.#rest + piece;
    const frames: Frame[] = [];
    let start = 0;
    for (;;) {
      const [end, next] = lineEnd(text, start);
      if (end === undefined) break;
      this.#line(text.slice(start, end), frames);
      start = next;
    }
    this.#rest = text.slice(start);
    return frames;
  }

  #line(line: string, frames: Frame[]): void {
    if (line === "") {
      if (this.#data.length > 0) frames.push({ name: this.#name || "message", data: this.#data.join("\n") });
      this.#name = "";
      this.#data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") this.#name = value;
    else if (field === "data") this.#data.push(value);
  }
}

/** Returns the end of the line that begins at `from`, and the start of the next line. A carriage return may be half of a line end. */
const lineEnd = (text: string, from: number): [end: number | undefined, next: number] => {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\n") return [at, at + 1];
    if (text[at] !== "\r") continue;
    if (at + 1 === text.length) break;
    return [at, text[at + 1] === "\n" ? at + 2 : at + 1];
  }
  return [undefined, from];
};
