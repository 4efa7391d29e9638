// What a reader chose for this browser: how times look, and light or dark.

import { effect, signal } from "@preact/signals";

export type TimeForm = "local" | "utc" | "relative";
export type Theme = "auto" | "light" | "dark";

const read = <T extends string>(name: string, allowed: readonly T[], usual: T): T => {
  try {
    const value = localStorage.getItem(`teamlog.${name}`);
    return allowed.find((one) => one === value) ?? usual;
  } catch {
    return usual;
  }
};

const write = (name: string, value: string): void => {
  try {
    localStorage.setItem(`teamlog.${name}`, value);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
};

export const TIME_FORMS: readonly TimeForm[] = ["relative", "local", "utc"];
export const THEMES: readonly Theme[] = ["auto", "light", "dark"];

export const timeForm = signal<TimeForm>(read("time", TIME_FORMS, "relative"));
export const theme = signal<Theme>(read("theme", THEMES, "auto"));

if (typeof document !== "undefined") {
  effect(() => write("time", timeForm.value));
  effect(() => {
    write("theme", theme.value);
    if (theme.value === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme.value;
  });
}
