// Settings of the user in this browser: the format of times, and the light or dark theme.

import { computed, effect, signal } from "@preact/signals";

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
    // Without storage, the setting is lost when the page is closed.
  }
};

export const TIME_FORMS: readonly TimeForm[] = ["relative", "local", "utc"];
export const THEMES: readonly Theme[] = ["auto", "light", "dark"];

export const timeForm = signal<TimeForm>(read("time", TIME_FORMS, "relative"));
export const theme = signal<Theme>(read("theme", THEMES, "auto"));

const dark = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)");
const system = signal(dark?.matches ?? false);
dark?.addEventListener("change", () => {
  system.value = dark.matches;
});

/** The current theme: the user's choice, or else the theme of the system. */
export const look = computed<"light" | "dark">(() => (theme.value === "auto" ? (system.value ? "dark" : "light") : theme.value));

if (typeof document !== "undefined") {
  effect(() => write("time", timeForm.value));
  effect(() => write("theme", theme.value));
  effect(() => {
    document.documentElement.dataset["theme"] = look.value;
  });
}
