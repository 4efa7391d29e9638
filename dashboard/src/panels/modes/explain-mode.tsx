// Shows the result of starting a mode now, in the words of the daemon.

import { CopyCommand, Failed, param, readingOf, Shown, useRead } from "../page.tsx";

interface Explained {
  kind: string;
  current: string[];
  requested: string;
  resulting: string[];
  auto_completed: string[];
  denial: string | null;
  message: string | null;
}

const KINDS: Readonly<Record<string, { tone: string; text: string }>> = {
  allow: { tone: "good", text: "✓ It would start." },
  overlap: { tone: "good", text: "✓ It would start beside those that are active." },
  "auto-complete": { tone: "good", text: "✓ It would take over from what hands off to it." },
  deny: { tone: "bad", text: "✕ It would be refused." },
};

export function ExplainMode({ mode }: { mode: string }) {
  const session = param("session");
  const { data, error, reload } = useRead<Explained>(
    "/v1/modes/explain",
    { mode, sessionId: session },
    { on: ["mode_"] },
  );
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <section class="part" aria-busy="true" />;
  const same = data.kind === "allow" && data.current.includes(mode);
  const kind = KINDS[data.kind] ?? { tone: "idle", text: data.kind };
  return (
    <section class="part explained">
      <header class="part-head">
        <h2>
          Starting {mode} now{session ? <> in session <Shown text={session} /></> : " at the root"}
        </h2>
        <CopyCommand line={readingOf("mode", "explain", "TEAM", mode, ...(session ? ["--session", session] : []))} />
      </header>
      <p class={`sign sign-${same ? "idle" : kind.tone}`}>
        {same ? "○ It is active already; nothing would change." : kind.text}
      </p>
      {data.denial && (
        <p>
          Kind of the denial: <code>{data.denial}</code>
        </p>
      )}
      {data.message && (
        <p class="quoted">
          <Shown text={data.message} lines />
        </p>
      )}
      <dl class="fields">
        <div class="field">
          <dt>active</dt>
          <dd>{data.current.join(", ") || "none"}</dd>
        </div>
        <div class="field">
          <dt>afterwards</dt>
          <dd>{data.resulting.join(", ") || "none"}</dd>
        </div>
        {data.auto_completed.length > 0 && (
          <div class="field">
            <dt>completed for it</dt>
            <dd>{data.auto_completed.join(", ")}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}
