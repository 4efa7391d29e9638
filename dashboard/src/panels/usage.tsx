// Usage of tokens: by agent or task over time, their sums, and the remaining budget.

import type { PanelEntry } from "./index.ts";
import { Chart, COLOURS } from "./usage/chart.tsx";
import { short, stack, type Series } from "./usage/series.ts";
import { useMemo } from "preact/hooks";
import { commandOf, Empty, Failed, go, Link, Panel, param, Shown, readingOf, useRead } from "./page.tsx";

interface Used {
  inputTokens: number;
  outputTokens: number;
  tokens: number;
  reports: number;
}

interface UsageRead {
  used: Used;
  agents: { agentId: string; used: Used }[];
  budget?: {
    maxTokens?: number | null;
    maxTokensPerAgent?: number | null;
    hardLimit?: boolean;
    softLimitReached?: boolean;
  } | null;
}

interface SeriesRead {
  from: string;
  to: string;
  bucket_ms: number;
  series: Series[];
  others?: number[];
}

const DAY = 86_400_000;
const SPANS: readonly { name: string; days: number }[] = [
  { name: "day", days: 1 },
  { name: "week", days: 7 },
  { name: "month", days: 30 },
];

// Round to whole hours, so that the requested address does not change every second.
function since(days: number): string | null {
  return days === 1 ? null : new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - days * DAY).toISOString();
}

const REPORTS = ["usage_reported", "budget_set"];

function Usage() {
  const by = param("by") === "task" ? "task" : "agent";
  const sum = param("sum") === "true";
  const span = SPANS.find((each) => each.name === param("span")) ?? SPANS[0]!;
  const usage = useRead<UsageRead>("/v1/usage", {}, { on: REPORTS });
  const series = useRead<SeriesRead>("/v1/usage/series", { by, buckets: 48, from: since(span.days) }, { on: REPORTS });
  const stacked = useMemo(
    () =>
      series.data &&
      stack(Date.parse(series.data.from), series.data.bucket_ms, series.data.series, 6, series.data.others),
    [series.data],
  );
  const error = usage.error ?? series.error;
  if (error && !(usage.data && series.data)) return <Failed error={error} again={usage.reload} />;
  const data = usage.data;
  const none = data?.used.reports === 0;
  return (
    <Panel
      title="Usage"
      command={readingOf("usage", "TEAM")}
      busy={!data || !series.data}
      note={data && <>{data.used.tokens.toLocaleString("en")} tokens</>}
    >
      {data && none && (
        <Empty
          title="No usage"
          command={commandOf(
            "usage",
            "TEAM",
            "--report",
            "--agent",
            "ada",
            "--input-tokens",
            900,
            "--output-tokens",
            100,
          )}
        >
          Nobody reported tokens yet. Agents report what they used, perhaps for a task.
        </Empty>
      )}
      {data && !none && (
        <>
          <Budget data={data} />
          <div class="tools">
            <div class="choice" role="group" aria-label="By">
              <button type="button" aria-pressed={by === "agent"} onClick={() => go({ by: null })}>
                by agent
              </button>
              <button type="button" aria-pressed={by === "task"} onClick={() => go({ by: "task" })}>
                by task
              </button>
            </div>
            <div class="choice" role="group" aria-label="Span of time">
              {SPANS.map((each) => (
                <button
                  key={each.name}
                  type="button"
                  aria-pressed={each.name === span.name}
                  onClick={() => go({ span: each.days === 1 ? null : each.name })}
                >
                  {each.name}
                </button>
              ))}
            </div>
            <div class="choice" role="group" aria-label="Counted">
              <button type="button" aria-pressed={!sum} onClick={() => go({ sum: null })}>
                each stretch
              </button>
              <button type="button" aria-pressed={sum} onClick={() => go({ sum: "true" })}>
                running total
              </button>
            </div>
          </div>
          {stacked && stacked.totals.length > 0 && (
            <Chart stacked={stacked} sum={sum} limit={sum ? (data.budget?.maxTokens ?? null) : null} />
          )}
          {stacked && <Sums stacked={stacked} by={by} />}
          <Agents data={data} />
        </>
      )}
    </Panel>
  );
}

function Budget({ data }: { data: UsageRead }) {
  const most = data.budget?.maxTokens;
  if (!most) {
    return (
      <p class="summary">
        No budget is set: <code>{commandOf("usage", "TEAM", "--set", "--max-tokens", 1_000_000)}</code>
      </p>
    );
  }
  const share = data.used.tokens / most;
  return (
    <label class="progress budget">
      <meter min={0} max={most} high={most * 0.9} value={Math.min(data.used.tokens, most)} aria-label="Budget used" />
      <span class={share >= 0.9 ? "warned" : ""}>
        {share >= 1 ? "✕ used up: " : share >= 0.9 ? "! nearly used up: " : ""}
        {short(data.used.tokens)} of {short(most)} tokens, {Math.round(share * 100)} %
        {data.budget?.hardLimit ? "; at the limit nothing new is begun" : "; the limit only warns"}
      </span>
    </label>
  );
}

function Sums({ stacked, by }: { stacked: ReturnType<typeof stack>; by: "agent" | "task" }) {
  return (
    <ul class="legend" aria-label="Series">
      {stacked.names.map((name, index) => {
        const total = stacked.own[index]?.reduce((sum, tokens) => sum + tokens, 0) ?? 0;
        return (
          <li key={name}>
            <svg class="swatch" width="12" height="12" aria-hidden="true">
              <rect class={COLOURS[index % COLOURS.length] ?? ""} width="12" height="12" rx="3" />
            </svg>
            {name.endsWith(" others") ? (
              name
            ) : (
              <Link panel={by === "task" ? "task" : "inbox"} params={{ id: name }}>
                <Shown text={name} />
              </Link>
            )}{" "}
            <b>{short(total)}</b>
          </li>
        );
      })}
    </ul>
  );
}

function Agents({ data }: { data: UsageRead }) {
  const each = data.budget?.maxTokensPerAgent;
  const rows = [...data.agents].sort((a, b) => b.used.tokens - a.used.tokens);
  const most = Math.max(1, ...rows.map((row) => row.used.tokens));
  return (
    <section class="part">
      <h2>All reported tokens</h2>
      <div class="table-frame" tabIndex={0} role="region" aria-label="Tokens by agent">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col" class="end">
                Read
              </th>
              <th scope="col" class="end">
                Written
              </th>
              <th scope="col" class="end">
                Tokens
              </th>
              <th scope="col" class="wide">
                Share
              </th>
              <th scope="col" class="end">
                Reports
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ agentId, used }) => (
              <tr key={agentId}>
                <th scope="row">
                  <Link panel="inbox" params={{ id: agentId }}>
                    <Shown text={agentId} />
                  </Link>
                </th>
                <td class="end">{used.inputTokens.toLocaleString("en")}</td>
                <td class="end">{used.outputTokens.toLocaleString("en")}</td>
                <td class="end">
                  <b>{used.tokens.toLocaleString("en")}</b>
                  {each && used.tokens >= each && <span class="warned"> ! over {short(each)}</span>}
                </td>
                <td class="took">
                  <span class="took-bar" style={{ width: `${Math.max(1, (used.tokens / most) * 60)}%` }} />
                  <span class="took-text">{Math.round((used.tokens / Math.max(1, data.used.tokens)) * 100)} %</span>
                </td>
                <td class="end">{used.reports}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export const panel: PanelEntry = { id: "usage", title: "Usage", order: 90, key: "u", component: Usage };
