// Compares receipts with the log. A receipt is dropped, chosen as a file or pasted.

import { useRef, useState } from "preact/hooks";
import { commandOf, CopyCommand, Failed, Link, send, Shown } from "../page.tsx";
import { receiptIn } from "./receipt.ts";

interface Checked {
  holds: boolean;
  seq: number;
  signed_by?: string | null;
  problem?: { kind: string; file?: string | null; seq?: number | null; message: string } | null;
}

export function Receipts() {
  const [text, setText] = useState("");
  const [name, setName] = useState("");
  const [why, setWhy] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [checked, setChecked] = useState<Checked | null>(null);
  const [over, setOver] = useState(false);
  // Only the answer to the last request is shown, even if an earlier answer arrives later.
  const asked = useRef(0);

  const check = (given: string, from: string): void => {
    asked.current += 1;
    const turn = asked.current;
    setText(given);
    setName(from);
    setChecked(null);
    setError(null);
    const found = receiptIn(given);
    if ("why" in found) {
      setWhy(`Not a receipt: ${found.why}.`);
      return;
    }
    setWhy("");
    void send<Checked>("/v1/receipts/check", { receipt: found.receipt }).then(
      (answer) => turn === asked.current && setChecked(answer),
      (thrown: unknown) => turn === asked.current && setError(thrown),
    );
  };
  const take = (file: File | null | undefined): void => {
    if (file)
      void file
        .slice(0, 1 << 20)
        .text()
        .then((given) => check(given, file.name));
  };

  return (
    <section
      class={over ? "part box drop drop-over" : "part box drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer?.files[0];
        if (file) take(file);
        else check(event.dataTransfer?.getData("text") ?? "", "");
      }}
    >
      <header class="part-head">
        <h2>Receipts</h2>
        <CopyCommand line={commandOf("verify", "TEAM", "--against", name || "receipt.json")} />
      </header>
      <label class="receipt-text">
        <span class="mild">Drop a receipt here, choose its file, or paste it:</span>
        <textarea
          class="mono"
          rows={4}
          spellcheck={false}
          placeholder='{"log": …, "seq": …, "digest": …}'
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onPaste={(event) => {
            const pasted = event.clipboardData?.getData("text");
            if (!pasted) return;
            event.preventDefault();
            check(pasted, "");
          }}
        />
      </label>
      <p class="tools">
        <button type="button" class="primary" disabled={text.trim() === ""} onClick={() => check(text, "")}>
          Check it
        </button>
        <label class="file">
          <span class="offscreen">File of a receipt</span>
          <input
            type="file"
            accept=".json,application/json,text/plain"
            onChange={(event) => take(event.currentTarget.files?.[0])}
          />
        </label>
      </p>
      <div role="status" class="receipt-answer">
        {why && <p class="warned">! {why}</p>}
        {error !== null && <Failed error={error} />}
        {checked && <Answer checked={checked} name={name} />}
      </div>
    </section>
  );
}

// All other kinds come from `verify`: bytes that the receipt covers have changed.
const WRONG: Readonly<Record<string, string>> = {
  signature_invalid: "✕ its signature is not valid",
  cut_below_receipt: "✕ cut since",
};

function Answer({ checked, name }: { checked: Checked; name: string }) {
  const { problem } = checked;
  return (
    <>
      <p>
        <b class={`sign sign-${checked.holds ? "good" : "bad"}`}>
          {checked.holds ? "✓ holds" : (WRONG[problem?.kind ?? ""] ?? "✕ changed since")}
        </b>{" "}
        {checked.holds ? (
          `Nothing up to #${checked.seq} was changed or cut.`
        ) : (
          <Shown text={problem?.message ?? "The log no longer holds what the receipt covers."} />
        )}
      </p>
      <p class="mild">
        {checked.signed_by ? (
          <>
            Signed by{" "}
            <code>
              <Shown text={checked.signed_by} />
            </code>
            .
          </>
        ) : (
          checked.holds && "Not signed: trust it only as far as the place where it was kept."
        )}
        {!checked.holds && problem?.file && (
          <>
            {" "}
            In{" "}
            <b>
              <Shown text={problem.file} />
            </b>
          </>
        )}
        {!checked.holds && problem?.seq != null && (
          <>
            , from{" "}
            <Link panel="live" params={{ seq: problem.seq }}>
              event #{problem.seq}
            </Link>
          </>
        )}
        {name && (
          <>
            {" "}
            (<Shown text={name} />)
          </>
        )}
      </p>
    </>
  );
}
