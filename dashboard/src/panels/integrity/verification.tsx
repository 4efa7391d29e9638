// The last verification. On request, the daemon reads every byte of the log.

import { bytes } from "./bytes.ts";
import { useJob, type Job } from "./job.ts";
import { commandOf, CopyCommand, Failed, Link, Shown, When } from "../page.tsx";

interface Verified extends Job {
  progress?: { bytes: number; bytes_total: number };
  ok?: boolean;
  events?: number;
  problems: { kind: string; severity: string; file?: string; offset?: number; seq?: number; message: string }[];
}

export function Verification() {
  const { query, error, running, why, start } = useJob<Verified>("/v1/verify");
  const data = query.data;
  return (
    <section class="part box">
      <header class="part-head">
        <h2>Verification</h2>
        <CopyCommand line={commandOf("verify", "TEAM")} />
      </header>
      {query.error && !data && <Failed error={query.error} again={query.reload} />}
      {error !== null && <Failed error={error} />}
      <div role="status">
        {data?.state === "never" && !running && <p>Not verified since the daemon started.</p>}
        {running && <Progress progress={data?.progress} />}
        {data?.failure && !running && (
          <p class="sign sign-bad">
            ✕ The verification failed: <Shown text={data.failure} />
          </p>
        )}
        {data?.state === "done" && !data.failure && !running && (
          <p>
            <b class={`sign sign-${data.ok ? "good" : "bad"}`}>{data.ok ? "✓ sound" : "✕ damaged"}</b>{" "}
            {data.events !== undefined && `${data.events.toLocaleString("en")} events, `}
            <When time={data.finished_at} />
          </p>
        )}
      </div>
      {data && data.problems.length > 0 && !running && (
        <ul class="problems">
          {data.problems.map((problem, index) => (
            <li key={index} class={problem.severity === "error" ? "problem-error" : "problem-warn"}>
              <b>
                {problem.severity === "error" ? "✕" : "!"} {problem.kind}
              </b>{" "}
              <Shown text={problem.message} />
              <span class="mild">
                {problem.file && (
                  <>
                    {" "}
                    in <Shown text={problem.file} />
                  </>
                )}
                {problem.offset !== undefined &&
                  problem.offset !== null &&
                  ` at byte ${problem.offset.toLocaleString("en")}`}
                {problem.seq !== undefined && problem.seq !== null && (
                  <>
                    ,{" "}
                    <Link panel="live" params={{ seq: problem.seq }}>
                      event #{problem.seq}
                    </Link>
                  </>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      <p class="tools">
        <button type="button" class="primary" disabled={running || why !== null} onClick={start}>
          {running ? "Verifying…" : data?.state === "done" ? "Verify again" : "Verify now"}
        </button>
        {why !== null && <span class="mild">{why}</span>}
      </p>
    </section>
  );
}

function Progress({ progress }: { progress: Verified["progress"] }) {
  if (!progress || progress.bytes_total === 0) return <p>Reading every byte of the log…</p>;
  const percent = Math.floor((progress.bytes / progress.bytes_total) * 100);
  return (
    <label class="progress">
      <progress max={progress.bytes_total} value={progress.bytes} aria-label="Verified" />
      <span>
        {percent} %, {bytes(progress.bytes)} of {bytes(progress.bytes_total)}
      </span>
    </label>
  );
}
