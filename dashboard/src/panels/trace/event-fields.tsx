// All fields of an event, beside the list in which it was selected.

import type { ComponentChildren } from "preact";
import { jsonOf } from "../../ui/text.tsx";
import { Link, Shown, When } from "../page.tsx";
import { duration } from "./scale.ts";
import { message, senderOf, words, type Story, type TraceEvent } from "./story.ts";
import { outcomeOf } from "./outcome.ts";

interface Props {
  event: TraceEvent;
  story?: Story;
  onSeq?: (seq: number) => void;
  onClose?: () => void;
}

export function EventFields({ event, story, onSeq, onClose }: Props) {
  const step = story?.steps[story.bySeq.get(event.seq) ?? -1];
  const sender = senderOf(event);
  const jump = (seq: number): ComponentChildren =>
    onSeq && story?.bySeq.has(seq) ? (
      <button type="button" class="linklike" onClick={() => onSeq(seq)}>
        #{seq}
      </button>
    ) : (
      `#${seq}`
    );
  const parent = step?.parent == null ? undefined : story?.steps[step.parent];
  return (
    <aside class="ev" aria-label={`Event ${event.seq}`}>
      <header class="ev-head">
        <h2>
          <span class="wf-seq">#{event.seq}</span> <Shown text={event.kind} />
        </h2>
        {onClose && (
          <button type="button" class="iconlike" aria-label="Close the fields" onClick={onClose}>
            ×
          </button>
        )}
      </header>
      {event.superseded && <p class="ev-note">Superseded: a newer message was applied before, so it changed nothing.</p>}
      {event.duplicate && <p class="ev-note">Duplicate: its id was known, so it changed nothing.</p>}
      {event.refused && <p class="ev-note">Refused: it records a refusal and changed no state.</p>}
      {event.foreign && <p class="ev-note ev-mild">A foreign kind: kept and traced, it changes no state.</p>}
      {step?.outside && <MissingCause cause={step.outside} />}
      <dl class="fields">
        <Field name="recorded">
          <When time={event.created_at} />
        </Field>
        <Field name="actor">
          <Shown text={event.actor} />
        </Field>
        {sender && (
          <Field name="from">
            <Shown text={sender} /> <small>(recorded by another)</small>
          </Field>
        )}
        {event.task_id && (
          <Field name="task">
            <Link panel="task" params={{ id: event.task_id }}>
              <Shown text={event.task_id} />
            </Link>
          </Field>
        )}
        {event.agent && (
          <Field name="agent">
            <Link panel="inbox" params={{ id: event.agent }}>
              <Shown text={event.agent} />
            </Link>
          </Field>
        )}
        {event.thread_id && (
          <Field name="thread">
            <Link panel="threads" params={{ id: event.thread_id }}>
              <Shown text={event.thread_id} />
            </Link>
          </Field>
        )}
        {event.trace_id && (
          <Field name="trace">
            <Link panel="trace" params={{ id: event.trace_id, event: event.seq }}>
              <Shown text={event.trace_id} />
            </Link>
          </Field>
        )}
        {event.message_id && (
          <Field name="message">
            <Shown text={event.message_id} />
          </Field>
        )}
        {event.session_id && (
          <Field name="session">
            <Shown text={event.session_id} />
          </Field>
        )}
        {event.cause && <Field name="cause">{parent ? jump(parent.event.seq) : <Shown text={event.cause} />}</Field>}
        {step && step.children.length > 0 && (
          <Field name="led to">
            {step.children.slice(0, 20).map((child) => {
              const seq = story?.steps[child]?.event.seq ?? 0;
              return <span key={seq}>{jump(seq)} </span>;
            })}
            {step.children.length > 20 && `and ${step.children.length - 20} more`}
          </Field>
        )}
        {step?.begins.map((span) => (
          <Field key={`${span.kind} ${span.id}`} name={`begins ${span.kind}`}>
            <Shown text={span.id} />, {outcomeOf(span.outcome).sign} {words(span.outcome)}
            {span.duration_us != null && ` after ${duration(span.duration_us)}`}
            {span.last_seq != null && <> at {jump(span.last_seq)}</>}
          </Field>
        ))}
        {event.key && (
          <Field name="key">
            <Shown text={event.key} />
          </Field>
        )}
        <Field name="id">
          <Shown text={event.id} />
        </Field>
      </dl>
      <Payload event={event} />
      <p class="ev-links">
        <Link panel={null} params={{ at: event.seq }}>
          The page as of #{event.seq}
        </Link>
      </p>
    </aside>
  );
}

export function Field({ name, children }: { name: string; children?: ComponentChildren }) {
  return (
    <div class="field">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function MissingCause({ cause }: { cause: { id: string; seq?: number | null; kind?: string; trace_id?: string } }) {
  if (cause.seq == null) {
    return <p class="ev-note">Its cause is not in this log.</p>;
  }
  return (
    <p class="ev-note">
      Its cause, #{cause.seq} {cause.kind && <Shown text={cause.kind} />}, is not in this trace
      {cause.trace_id ? (
        <>
          , but in{" "}
          <Link panel="trace" params={{ id: cause.trace_id, event: cause.seq }}>
            <Shown text={cause.trace_id} />
          </Link>
          .
        </>
      ) : (
        ": it belongs to none."
      )}
    </p>
  );
}

function Payload({ event }: { event: TraceEvent }) {
  const sent = message(event);
  const text = jsonOf(sent ? (sent["payload"] ?? {}) : (event.payload ?? {}), 2);
  return (
    <>
      <h3>{sent ? "Message" : "Payload"}</h3>
      <pre class="payload" tabIndex={0} aria-label="Payload">
        <Shown text={text} lines whole />
      </pre>
    </>
  );
}
