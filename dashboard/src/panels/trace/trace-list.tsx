// The list of all traces. The trace of the newest event comes first.

import { commandOf, Empty, Failed, go, Link, More, Panel, param, readingOf, Shown, useRead, When } from "../page.tsx";
import { duration } from "./scale.ts";
import { outcomeOf } from "./outcome.ts";
import { useState } from "preact/hooks";

interface Traces {
  traces: {
    trace_id: string;
    title?: string;
    first_at: string;
    last_at: string;
    span_ms: number;
    events: number;
    events_more?: boolean;
    agents: string[];
    outcome: string;
  }[];
  count: number;
  more: boolean;
}

/** Largest number of traces that the daemon lists. */
const MOST = 200;

export function TraceList() {
  const [limit, setLimit] = useState(50);
  const { data, error, reload } = useRead<Traces>(
    "/v1/traces",
    { limit },
    { on: (event) => event.trace_id !== undefined },
  );
  if (error && !data) return <Failed error={error} again={reload} />;
  const text = (param("q") ?? "").toLowerCase();
  const outcome = param("outcome");
  const all = data?.traces ?? [];
  const outcomes = [...new Set([...all.map((trace) => trace.outcome), ...(outcome === null ? [] : [outcome])])];
  const traces = all.filter(
    (trace) =>
      (outcome === null || trace.outcome === outcome) &&
      [trace.trace_id, trace.title ?? "", ...trace.agents].some((part) => part.toLowerCase().includes(text)),
  );
  const longest = Math.max(1, ...traces.map((trace) => trace.span_ms));
  return (
    <Panel title="Traces" command={readingOf("trace", "TEAM", "--limit", limit)} busy={!data}>
      {data?.traces.length === 0 && (
        <Empty
          title="No traces"
          command={commandOf(
            "task-assign",
            "TEAM",
            "--from",
            "lead",
            "--to",
            "ada",
            "--task-id",
            "T-1",
            "--subject",
            "Fix it",
            "--trace-id",
            "tr-1",
          )}
        >
          No event names a trace yet. Whatever is recorded under one <code>--trace-id</code> becomes a story.
        </Empty>
      )}
      {all.length > 0 && (
        <div class="tools">
          <input
            type="search"
            aria-label="Search traces"
            placeholder="Title, trace or agent"
            value={param("q") ?? ""}
            onInput={(event) => go({ q: event.currentTarget.value || null }, { replace: true })}
          />
          <div class="choice" role="group" aria-label="Outcome">
            {outcomes.map((name) => (
              <button
                key={name}
                type="button"
                aria-pressed={name === outcome}
                onClick={() => go({ outcome: name === outcome ? null : name })}
              >
                {outcomeOf(name).word} {all.filter((trace) => trace.outcome === name).length}
              </button>
            ))}
          </div>
        </div>
      )}
      {all.length > 0 && traces.length === 0 && <p class="mild">No trace of this list passes the filter.</p>}
      {traces.length > 0 && (
        <div class="table-frame" tabIndex={0} role="region" aria-label="List of traces">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Trace</th>
                <th scope="col">Outcome</th>
                <th scope="col">Last event</th>
                <th scope="col">Took</th>
                <th scope="col" class="end">
                  Events
                </th>
                <th scope="col">Agents</th>
              </tr>
            </thead>
            <tbody>
              {traces.map((trace) => {
                const look = outcomeOf(trace.outcome);
                return (
                  <tr key={trace.trace_id}>
                    <th scope="row">
                      <Link panel="trace" params={{ id: trace.trace_id }}>
                        <Shown text={trace.title ?? trace.trace_id} />
                      </Link>
                      {trace.title && (
                        <small class="mild">
                          {" "}
                          <Shown text={trace.trace_id} />
                        </small>
                      )}
                    </th>
                    <td>
                      <span class={`sign sign-${look.tone}`}>
                        {look.sign} {look.word}
                      </span>
                    </td>
                    <td>
                      <When time={trace.last_at} />
                    </td>
                    <td class="took">
                      <span class="took-bar" style={{ width: `${Math.max(1, (trace.span_ms / longest) * 100)}%` }} />
                      <span class="took-text">{duration(trace.span_ms * 1000)}</span>
                    </td>
                    <td class="end">
                      {trace.events.toLocaleString("en")}
                      {trace.events_more ? "+" : ""}
                    </td>
                    <td>
                      <Shown text={trace.agents.join(", ")} />
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {data?.more && limit < MOST && <More onMore={() => setLimit(MOST)}>Show older traces</More>}
    </Panel>
  );
}
