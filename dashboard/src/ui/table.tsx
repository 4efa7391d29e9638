// A simple table for at most some hundred rows. Longer lists use a virtual list.

import type { ComponentChildren, JSX } from "preact";

export interface Column<T> {
  key: string;
  title: string;
  render: (row: T) => ComponentChildren;
  /** True to align the column to the right, for numbers and times. */
  end?: boolean;
  /** True if the column gets the remaining width. */
  wide?: boolean;
  /** True to leave out the column on a narrow page. */
  extra?: boolean;
}

interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  rowClass?: (row: T) => string | undefined;
  /** Called on Enter or on a click on a row. */
  onOpen?: (row: T) => void;
  class?: string;
}

export const Table = <T,>({ label, columns, rows, keyOf, rowClass, onOpen, class: name }: TableProps<T>): JSX.Element => (
  <div class="table-frame" tabIndex={0} role="region" aria-label={`Table: ${label}`}>
    <table class={`table ${name ?? ""}`}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.key} scope="col" class={classOf(column)}>{column.title}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} data-key={keyOf(row)} class={[onOpen ? "open" : "", rowClass?.(row) ?? ""].join(" ").trim() || undefined} onClick={onOpen && (() => onOpen(row))}>
            {columns.map((column) => (
              <td key={column.key} class={classOf(column)} data-title={column.title}>{column.render(row)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const classOf = <T,>(column: Column<T>): string | undefined =>
  [column.end ? "end" : "", column.wide ? "wide" : "", column.extra ? "extra" : ""].join(" ").trim() || undefined;
