// A small graph as SVG, with boxes and arrows. A box that opens another view is a link, so that the keyboard can
// reach the box. A sign or a word repeats everything that a colour shows.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Placed, PlacedNode } from "./layout.ts";

interface Props {
  placed: Placed;
  label: string;
  /** Returns the content of a box. The centre of the box is the origin of its coordinates. */
  node: (node: PlacedNode) => ComponentChildren;
  nodeClass?: (id: string) => string;
  edgeClass?: (key: string, from: string, to: string) => string;
  edgeTitle?: (key: string) => string | undefined;
  href?: (id: string) => string | null;
}

export function Graph({ placed, label, node, nodeClass, edgeClass, edgeTitle, href }: Props) {
  const arrow = `arrow${useId()}`;
  return (
    <div class="graph" role="region" aria-label={label} tabIndex={0}>
      <svg
        width={placed.width}
        height={placed.height}
        viewBox={`0 0 ${placed.width} ${placed.height}`}
        role="group"
        aria-label={label}
        // The graph shrinks with the available space, but only as long as its text is readable.
        style={{ minWidth: `${Math.round(placed.width * 0.7)}px` }}
      >
        <defs>
          <marker
            id={arrow}
            viewBox="0 0 8 8"
            refX="7.4"
            refY="4"
            markerWidth="9"
            markerHeight="9"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path class="graph-head" d="M0 0.6L8 4L0 7.4z" />
          </marker>
        </defs>
        {placed.edges.map((edge) => (
          <g key={edge.key} class={`graph-edge ${edgeClass?.(edge.key, edge.from, edge.to) ?? ""}`}>
            <path d={edge.path} marker-end={`url(#${arrow})`} />
            {edge.label && (
              <text x={edge.middle.x} y={edge.middle.y} text-anchor="middle" dominant-baseline="central">
                {edgeTitle?.(edge.key) && <title>{edgeTitle(edge.key)}</title>}
                {edge.label}
              </text>
            )}
          </g>
        ))}
        {placed.nodes.map((each) => {
          const to = href?.(each.id) ?? null;
          const body = (
            <g class={`graph-node ${nodeClass?.(each.id) ?? ""}`} data-node={each.id}>
              <rect
                x={each.x - each.width / 2}
                y={each.y - each.height / 2}
                width={each.width}
                height={each.height}
                rx="5"
              />
              {node(each)}
            </g>
          );
          return to === null ? (
            <g key={each.id}>{body}</g>
          ) : (
            <a key={each.id} href={to}>
              {body}
            </a>
          );
        })}
      </svg>
    </div>
  );
}
