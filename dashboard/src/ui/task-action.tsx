// Actions on a task: a menu, and for each action a dialog that shows the equivalent command.

import { signal } from "@preact/signals";
import { autoUpdate, computePosition, flip, offset, shift } from "@floating-ui/dom";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import { post } from "../api/client.ts";
import type { Status, Task, TaskStatus } from "../api/types.ts";
import { useQuery } from "../state/query.ts";
import { whyNotAct } from "../state/session.ts";
import { go } from "../state/route.ts";
import { commandOf } from "./command.tsx";
import { ActionDialog } from "./dialog.tsx";
import { Text } from "./text.tsx";

export type Verb = "claim" | "complete" | "fail" | "release" | "cancel" | "reopen";

const WORDS: Record<Verb, { menu: string; title: string; field: string | null }> = {
  claim: { menu: "Claim for an agent…", title: "Claim", field: null },
  complete: { menu: "Complete…", title: "Complete", field: "Result" },
  fail: { menu: "Give up as failed…", title: "Fail", field: "Why" },
  release: { menu: "Give back…", title: "Release", field: null },
  cancel: { menu: "Cancel the task…", title: "Cancel the task", field: "Why" },
  reopen: { menu: "Reopen…", title: "Reopen", field: null },
};

/** Returns the actions that are useful for a task in its current state. The daemon decides if an action is allowed. */
export const verbsOf = (task: Task): Verb[] => {
  if (task.status === "completed" || task.status === "canceled") return [];
  if (task.status === "failed") return ["reopen"];
  const held = task.status === "in_progress" && task.epoch > 0;
  const lapsed = task.lease !== null && Date.parse(task.lease.expiresAt) <= Date.now();
  const verbs: Verb[] = held && !lapsed ? ["complete", "fail", "release"] : task.status === "blocked" ? [] : ["claim"];
  return [...verbs, "cancel"];
};

/** Returns the action for dragging a task to a column, or null if there is none. */
export const verbTo = (task: Task, column: TaskStatus): Verb | null => {
  const wanted: Partial<Record<TaskStatus, readonly Verb[]>> = {
    pending: ["release", "reopen"],
    assigned: ["release", "reopen"],
    in_progress: ["claim"],
    completed: ["complete"],
    failed: ["fail"],
    canceled: ["cancel"],
  };
  const can = verbsOf(task);
  return wanted[column]?.find((verb) => can.includes(verb)) ?? null;
};

interface MenuProps {
  task: Task;
  anchor: HTMLElement;
  onPick: (verb: Verb) => void;
  onClose: () => void;
}

export const TaskMenu = ({ task, anchor, onPick, onClose }: MenuProps): JSX.Element => {
  const box = useRef<HTMLDivElement>(null);
  const why = whyNotAct.value;
  useLayoutEffect(() => {
    const menu = box.current;
    if (menu === null) return;
    const stop = autoUpdate(anchor, menu, () => {
      void computePosition(anchor, menu, { strategy: "fixed", placement: "bottom-end", middleware: [offset(4), flip(), shift({ padding: 8 })] }).then(({ x, y }) => {
        menu.style.left = `${x}px`;
        menu.style.top = `${y}px`;
      });
    });
    menu.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
    const outside = (event: Event): void => {
      if (event.target instanceof Node && !menu.contains(event.target)) onClose();
    };
    window.addEventListener("pointerdown", outside);
    return () => {
      stop();
      window.removeEventListener("pointerdown", outside);
    };
  }, [anchor]);
  const move = (by: number): void => {
    const items = [...(box.current?.querySelectorAll<HTMLElement>("button:not(:disabled)") ?? [])];
    const here = items.indexOf(document.activeElement as HTMLElement);
    items[(here + by + items.length) % items.length]?.focus();
  };
  return (
    <div
      ref={box}
      class="popup"
      role="menu"
      aria-label={`Task ${task.id}`}
      onKeyDown={(event) => {
        if (event.key === "Escape" || event.key === "Tab") {
          onClose();
          anchor.closest<HTMLElement>(".card")?.focus();
        } else if (event.key === "ArrowDown") move(1);
        else if (event.key === "ArrowUp") move(-1);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <button type="button" role="menuitem" onClick={() => go({ panel: "task", rest: [task.id] })}>Open</button>
      {task.traceId !== undefined && <button type="button" role="menuitem" onClick={() => go({ panel: "trace", rest: [task.traceId ?? ""] })}>Open its trace</button>}
      <button type="button" role="menuitem" onClick={() => go({ panel: "live", query: { task: task.id } })}>Its events</button>
      {verbsOf(task).map((verb) => (
        <button key={verb} type="button" role="menuitem" disabled={why !== null} title={why ?? undefined} onClick={() => onPick(verb)}>{WORDS[verb].menu}</button>
      ))}
      {why !== null && <p class="sub">{why}</p>}
    </div>
  );
};

/** Returns true if the action ends the claim of an agent, so that the command needs `--force`. */
const endsClaim = (verb: Verb, task: Task): boolean =>
  verb !== "claim" && verb !== "reopen" && task.status === "in_progress" && task.epoch > 0;

const commandFor = (verb: Verb, task: Task, agent: string, text: string): string => {
  const claim = endsClaim(verb, task) ? (["--epoch", task.epoch, "--force"] as const) : [];
  const field = ({ complete: "--result", fail: "--error", cancel: "--reason" } as Partial<Record<Verb, string>>)[verb];
  const said = field !== undefined && text !== "" ? [field, text] : [];
  return commandOf("task", verb, "TEAM", task.id, "--worker", agent || "AGENT", ...claim, ...said);
};

/** Default duration of a lease in milliseconds. It equals the default of the command. */
const LEASE_MS = 900_000;

const carryOut = (verb: Verb, task: Task, agent: string, text: string): Promise<unknown> => {
  const path = `/v1/tasks/${encodeURIComponent(task.id)}`;
  const claim = endsClaim(verb, task) ? { epoch: task.epoch, force: true } : {};
  const said = (name: string): Record<string, string> => (text === "" ? {} : { [name]: text });
  switch (verb) {
    case "claim": return post(`${path}/claim`, { agentId: agent, ttlMs: LEASE_MS });
    case "complete": return post(`${path}/complete`, { agentId: agent, ...claim, ...said("result") });
    case "fail": return post(`${path}/fail`, { agentId: agent, ...claim, ...said("error") });
    case "release": return post("/v1/api/release-task-claim", { task_id: task.id, worker: agent, ...claim });
    case "cancel": return post("/v1/api/cancel-task", { task_id: task.id, worker: agent, ...claim, ...said("reason") });
    case "reopen": return post("/v1/api/reopen-task", { task_id: task.id, worker: agent });
  }
};

/** The agent that acted last on this page. */
const actor = signal("");

export const TaskAction = ({ task, verb, onClose }: { task: Task; verb: Verb; onClose: () => void }): JSX.Element => {
  const status = useQuery<Status>("/v1/status").data;
  const [agent, setAgent] = useState(verb === "claim" ? (task.owner ?? "") : actor.value);
  const [text, setText] = useState("");
  const { title, field } = WORDS[verb];
  const names = [...(task.owner === null ? [] : [task.owner]), ...(status?.members ?? []), "leader-fixed"];
  return (
    <ActionDialog
      title={`${title}: task ${task.id}`}
      verb={title}
      command={commandFor(verb, task, agent, text)}
      ready={agent !== ""}
      run={() => {
        if (verb !== "claim") actor.value = agent;
        return carryOut(verb, task, agent, text);
      }}
      onClose={onClose}
    >
      <p><Text value={task.title} max={200} /></p>
      <label>
        <span>{verb === "claim" ? "Agent" : "Recorded under"}</span>
        <input type="text" list="agents" required autocomplete="off" spellcheck={false} value={agent} onInput={(event) => setAgent(event.currentTarget.value)} />
        <datalist id="agents">
          {[...new Set(names)].map((name) => <option key={name} value={name} />)}
        </datalist>
      </label>
      {field !== null && (
        <label>
          <span>{field}</span>
          <input type="text" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      )}
      {endsClaim(verb, task) && <p class="sub">{task.lease?.holder ?? task.owner ?? "Its holder"} holds it under epoch {task.epoch}; the event says that it was forced.</p>}
    </ActionDialog>
  );
};
