// Computes positions for the nodes and edges of a small graph: a state machine, or the tasks around a task.

import dagre from "@dagrejs/dagre";

export interface NodeBox {
  id: string;
  width: number;
  height: number;
}

export interface Edge {
  from: string;
  to: string;
  label?: string;
}

export interface Point {
  x: number;
  y: number;
}

export interface PlacedNode extends NodeBox, Point {}

export interface PlacedEdge extends Edge {
  path: string;
  /** Position of the label. */
  middle: Point;
  key: string;
}

export interface Placed {
  nodes: PlacedNode[];
  edges: PlacedEdge[];
  width: number;
  height: number;
}

/** Computes a layout. Ignores repeated edges, and edges to unknown nodes. */
export function placeGraph(nodes: readonly NodeBox[], edges: readonly Edge[], direction: "LR" | "TB" = "LR"): Placed {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: direction, nodesep: 22, edgesep: 14, ranksep: 46, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node.id, { width: node.width, height: node.height });
  const known = new Set(nodes.map((node) => node.id));
  const kept = new Map<string, Edge>();
  for (const edge of edges) {
    if (known.has(edge.from) && known.has(edge.to)) kept.set(`${edge.from} ${edge.to} ${edge.label ?? ""}`, edge);
  }
  for (const [key, edge] of kept) {
    const room = edge.label ? { width: edge.label.length * 6.4 + 6, height: 14, labelpos: "c" as const } : {};
    graph.setEdge(edge.from, edge.to, room, key);
  }
  dagre.layout(graph);
  const size = graph.graph() as { width?: number; height?: number };
  return {
    nodes: nodes.map((node) => {
      const { x, y } = graph.node(node.id) as Point;
      return { ...node, x, y };
    }),
    edges: [...kept].map(([key, edge]) => {
      const placed = graph.edge({ v: edge.from, w: edge.to, name: key }) as { points: Point[] } & Partial<Point>;
      const middle = placed.points[Math.floor(placed.points.length / 2)] ?? { x: 0, y: 0 };
      return {
        ...edge,
        key,
        path: curve(placed.points),
        middle: edge.label && placed.x !== undefined && placed.y !== undefined ? { x: placed.x, y: placed.y } : middle,
      };
    }),
    width: Math.ceil(size.width ?? 0),
    height: Math.ceil(size.height ?? 0),
  };
}

/**
 * Returns a smooth path through points. It uses quadratic curves between midpoints, so the path stays within the hull
 * of the points.
 */
export function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let path = `M${round(first.x)} ${round(first.y)}`;
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    path += next
      ? `Q${round(point.x)} ${round(point.y)} ${round((point.x + next.x) / 2)} ${round((point.y + next.y) / 2)}`
      : `L${round(point.x)} ${round(point.y)}`;
  });
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
