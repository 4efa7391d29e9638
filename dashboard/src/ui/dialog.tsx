// Dialogs. They are native dialogs of the browser, so focus stays inside, Escape closes, and the focus returns
// afterwards.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";
import { ApiError } from "../api/client.ts";
import { whyNotAct } from "../state/session.ts";
import { Command } from "./command.tsx";
import { Failure } from "./parts.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  class?: string;
  /** True to hide the title from view. Screen readers still read it. */
  bare?: boolean;
}

export const Dialog = ({ title, onClose, children, class: name, bare = false }: DialogProps): JSX.Element => {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${name ?? ""}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-inner">
        {!bare && (
          <header>
            <h2>{title}</h2>
            <button type="button" class="quiet" aria-label="Close" onClick={onClose}>✕</button>
          </header>
        )}
        {children}
      </div>
    </dialog>
  );
};

interface ActionProps {
  title: string;
  /** Command line that is equivalent to the dialog's action. */
  command: string;
  /** Text of the button. */
  verb: string;
  children?: ComponentChildren;
  /** True if all required fields are filled in. */
  ready?: boolean;
  run: () => Promise<unknown>;
  onClose: () => void;
}

/** Dialog that confirms an action before it is recorded, and shows the equivalent command. */
export const ActionDialog = ({ title, command, verb, children, ready = true, run, onClose }: ActionProps): JSX.Element => {
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const why = whyNotAct.value;
  const carryOut = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await run();
      onClose();
    } catch (thrown) {
      setError(thrown instanceof ApiError ? thrown : new ApiError(0, "failed", String(thrown)));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (why === null && ready && !busy) void carryOut();
        }}
      >
        {children}
        <p class="label">The same command in a terminal</p>
        <Command command={command} />
        {error !== null && <Failure error={error} />}
        {why !== null && <p class="hint">{why}</p>}
        <footer>
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" class="primary" disabled={why !== null || !ready || busy} autofocus>
            {verb}
          </button>
        </footer>
      </form>
    </Dialog>
  );
};
