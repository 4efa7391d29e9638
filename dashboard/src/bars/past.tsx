// The time slider, which shows every panel at a past event. The slider is a range over seqs, because each seq is a
// state of the team. Times are shown below. The handle follows the mouse at once, but the page asks the daemon only
// after the handle has rested.

import "./past/past.css";
import { useEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import { get } from "../api/client.ts";
import type { EventPage } from "../api/types.ts";
import { lastSeq } from "../state/live.ts";
import { at, setAt, team } from "../state/route.ts";
import { session } from "../state/session.ts";
import { useQuery } from "../state/query.ts";
import { Time } from "../ui/time.tsx";
import { moved, seqOf, tickSeqs } from "./past/place.ts";

const REST = 180;

const Past = (): JSX.Element | null => {
  const last = lastSeq.value;
  const point = at.value;
  const [dragged, setDragged] = useState<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // If the past point is a time, the daemon's answer says which event was the last at this time.
  const placed = useQuery<EventPage>(point !== null && seqOf(point) === null ? "/v1/events" : null, {
    limit: 1,
    order: "newest",
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    clearTimeout(timer.current);
    setDragged(null);
  }, [point, team.value]);

  if (session.value === null || last === null || last < 1) return null;
  const seq = dragged ?? (point === null ? last : (seqOf(point) ?? placed.at ?? placed.data?.events[0]?.seq ?? last));
  const shown = Math.min(seq, last);

  const settle = (to: number | "now"): void => {
    setDragged(to === "now" ? last : to);
    clearTimeout(timer.current);
    // All moves of the handle are one step for the Back button: the step into the past.
    timer.current = setTimeout(() => setAt(to === "now" || to >= last ? null : to, at.peek() !== null), REST);
  };

  return (
    <section class={point === null && dragged === null ? "past" : "past past-on"} aria-label="Time">
      <label class="past-label" for="past-range">
        {point === null && dragged === null ? "Now" : "As of"}
      </label>
      <div class="past-track">
        <input
          id="past-range"
          type="range"
          min={1}
          max={last}
          step={1}
          value={shown}
          aria-valuetext={shown >= last && point === null ? `now, event ${last}` : `as of event ${shown} of ${last}`}
          aria-label="Show the team as of an event"
          onInput={(event) => settle(Number(event.currentTarget.value))}
          onKeyDown={(event) => {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            const to = moved(event.key, shown, last, event.shiftKey);
            if (to === null) return;
            event.preventDefault();
            event.stopPropagation();
            settle(to);
          }}
        />
        <Ticks last={last} />
      </div>
      <span class="past-seq" aria-hidden="true">
        #{shown.toLocaleString("en")}
        <span class="past-of"> of {last.toLocaleString("en")}</span>
      </span>
    </section>
  );
};

/** Times of some events below the slider. They are read again when the log has grown by a tenth. */
const Ticks = ({ last }: { last: number }): JSX.Element => {
  const [ticks, setTicks] = useState<{ seq: number; time: string }[]>([]);
  const name = team.value;
  const size = Math.round(Math.log(last) / Math.log(1.1));
  useEffect(() => {
    const stop = new AbortController();
    void Promise.all(
      tickSeqs(last, 5).map(async (seq) => {
        const { data } = await get<EventPage>("/v1/events", { after: seq - 1, limit: 1 }, stop.signal);
        const event = data.events[0];
        return event ? [{ seq: event.seq, time: event.created_at }] : [];
      }),
    )
      .then((found) => setTicks(found.flat()))
      .catch(() => {
        // Without times the slider shows only seqs.
      });
    return () => stop.abort();
  }, [name, size]);
  return (
    <div class="past-ticks" aria-hidden="true">
      {ticks.map((tick) => (
        <span key={tick.seq} style={{ left: `${last > 1 ? ((tick.seq - 1) / (last - 1)) * 100 : 0}%` }}>
          <Time value={tick.time} />
        </span>
      ))}
    </div>
  );
};

export const bar = Past;
