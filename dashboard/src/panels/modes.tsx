// The state machines of a team as drawings: the bootstrap contract and the life of each mode. Shows the current
// state, and explains why a step would be refused.

import { useMemo } from "preact/hooks";
import type { PanelEntry } from "./index.ts";
import { commandOf, Empty, Failed, go, Link, Panel, readingOf, Shown, subject, useRead, When } from "./page.tsx";
import { BootstrapRun } from "./modes/bootstrap-run.tsx";
import { ExplainMode } from "./modes/explain-mode.tsx";
import { MachineDrawn, type Machine } from "./modes/machine.tsx";

export interface ModeShown {
  mode: string;
  scope: string;
  active: boolean;
  current_phase: string | null;
  updated_at: string;
  seq: number;
  session_id?: string;
  state: Record<string, unknown>;
}

interface ModeList {
  modes: ModeShown[];
  next_cursor: string | null;
}

/** Maximum number of sessions that are read in addition to sessions with an active mode. */
const SESSIONS = 200;

function Modes() {
  const machines = useRead<{ machines: Machine[] }>("/v1/machines", {}, { always: true });
  const modes = useRead<ModeList>("/v1/modes", { allSessions: true, limit: SESSIONS }, { on: ["mode_"] });
  const chosen = subject() ?? "bootstrap";
  const error = machines.error ?? modes.error;
  if (error && !(machines.data && modes.data)) return <Failed error={error} again={machines.reload} />;
  const machine = machines.data?.machines.find((each) => each.name === chosen) ?? machines.data?.machines[0];
  const isBootstrap = machine?.name === "bootstrap";
  const command = isBootstrap ? readingOf("bootstrap", "show", "TEAM") : readingOf("mode", "list", "TEAM", "--all-sessions");
  return (
    <Panel title="Modes and bootstrap" command={command} busy={!machines.data || !modes.data}>
      {machines.data && modes.data && machine && (
        <>
          <nav class="choice choice-many" aria-label="Machines">
            {machines.data.machines.map((each) => {
              const on = modes.data?.modes.some((state) => state.active && state.mode === each.name) ?? false;
              return (
                <button
                  key={each.name}
                  type="button"
                  aria-pressed={each.name === machine.name}
                  onClick={() => go({ id: each.name, run: null, step: null })}
                >
                  {on && (
                    <>
                      <span aria-hidden="true">● </span>
                      <span class="offscreen">active: </span>
                    </>
                  )}
                  {each.name === "bootstrap" ? "bootstrap" : each.name}
                </button>
              );
            })}
          </nav>
          {isBootstrap ? (
            <BootstrapRun machine={machine} />
          ) : (
            <OneMode
              machine={machine}
              states={modes.data.modes.filter((each) => each.mode === machine.name)}
              active={modes.data.modes.filter((each) => each.active)}
              more={modes.data.next_cursor !== null}
            />
          )}
        </>
      )}
    </Panel>
  );
}

interface OneModeProps {
  machine: Machine;
  states: ModeShown[];
  /** The active mode states at the root and in all sessions. */
  active: ModeShown[];
  /** True if some sessions were not read. */
  more: boolean;
}

function OneMode({ machine, states, active, more }: OneModeProps) {
  const here = useMemo(() => [...new Set(states.map((state) => placeOf(state, machine)))], [states, machine]);
  return (
    <>
      <MachineDrawn machine={machine} here={here} />
      {states.length === 0 ? (
        <Empty
          title="Never started"
          command={commandOf("mode", "start", "TEAM", machine.name, "--task", "Purpose")}
        >
          {machine.title || machine.name} was never started in this team.
        </Empty>
      ) : (
        <div class="table-frame" tabIndex={0} role="region" aria-label="States">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Where</th>
                <th scope="col">State</th>
                <th scope="col">Phase</th>
                <th scope="col">Since</th>
                <th scope="col">Event</th>
                <th scope="col">Why</th>
              </tr>
            </thead>
            <tbody>
              {states.map((state) => (
                <tr key={state.session_id ?? "root"}>
                  <th scope="row">
                    <Scope state={state} />
                  </th>
                  <td>
                    <span class={`sign sign-${state.active ? "open" : "idle"}`}>
                      {state.active ? "● active" : "○ ended"}
                    </span>
                  </td>
                  <td>
                    <Shown text={state.current_phase ?? ""} />
                  </td>
                  <td>
                    <When time={state.updated_at} />
                  </td>
                  <td>
                    <Link panel={null} params={{ at: state.seq }}>
                      #{state.seq}
                    </Link>
                  </td>
                  <td class="history-said">
                    <Shown text={why(state)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="summary">
        {active.length === 0 ? "No mode is active." : "Active: "}
        {active.map((state, index) => (
          <span key={`${state.mode} ${state.session_id ?? ""}`}>
            {index > 0 && ", "}
            <Link panel="modes" params={{ id: state.mode }}>
              {state.mode}
            </Link>{" "}
            <Scope state={state} />
          </span>
        ))}
      </p>
      {more && <p class="mild">There are more sessions without an active mode; the copied command lists them.</p>}
      <ExplainMode mode={machine.name} />
    </>
  );
}

function Scope({ state }: { state: ModeShown }) {
  if (!state.session_id) return <>root</>;
  return (
    <>
      session <Shown text={state.session_id} />
    </>
  );
}

function why(state: ModeShown): string {
  for (const name of [
    "auto_completed_reason",
    "completion_note",
    "transition_message",
    "error",
    "task_description",
    "run_outcome",
  ]) {
    const said = state.state[name];
    if (typeof said === "string" && said !== "") return said;
  }
  return "";
}

// Finds the state of the machine that shows a mode: the mode's phase if a state has this name, else a state for the activity or the outcome
// of the mode. The machine has its names from the tables of the rules.
function placeOf(state: ModeShown, machine: Machine): string {
  const names = new Set(machine.states.map((each) => each.name));
  const phase = state.current_phase ?? "";
  if (names.has(phase)) return phase;
  if (state.active) return ["active", "running"].find((name) => names.has(name)) ?? machine.initial;
  const outcome = state.state["lifecycle_outcome"] ?? state.state["run_outcome"];
  const words: Record<string, string[]> = {
    finished: ["completed", "finished", "ended"],
    finish: ["completed", "finished", "ended"],
    failed: ["failed", "ended"],
    userinterlude: ["cancelled", "canceled", "ended"],
    cancelled: ["cancelled", "canceled", "ended"],
  };
  const found = (words[String(outcome)] ?? []).find((name) => names.has(name));
  return found ?? ["inactive", "ended", "completed"].find((name) => names.has(name)) ?? machine.initial;
}

export const panel: PanelEntry = { id: "modes", title: "Modes", order: 70, key: "m", component: Modes };
