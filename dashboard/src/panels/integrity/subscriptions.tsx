// The durable subscriptions of the team: positions, consumers, and the programs and URLs that the daemon runs.

import { commandOf, CopyCommand, Failed, Shown, useRead, When } from "../page.tsx";

interface Runner {
  pid: number;
  /** `exec PROGRAM` or `post ORIGIN`, without secrets. */
  target: string;
  last_error?: string;
  last_error_at?: string;
}

interface SubscriptionList {
  subscriptions: {
    name: string;
    position: number;
    behind: number;
    consumer?: string;
    failing_count: number;
    parked_count: number;
    run_by?: Runner;
  }[];
  damaged: string[];
}

/** Renders nothing for a team without subscriptions. */
export function Subscriptions() {
  const { data, error, reload } = useRead<SubscriptionList>("/v1/subscriptions", {}, { always: true, every: 30_000 });
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data || data.subscriptions.length + data.damaged.length === 0) return null;
  return (
    <section class="part">
      <header class="part-head">
        <h2>Subscriptions</h2>
        <CopyCommand line={commandOf("subscription", "list", "TEAM")} />
      </header>
      <ul class="checks">
        {data.subscriptions.map((one) => (
          <li key={one.name}>
            <b>
              <Shown text={one.name} />
            </b>{" "}
            at #{one.position.toLocaleString("en")}, {one.behind.toLocaleString("en")} later events,{" "}
            {one.consumer ? <Shown text={one.consumer} /> : "no consumer"}
            {one.failing_count > 0 && <b class="sign sign-warn"> ! {one.failing_count.toLocaleString("en")} failing</b>}
            {one.parked_count > 0 && <b class="sign sign-bad"> ✕ {one.parked_count.toLocaleString("en")} parked</b>}
            {one.run_by && <RunBy runner={one.run_by} />}
          </li>
        ))}
        {data.damaged.map((name) => (
          <li key={name}>
            <b class="sign sign-bad">✕ damaged</b> <Shown text={name} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function RunBy({ runner }: { runner: Runner }) {
  return (
    <p class="mild">
      The daemon runs <Shown text={runner.target} />
      {runner.last_error && (
        <>
          ; last error{runner.last_error_at && <> <When time={runner.last_error_at} /></>}: <Shown text={runner.last_error} />
        </>
      )}
    </p>
  );
}
