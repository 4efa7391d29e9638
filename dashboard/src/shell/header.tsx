// The bar at the top: the team, the rights of the session, the state of the stream, and the health of the log.

import type { JSX } from "preact";
import type { Verification } from "../api/types.ts";
import { connection, type Connection } from "../state/live.ts";
import { useQuery } from "../state/query.ts";
import { go, team, visit } from "../state/route.ts";
import { about, isRoot, session, teams } from "../state/session.ts";
import { theme, THEMES, timeForm, TIME_FORMS } from "../state/settings.ts";
import { Badge, Link, type Tone } from "../ui/parts.tsx";
import { visible } from "../ui/text.tsx";
import { Time } from "../ui/time.tsx";
import { open } from "./overlay.ts";

const STATES: Record<Connection, { tone: Tone; word: string; title: string }> = {
  connecting: { tone: "muted", word: "connecting", title: "Connecting to the daemon for new events" },
  live: { tone: "ok", word: "live", title: "New events appear at once" },
  lost: { tone: "warn", word: "lost, trying again", title: "The daemon does not answer; this page may be out of date" },
  "signed out": { tone: "error", word: "signed out", title: "The session ended; this page no longer updates" },
};

const ConnectionState = (): JSX.Element => {
  const state = STATES[connection.value];
  return (
    <span class={`state ${state.tone}`} role="status" title={state.title}>
      <i aria-hidden="true" /> {state.word}
    </span>
  );
};

/**
 * Shows the result of the last verification. Damage is always shown here, because users do not watch the page of
 * checks.
 */
const IntegrityState = (): JSX.Element => {
  const { data, error } = useQuery<Verification>("/v1/verify", {}, { every: 5000, always: true });
  const damaged = data?.ok === false || error?.code === "damaged";
  const unknown = error?.message ?? data?.failure;
  const view: { tone: Tone; word: string; title: string } = damaged
    ? { tone: "error", word: "damaged", title: data?.problems[0]?.message ?? error?.message ?? "The log is damaged" }
    : unknown !== undefined
      ? { tone: "warn", word: "not known", title: `The log could not be verified: ${unknown}` }
    : data === null || data.state === "never"
      ? { tone: "muted", word: "not verified", title: "Not verified since the daemon started" }
      : data.state === "running"
        ? { tone: "muted", word: "verifying", title: "Reading every byte of the log" }
        : { tone: "ok", word: "sound", title: "The last verification found no problem" };
  return (
    <Link to={{ panel: "integrity" }} class={`state ${view.tone}`} title={view.title}>
      <i aria-hidden="true" /> {view.word}
      {data?.state === "done" && !damaged && unknown === undefined && <span class="extra">, <Time value={data.finished_at} /></span>}
    </Link>
  );
};

const next = <T,>(all: readonly T[], one: T): T => all[(all.indexOf(one) + 1) % all.length] as T;

export const Header = (): JSX.Element => {
  const names = teams.value;
  const current = team.value;
  return (
    <header class="top">
      <a class="skip" href="#panel-title" onClick={(event) => {
        event.preventDefault();
        document.getElementById("panel-title")?.focus();
      }}>Skip to the panel</a>
      <Link to={isRoot.value ? "#/" : { panel: "crew" }} class="brand" title={about.value === null ? "teamlog" : `teamlog ${about.value.version}, ${about.value.data_root_name}`}>teamlog</Link>
      {isRoot.value && names.length > 0 ? (
        <select aria-label="Team" value={current} onChange={(event) => {
          const name = event.currentTarget.value;
          if (name === "") visit("#/");
          else go({ team: name, ...(current === "" ? { panel: "crew" } : {}), rest: [] });
        }}>
          <option value="">all teams</option>
          {names.map((name) => <option key={name} value={name}>{visible(name)}</option>)}
        </select>
      ) : current !== "" && <span class="team">{current}</span>}
      {session.value !== null && <Badge tone={session.value.scope === "act" ? "accent" : "plain"} title={session.value.scope === "act" ? "This session may make changes" : "This session only reads; run teamlog dashboard --act to make changes"}>{session.value.scope === "act" ? "may act" : "reads only"}</Badge>}
      {current !== "" && session.value !== null && <ConnectionState />}
      {current !== "" && session.value !== null && <IntegrityState />}
      <span class="space" />
      <button type="button" class="quiet" title="Format of times (t)" onClick={() => { timeForm.value = next(TIME_FORMS, timeForm.value); }}>
        Time: {{ relative: "ago", local: "local", utc: "UTC" }[timeForm.value]}
      </button>
      <button type="button" class="quiet" title="Light or dark colours" onClick={() => { theme.value = next(THEMES, theme.value); }}>
        Theme: {theme.value}
      </button>
      {session.value !== null && <button type="button" class="quiet" title="Find tasks, agents, traces, threads and panels" onClick={() => open("palette")}>Find <kbd>Ctrl-K</kbd></button>}
      <button type="button" class="quiet" aria-label="Keys" title="Keys" onClick={() => open("keys")}><kbd>?</kbd></button>
    </header>
  );
};
