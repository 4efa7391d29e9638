// A run of the bootstrap contract: its state in the drawing, its checklist, steps that are forbidden now, and the
// result of a hypothetical report.

import { commandOf, CopyCommand, Empty, Failed, go, Link, param, readingOf, Shown, useRead, When } from "../page.tsx";
import { ExplainBootstrap } from "./explain-bootstrap.tsx";
import { MachineDrawn, type Machine } from "./machine.tsx";

interface RunListed {
  run: string;
  state: string;
  case: string | null;
  team_name: string | null;
  breaches: number;
  started_at: string;
  updated_at: string;
}

interface RunShown {
  run: string;
  state: string;
  checklist: { number: number; step: string; status: string }[];
  next: string[];
  forbidden: string[];
  case: string | null;
  team_name: string | null;
  domains: string[];
  core_ready: Record<string, boolean>;
  launches: number;
  blocked: string | null;
  round1_complete: boolean;
  synthesis: string;
  breaches: number;
  last_breach: {
    code: string;
    event: string;
    at_state: string;
    rolled_back_to: string | null;
    why: string;
    seq: number;
  } | null;
  due_at: string | null;
  trace_id: string | null;
  started_at: string;
  updated_at: string;
  seq: number;
}

export function BootstrapRun({ machine }: { machine: Machine }) {
  const list = useRead<{ runs: RunListed[] }>("/v1/bootstrap", { limit: 50 }, { on: ["bootstrap_"] });
  const run = param("run") ?? list.data?.runs[0]?.run ?? null;
  const shown = useRead<RunShown>(
    run === null ? null : `/v1/bootstrap/${encodeURIComponent(run)}`,
    {},
    { on: ["bootstrap_"] },
  );
  const step = param("step");
  const error = list.error ?? shown.error;
  if (error && !list.data) return <Failed error={error} again={list.reload} />;
  if (!list.data) return <div aria-busy="true" />;
  if (run === null) {
    return (
      <>
        <MachineDrawn machine={machine} here={[]} />
        <Empty title="No run" command={commandOf("bootstrap", "start", "TEAM")}>
          No run of the bootstrap contract has begun.
        </Empty>
      </>
    );
  }
  const data = shown.data;
  return (
    <>
      {list.data.runs.length > 1 && (
        <label class="tools">
          Run{" "}
          <select value={run} onChange={(event) => go({ run: event.currentTarget.value, step: null })}>
            {list.data.runs.map((each) => (
              <option key={each.run} value={each.run}>
                {each.run}: {each.state}
              </option>
            ))}
          </select>
        </label>
      )}
      {data && (
        <>
          <RunSummary data={data} />
          <MachineDrawn
            machine={machine}
            here={[data.state]}
            next={data.next}
            chosen={step}
            onStep={(by) => go({ step: by === step ? null : by }, { replace: true })}
          />
          {step && <ExplainBootstrap key={step} event={step} run={run} />}
          <div class="two">
            <section class="part">
              <header class="part-head">
                <h2>Checklist</h2>
                <CopyCommand line={readingOf("bootstrap", "show", "TEAM", "--run", run)} />
              </header>
              <ol class="checklist">
                {data.checklist.map((each) => (
                  <li key={each.number} class={`check-${each.status}`}>
                    <span class="check-sign" aria-hidden="true">
                      {SIGNS[each.status] ?? "○"}
                    </span>
                    {each.step} <span class="mild">{each.status}</span>
                  </li>
                ))}
              </ol>
            </section>
            <section class="part">
              <h2>Forbidden now</h2>
              {data.forbidden.length === 0 ? (
                <p class="mild">Nothing is forbidden in this state.</p>
              ) : (
                <ul class="forbidden">
                  {data.forbidden.map((each) => (
                    <li key={each}>{each}</li>
                  ))}
                </ul>
              )}
              {data.last_breach && <Breach breach={data.last_breach} count={data.breaches} />}
            </section>
          </div>
        </>
      )}
    </>
  );
}

const SIGNS: Readonly<Record<string, string>> = { done: "✓", next: "▸", open: "○", blocked: "‖" };

function RunSummary({ data }: { data: RunShown }) {
  const ready = Object.entries(data.core_ready);
  return (
    <p class="summary">
      Run <Shown text={data.run} /> is in <b>{data.state}</b> since <When time={data.updated_at} />
      {data.case && <> · case {data.case}</>}
      {data.team_name && (
        <>
          {" · "}team <Shown text={data.team_name} />
        </>
      )}
      {data.domains.length > 0 && (
        <>
          {" · "}
          <Shown text={data.domains.join(", ")} />
        </>
      )}
      {data.launches > 0 && (
        <>
          {" · "}core: {ready.map(([who, yes]) => `${who} ${yes ? "✓" : "○"}`).join(", ")}
        </>
      )}
      {data.due_at && (
        <>
          {" · "}times out <When time={data.due_at} />
        </>
      )}
      {data.trace_id && (
        <>
          {" · "}
          <Link panel="trace" params={{ id: data.trace_id }}>
            Trace <Shown text={data.trace_id} />
          </Link>
        </>
      )}
      {data.blocked && (
        <span class="warned">
          {" · "}! no team could be launched: <Shown text={data.blocked} />
        </span>
      )}
    </p>
  );
}

function Breach({ breach, count }: { breach: NonNullable<RunShown["last_breach"]>; count: number }) {
  return (
    <div class="ev-note">
      <p>
        ! {count === 1 ? "One violation" : `${count} violations`} of the contract, the last one at{" "}
        <Link panel={null} params={{ at: breach.seq }}>
          #{breach.seq}
        </Link>
        :
      </p>
      <p>
        <code>{breach.code}</code>
      </p>
      <p>
        <Shown text={breach.why} />
        {breach.rolled_back_to && `. The run fell back from ${breach.at_state} to ${breach.rolled_back_to}.`}
      </p>
    </div>
  );
}
