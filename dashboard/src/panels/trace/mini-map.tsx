// An overview of the whole trace: the number of events over time, the problems, and the part that the chart shows.
// The user selects the part by dragging, or with the keys `+`, `-` and `0` in the waterfall.

import { useMemo, useRef, useState } from "preact/hooks";
import type { Story } from "./story.ts";
import { share, type Stretch } from "./scale.ts";

const BUCKETS = 160;
const HEIGHT = 36;

interface Props {
  story: Story;
  whole: Stretch;
  shown: Stretch;
  onStretch: (stretch: Stretch | null) => void;
}

export function MiniMap({ story, whole, shown, onStretch }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const { counts, problems, most } = useMemo(() => buckets(story, whole), [story, whole.from, whole.to]);

  const shareAt = (event: PointerEvent): number => {
    const box = svg.current?.getBoundingClientRect();
    return box && box.width > 0 ? Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) : 0;
  };
  const done = (): void => {
    if (drag && Math.abs(drag.to - drag.from) > 0.005) {
      const length = whole.to - whole.from;
      onStretch({
        from: whole.from + Math.min(drag.from, drag.to) * length,
        to: whole.from + Math.max(drag.from, drag.to) * length,
      });
    } else if (drag) onStretch(null);
    setDrag(null);
  };
  const left = drag ? Math.min(drag.from, drag.to) : share(shown.from, whole);
  const right = drag ? Math.max(drag.from, drag.to) : share(shown.to, whole);

  return (
    <svg
      ref={svg}
      class="wf-map"
      viewBox={`0 0 ${BUCKETS} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Mini-map: ${story.steps.length} events, ${story.problems.length} problems`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: shareAt(event), to: shareAt(event) });
      }}
      onPointerMove={(event) => drag && setDrag({ from: drag.from, to: shareAt(event) })}
      onPointerUp={done}
      onPointerCancel={() => setDrag(null)}
    >
      {counts.map((count, at) => {
        if (count === 0) return null;
        // The square root keeps a single event visible beside hundreds.
        const height = 4 + Math.sqrt(count / most) * (HEIGHT - 10);
        return <rect key={at} class="wf-map-events" x={at + 0.1} width={0.8} y={HEIGHT - height} height={height} />;
      })}
      {problems.map((at) => (
        <rect key={at} class="wf-map-problem" x={at} width={1} y={0} height={6} />
      ))}
      <rect class="wf-map-outside" x={0} y={0} width={left * BUCKETS} height={HEIGHT} />
      <rect class="wf-map-outside" x={right * BUCKETS} y={0} width={(1 - right) * BUCKETS} height={HEIGHT} />
    </svg>
  );
}

function buckets(story: Story, whole: Stretch): { counts: number[]; problems: number[]; most: number } {
  const counts = new Array<number>(BUCKETS).fill(0);
  const problems = new Set<number>();
  for (const step of story.steps) {
    const at = Math.min(BUCKETS - 1, Math.floor(share(step.at, whole) * BUCKETS));
    counts[at] = (counts[at] ?? 0) + 1;
    if (step.problem) problems.add(at);
  }
  return { counts, problems: [...problems], most: Math.max(1, ...counts) };
}
