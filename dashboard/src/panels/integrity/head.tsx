// The head of the log, and a receipt of the current state for download.

import { copyText } from "../../ui/command.tsx";
import { useState } from "preact/hooks";
import { Field } from "../trace/event-fields.tsx";
import { bytes } from "./bytes.ts";
import { commandOf, CopyCommand, Failed, Shown, useRead } from "../page.tsx";

interface HeadRead {
  log: string;
  seq: number;
  segment: string;
  length: number;
  digest: string;
  [more: string]: unknown;
}

export function Head() {
  const { data, error, reload } = useRead<HeadRead>("/v1/head", { sign: false }, { on: "any" });
  const [said, setSaid] = useState("");
  return (
    <section class="part box">
      <header class="part-head">
        <h2>Head</h2>
        <CopyCommand line={commandOf("head", "TEAM", "--json")} />
      </header>
      {error && !data && <Failed error={error} again={reload} />}
      {data && (
        <>
          <dl class="fields">
            <Field name="seq">#{data.seq.toLocaleString("en")}</Field>
            <Field name="segment">
              <Shown text={data.segment} />, {bytes(data.length)}
            </Field>
            <Field name="digest">
              <code class="digest">
                <Shown text={data.digest} />
              </code>
            </Field>
            <Field name="log">
              <code>
                <Shown text={data.log} />
              </code>
            </Field>
          </dl>
          <p class="tools">
            <button
              type="button"
              onClick={() =>
                void copyText(JSON.stringify(data)).then((done) => setSaid(done ? "Copied" : "Not copied"))
              }
            >
              Copy as receipt
            </button>
            <span class="mild" role="status">
              {said || "Keep it elsewhere: it shows later if anything before it was changed."}
            </span>
          </p>
        </>
      )}
    </section>
  );
}
