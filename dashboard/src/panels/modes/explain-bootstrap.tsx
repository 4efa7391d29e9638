// Shows the result of a hypothetical report on a bootstrap run. Nothing is recorded.

import { useEffect, useState } from "preact/hooks";
import { commandOf, CopyCommand, Failed, send, Shown, useAt } from "../page.tsx";

interface Explained {
  accepted: boolean;
  code: string | null;
  message?: string;
  at_state: string;
  state: string;
  rolled_back_to: string | null;
  warnings: string[];
  records: string[];
}

export function ExplainBootstrap({ event, run }: { event: string; run: string }) {
  const at = useAt();
  const [data, setData] = useState("{}");
  const [told, setTold] = useState<Explained | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [why, setWhy] = useState("");

  const ask = (): void => {
    let said: unknown;
    try {
      said = JSON.parse(data || "{}");
    } catch {
      said = null;
    }
    if (typeof said !== "object" || said === null || Array.isArray(said)) {
      setWhy("The data must be a JSON object.");
      return;
    }
    setWhy("");
    void send<{ data: Explained }>("/v1/api/bootstrap-explain", { event, run, data: said }).then(
      (answer) => {
        setTold(answer.data);
        setError(null);
      },
      (failure: unknown) => {
        setTold(null);
        setError(failure);
      },
    );
  };
  useEffect(() => {
    if (at === null) ask();
  }, [event, run, at]);

  if (at !== null) return <p class="mild">Refusals are explained for the present only: go back to now first.</p>;
  return (
    <section class="part explained" aria-live="polite">
      <header class="part-head">
        <h2>
          If <code>{event}</code> were reported
        </h2>
        <CopyCommand line={commandOf("bootstrap", "explain", "TEAM", "--run", run, "--event", event, "--data", data)} />
      </header>
      <form
        class="tools"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          ask();
        }}
      >
        <label class="grow">
          With the data{" "}
          <input
            type="text"
            class="mono"
            value={data}
            spellcheck={false}
            onInput={(typed) => setData(typed.currentTarget.value)}
          />
        </label>
        <button type="submit">Ask</button>
      </form>
      {why && <p role="alert">{why}</p>}
      {error !== null && <Failed error={error} />}
      {told && (
        <>
          <p class={`sign sign-${told.accepted ? "good" : "bad"}`}>
            {told.accepted
              ? told.state === told.at_state
                ? `✓ Accepted; the run stays in ${told.state}.`
                : `✓ Accepted: ${told.at_state} → ${told.state}.`
              : `✕ Refused: ${told.code ?? ""}`}
          </p>
          {told.message && (
            <p class="quoted">
              <Shown text={told.message} lines />
            </p>
          )}
          {told.rolled_back_to && (
            <p>It would be recorded as a violation, and the run falls back to {told.rolled_back_to}.</p>
          )}
          {told.warnings.map((warning) => (
            <p key={warning} class="warned">
              ! <Shown text={warning} />
            </p>
          ))}
          {told.records.length > 0 && (
            <p class="mild">
              It would record <code>{told.records.join(", ")}</code>.
            </p>
          )}
        </>
      )}
    </section>
  );
}
