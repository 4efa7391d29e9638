// A chart of stacked tokens over time. It is a canvas, which screen readers cannot read, so the list of sums and the
// table below it have the same data as text.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { look, timeForm } from "../../state/settings.ts";
import { closed, runningTotal, short, type Stacked } from "./series.ts";

/** CSS classes for the colours of the series, in their order. */
export const COLOURS = ["c1", "c2", "c3", "c4", "c5", "c6", "c7"];

const HEIGHT = 220;

// Labels: hours as 14:00, days as 11-24. A label has the day at the start of the chart and whenever the day changes.
function clocks(utc: boolean): (plot: uPlot, splits: number[], axis: number, space: number, step: number) => string[] {
  const part = (seconds: number): [string, string] => {
    const time = new Date(seconds * 1000);
    const two = (value: number): string => String(value).padStart(2, "0");
    return utc
      ? [
          `${two(time.getUTCMonth() + 1)}-${two(time.getUTCDate())}`,
          `${two(time.getUTCHours())}:${two(time.getUTCMinutes())}`,
        ]
      : [`${two(time.getMonth() + 1)}-${two(time.getDate())}`, `${two(time.getHours())}:${two(time.getMinutes())}`];
  };
  return (_plot, splits, _axis, _space, step) => {
    let before = "";
    return splits.map((split) => {
      const [day, clock] = part(split);
      const fresh = day !== before;
      before = day;
      return step >= 86_400 ? day : fresh ? `${clock}\n${day}` : clock;
    });
  };
}

interface Props {
  stacked: Stacked;
  sum: boolean;
  limit: number | null;
}

export function Chart({ stacked, sum, limit }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const colours = look.value;
  const utc = timeForm.value === "utc";
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const colour = (name: string): string => getComputedStyle(element).getPropertyValue(name).trim();
    const tops = sum ? stacked.tops.map(runningTotal) : stacked.tops;
    const top = Math.max(1, ...(tops.at(-1) ?? []), limit ?? 0);
    // Draw the highest series first. Each lower series then covers the lower part of the series above it.
    const order = tops.map((_, index) => index).reverse();
    const axis: uPlot.Axis = {
      stroke: colour("--muted"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1 },
      font: "11px system-ui, sans-serif",
    };
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: { y: { range: [0, top * 1.08] } },
        ...(utc ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") } : {}),
        axes: [
          { ...axis, values: clocks(utc) },
          { ...axis, size: 52, values: (_, values) => values.map((value) => short(value)) },
        ],
        series: [
          {},
          ...order.map((index) => ({
            label: stacked.names[index] ?? "",
            fill: colour(`--${COLOURS[index % COLOURS.length] ?? "c1"}`),
            stroke: colour("--surface"),
            width: 1,
            points: { show: false },
            ...(sum || !stepped ? {} : { paths: stepped }),
          })),
          ...(limit === null
            ? []
            : [{ label: "budget", stroke: colour("--error"), width: 1.5, dash: [6, 4], points: { show: false } }]),
        ],
      },
      [
        [...stacked.times, stacked.end],
        ...order.map((index) => closed(tops[index] ?? [])),
        ...(limit === null ? [] : [[...stacked.times, stacked.end].map(() => limit)]),
      ],
      element,
    );
    const sized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    sized.observe(element);
    return () => {
      sized.disconnect();
      plot.destroy();
    };
  }, [stacked, sum, limit, colours, utc]);
  const total = stacked.totals.reduce((all, tokens) => all + tokens, 0);
  return (
    <div
      ref={box}
      class="chart"
      role="img"
      aria-label={`Tokens over time: ${short(total)} in all, by ${stacked.names.length} series; the sums stand below`}
    />
  );
}
