// The findings of the last `doctor` check.

import type { Examination, Health } from "../../api/types.ts";
import { byHealth, HEALTH, worstOf } from "./health.ts";
import { useJob, type Job } from "./job.ts";
import { commandOf, CopyCommand, Failed, Shown, When } from "../page.tsx";

type Looked = Examination & Job;

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
            ? "Not checked since the daemon started."
            : data?.state === "done" &&
              (data.failure ? (
                <b class="sign sign-bad">
                  ✕ The check failed: <Shown text={data.failure} />
                </b>
              ) : (
                <>
                  <Sign health={worstOf(data.checks)} />{" "}
                  <When time={data.finished_at} />
                </>
              ))}
      </p>
      {data && data.checks.length > 0 && !running && (
        <ul class="checks">
          {byHealth(data.checks).map((check) => (
            <li key={check.name}>
              <Sign health={check.status} /> <code>{check.name}</code> <Shown text={check.message} />
              {check.hint && (
                <p class="mild">
                  <Shown text={check.hint} />
                </p>
              )}
            </li>
          ))}
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

function Sign({ health }: { health: Health }) {
  const { tone, sign } = HEALTH[health];
  return (
    <b class={`sign sign-${tone}`}>
      {sign} {health}
    </b>
  );
}
