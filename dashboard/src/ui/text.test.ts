import { describe, expect, it } from "vitest";
import { readInvitation } from "../state/session.ts";
import { found } from "../shell/find.ts";
import { quoted } from "./command.tsx";
import { cut, partsOf } from "./text.tsx";
import { clockOf, countdownOf, spanOf } from "./time.tsx";

describe("text of others", () => {
  it("shows what turns or hides text as marks", () => {
    expect(partsOf("a\u202eb\u0000c\u200bd")).toEqual([
      { text: "a", mark: null },
      { text: "U+202E", mark: "U+202E" },
      { text: "b", mark: null },
      { text: "␀", mark: "U+0000" },
      { text: "c", mark: null },
      { text: "U+200B", mark: "U+200B" },
      { text: "d", mark: null },
    ]);
  });

  it("shows what has no width as marks", () => {
    for (const hidden of ["\u{e0041}", "\u{e0100}", "\u3164", "\u2800", "\u034f", "\ufe0f", "\u200d"]) expect(partsOf(`a${hidden}`)[1]?.mark, hidden).toBe(`U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`);
  });

  it("leaves markup, other alphabets and pictures as they are", () => {
    for (const text of ["<img onerror=alert(1)>", "שלום", "naïve 日本", "a 👍 b", "❤️", "❤️‍🔥 👩🏽‍🚀 1️⃣", "می‌خواهم"]) expect(partsOf(text).map((part) => part.text).join("")).toBe(text);
    expect(partsOf("<b>").every((part) => part.mark === null)).toBe(true);
  });

  it("keeps line ends where lines are asked for, and shows them where not", () => {
    expect(partsOf("a\nb", true)).toEqual([{ text: "a\nb", mark: null }]);
    expect(partsOf("a\nb").map((part) => part.text)).toEqual(["a", "↵", "b"]);
  });

  it("is never cut within a character", () => {
    expect(cut("ab👍c", 3)).toBe("ab");
    expect(cut("ab👍c", 4)).toBe("ab👍");
  });
});

describe("commands", () => {
  it("quote what a shell would read", () => {
    expect(["T-1", "it's", "a b", "$(x)", ""].map(quoted)).toEqual(["T-1", "'it'\\''s'", "'a b'", "'$(x)'", "''"]);
  });
});

describe("times", () => {
  it("are told in the largest units that matter", () => {
    expect([4_000, 61_000, 3_600_000, 7_500_000, 200_000_000].map(spanOf)).toEqual(["4 s", "1 min", "1 h", "2 h 5 min", "2 d"]);
    expect([299_501, 900_400, 0, 3_723_000].map(countdownOf)).toEqual(["5:00", "15:00", "0:00", "1:02:03"]);
  });

  it("have their date where it is another day", () => {
    const time = Date.UTC(2026, 10, 25, 9, 5, 7);
    expect(clockOf(time, time, true)).toBe("09:05:07Z");
    expect(clockOf(time, time + 86_400_000, true)).toBe("2026-11-25 09:05:07Z");
  });
});

describe("what is pasted to sign in", () => {
  const here = "http://127.0.0.1:1234";
  it("is a code, or an address with one", () => {
    expect(readInvitation(" abcdef0123 ", here)).toEqual({ code: "abcdef0123", to: null, origin: null });
    expect(readInvitation(`${here}/#code=abc&to=/board`, here)).toEqual({ code: "abc", to: "/board", origin: null });
    expect(readInvitation("http://127.0.0.1:9/#code=abc", here)).toEqual({ code: "abc", to: null, origin: "http://127.0.0.1:9" });
  });
  it("is nothing else, and no address of elsewhere", () => {
    for (const text of ["", "short", "a code with spaces", `${here}/#x=1`, "https://example.org/#code=abc", "javascript:x#code=abc", "http://127.0.0.1.example.org/#code=abc"]) expect(readInvitation(text, here)).toBeNull();
  });
});

describe("finding", () => {
  it("puts the id that was typed first, and wants every word", () => {
    const entries = [
      { noun: "task", id: "12", title: "fix 1" },
      { noun: "task", id: "1", title: "parser" },
      { noun: "agent", id: "ada", title: "" },
    ];
    expect(found(entries, "1", 9).map((one) => one.id)).toEqual(["1", "12"]);
    expect(found(entries, "1 pars", 9).map((one) => one.id)).toEqual(["1"]);
    expect(found(entries, "zzz", 9)).toEqual([]);
  });
});
