// The page without a session. The text explains how to get a session.

import { useState } from "preact/hooks";
import type { JSX } from "preact";
import { reachable, resume, signedOut } from "../state/session.ts";
import { Command } from "../ui/command.tsx";

const CodeField = ({ label }: { label: string }): JSX.Element => {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    setProblem(await resume(text));
    setBusy(false);
  };
  return (
    <form
      class="code-field"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label>
        <span>{label}</span>
        <input type="text" autocomplete="off" spellcheck={false} value={text} placeholder="http://127.0.0.1:…/#code=…" onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <button type="submit" class="primary" disabled={text.trim() === "" || busy}>Sign in</button>
      {problem !== null && <p class="failure" role="alert">{problem}</p>}
    </form>
  );
};

export const SignIn = ({ problem }: { problem: string | null }): JSX.Element => (
  <main class="sign-in">
    <h1>teamlog</h1>
    <p>Sign in to see a team. In a terminal, in the directory of your team, run</p>
    <Command command="teamlog dashboard" />
    <p class="note">It opens this page with a code for one sign-in. A session ends when the daemon stops, when the token is rotated, or after 12 hours.</p>
    {problem !== null && <p class="failure" role="alert">The code was not taken: {problem}</p>}
    <CodeField label="Or paste the printed address or code" />
  </main>
);

/** Shown if the session ended while the page was open. The rest of the page is kept until there is a new session. */
export const SignedOut = (): JSX.Element => (
  <div class="signed-out" role="alert">
    <div>
      <strong>{signedOut.value ? "Signed out." : "The daemon does not answer."}</strong>{" "}
      {signedOut.value && reachable.value
        ? "The daemon restarted, the token was rotated, or 12 hours passed. This page no longer updates."
        : "This page no longer updates."}{" "}
      Run <Command command="teamlog dashboard" /> and paste what it prints.
    </div>
    <CodeField label="Address or code" />
  </div>
);
