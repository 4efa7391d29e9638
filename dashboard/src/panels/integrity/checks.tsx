// What `doctor` found when it last looked.

import { useJob, type Job } from "./job.ts";
import { commandOf, CopyCommand, Failed, Shown, When } from "../page.tsx";

interface Looked extends Job {
  healthy?: boolean;
  checks: { name: string; status: string; message: string; hint?: string | null }[];
}

const SIGNS: Readonly<Record<string, { tone: string; sign: string }>> = {
  ok: { tone: "good", sign: "✓" },
  pass: { tone: "good", sign: "✓" },
  warn: { tone: "warn", sign: "!" },
  warning: { tone: "warn", sign: "!" },
  fail: { tone: "bad", sign: "✕" },
  error: { tone: "bad", sign: "✕" },
};

export function Checks() {
  const { query, error, running, why, start } = useJob<Looked>("/v1/doctor");
  const data = query.data;
  return (
    <section class="part box">
      <header class="part-head">
        <h2>Doctor</h2>
        <CopyCommand line={commandOf("doctor", "check", "TEAM")} />
      </header>
      {query.error && !data && <Failed error={query.error} again={query.reload} />}
      {error !== null && <Failed error={error} />}
      <p role="status">
        {running
          ? "Looking…"
          : data?.state === "never"
            ? "It has not looked since the daemon started."
            : data?.state === "done" &&
              (data.failure ? (
                <b class="sign sign-bad">
                  ✕ It could not be done: <Shown text={data.failure} />
                </b>
              ) : (
                <>
                  <b class={`sign sign-${data.healthy ? "good" : "bad"}`}>
                    {data.healthy ? "✓ healthy" : "✕ unhealthy"}
                  </b>{" "}
                  <When time={data.finished_at} />
                </>
              ))}
      </p>
      {data && data.checks.length > 0 && !running && (
        <ul class="checks">
          {[...data.checks]
            .sort((a, b) => rank(b.status) - rank(a.status))
            .map((check) => {
              const look = SIGNS[check.status] ?? { tone: "idle", sign: "·" };
              return (
                <li key={check.name}>
                  <b class={`sign sign-${look.tone}`}>
                    {look.sign} {check.status}
                  </b>{" "}
                  <code>{check.name}</code> <Shown text={check.message} />
                  {check.hint && (
                    <p class="mild">
                      <Shown text={check.hint} />
                    </p>
                  )}
                </li>
              );
            })}
        </ul>
      )}
      <p class="tools">
        <button type="button" disabled={running || why !== null} onClick={start}>
          {data?.state === "done" ? "Look again" : "Look now"}
        </button>
        {why !== null && <span class="mild">{why}</span>}
      </p>
    </section>
  );
}

// What is wrong stands first.
function rank(status: string): number {
  return { bad: 2, warn: 1 }[SIGNS[status]?.tone ?? ""] ?? 0;
}
