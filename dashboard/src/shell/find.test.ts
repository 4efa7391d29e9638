import { describe, expect, it } from "vitest";
import { queryOf } from "./find.ts";

describe("the query of a typed text", () => {
  it("finds the beginnings of an unfinished last word", () => {
    expect(queryOf("lo")).toBe("lo*");
    expect(queryOf("by:dev lo")).toBe("by:dev lo*");
    expect(queryOf("-wör")).toBe("-wör*");
  });
  it("leaves finished words, fields and quotes alone", () => {
    for (const text of ["by:dev", '"exact words"', "log*"]) expect(queryOf(text)).toBe(text);
    expect(queryOf("login ")).toBe("login");
  });
  it("is empty for less than two characters", () => {
    for (const text of ["", " ", "l", " l "]) expect(queryOf(text)).toBe("");
  });
});
