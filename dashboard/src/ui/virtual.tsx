// A virtual list. Only visible items are in the document, so long lists stay fast.

import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { useCallback, useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";

interface VirtualListProps<T> {
  items: readonly T[];
  keyOf: (item: T) => string | number;
  /** Renders an item. Pass the same function while its output does not change, so that rendered rows are kept. */
  render: (item: T) => ComponentChildren;
  /** Estimated height of an item in pixels, used until the item is measured. */
  estimate: number;
  label: string;
  /** True if items have different heights, so that each is measured. */
  measured?: boolean;
  /** Scrolls to this item when the value changes. */
  scrollTo?: { index: number; align?: "auto" | "start" | "center" | "end" } | null;
  /** Called when the user scrolls near the end. */
  onEnd?: () => void;
  role?: "list" | "feed";
  class?: string;
  /** Space below each item in pixels. */
  gap?: number;
}

type Key = string | number;

interface DrawnRow<T> {
  item: T;
  content: ComponentChildren;
}

interface Drawn<T> {
  render: (item: T) => ComponentChildren;
  rows: Map<Key, DrawnRow<T>>;
}

export const VirtualList = <T,>(props: VirtualListProps<T>): JSX.Element => {
  const frame = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const virtual = useRef<Virtualizer<HTMLDivElement, HTMLDivElement> | null>(null);
  const { items, keyOf, estimate, gap = 0 } = props;
  const options = {
    count: items.length,
    getScrollElement: () => frame.current,
    estimateSize: () => estimate,
    getItemKey: (index: number) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item);
    },
    overscan: 8,
    gap,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: (_: unknown, sync: boolean) => {
      void sync;
      redraw();
    },
  };
  virtual.current ??= new Virtualizer<HTMLDivElement, HTMLDivElement>(options);
  const list = virtual.current;
  list.setOptions({ ...list.options, ...options });

  useLayoutEffect(() => list._didMount(), [list]);
  useLayoutEffect(() => list._willUpdate());
  const target = props.scrollTo ?? null;
  useEffect(() => {
    if (target !== null && target.index >= 0) list.scrollToIndex(target.index, { align: target.align ?? "auto" });
  }, [target?.index, target?.align, target]);

  const measure = useCallback((element: HTMLDivElement | null) => list.measureElement(element), [list]);
  const rows = list.getVirtualItems();
  // Scrolling renders only new rows: a row with an unchanged item and an unchanged function keeps its element.
  const drawn = useRef<Drawn<T>>({ render: props.render, rows: new Map() });
  const old = drawn.current.render === props.render ? drawn.current.rows : new Map<Key, DrawnRow<T>>();
  const current: Drawn<T> = { render: props.render, rows: new Map() };
  const draw = (key: Key, item: T): ComponentChildren => {
    const before = old.get(key);
    const row = before !== undefined && before.item === item ? before : { item, content: props.render(item) };
    current.rows.set(key, row);
    return row.content;
  };
  drawn.current = current;
  const last = rows.at(-1);
  const near = last !== undefined && last.index >= items.length - 12;
  useEffect(() => {
    if (near) props.onEnd?.();
  }, [near, items.length]);

  return (
    <div ref={frame} class={`virtual ${props.class ?? ""}`} tabIndex={0} role="region" aria-label={props.label}>
      <div class="virtual-space" role={props.role ?? "list"} style={{ height: `${list.getTotalSize()}px` }}>
        {rows.map((row) => {
          const item = items[row.index];
          if (item === undefined) return null;
          return (
            <div
              key={row.key}
              data-index={row.index}
              ref={props.measured === true ? measure : null}
              class="virtual-item"
              role={props.role === "feed" ? "article" : "listitem"}
              aria-setsize={items.length}
              aria-posinset={row.index + 1}
              style={{ transform: `translateY(${row.start}px)`, ...(props.measured === true ? {} : { height: `${row.size}px` }) }}
            >
              {draw(keyOf(item), item)}
            </div>
          );
        })}
      </div>
    </div>
  );
};
