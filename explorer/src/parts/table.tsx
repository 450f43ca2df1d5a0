/** A table of any number of rows: only those in sight are made. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import "./table.css";

export interface Column {
  readonly key: string;
  readonly title: string;
  /** What it means, with its unit. */
  readonly doc?: string;
  /** Text is aligned to the left. */
  readonly text?: boolean;
  readonly cell: (row: number) => ComponentChildren;
  /** What it is sorted by; missing numbers come last. */
  readonly order: (row: number) => number;
}

export interface Sort {
  readonly key: string;
  readonly down: boolean;
}

export interface TableProps {
  readonly label: string;
  readonly columns: readonly Column[];
  /** The rows to show, before sorting. */
  readonly rows: Uint32Array;
  /** How many rows there are in all: 0 to `total` - 1. */
  readonly total: number;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly onRow?: (row: number) => void;
  readonly chosen?: number | undefined;
  readonly height?: number;
}

const ROW = 30;

/** Rows in the order of a column; equal ones keep their order. */
export function sorted(rows: Uint32Array, order: (row: number) => number, down: boolean): Uint32Array {
  const keys = new Float64Array(rows.length);
  const missing = down ? -Infinity : Infinity;
  rows.forEach((row, at) => {
    const key = order(row);
    keys[at] = Number.isNaN(key) ? missing : key;
  });
  const places = new Uint32Array(rows.length).map((_, at) => at);
  const sign = down ? -1 : 1;
  places.sort((a, b) => sign * ((keys[a] as number) - (keys[b] as number)) || a - b);
  return places.map((at) => rows[at] ?? 0);
}

/** The rows that come at `first` to `last` in an order of all rows; `kept` is written over. */
function part(order: Uint32Array, rows: Uint32Array, kept: Uint8Array, first: number, last: number): Uint32Array {
  if (rows.length === order.length) return order.subarray(first, last);
  kept.fill(0);
  for (let at = 0; at < rows.length; at++) kept[rows[at] ?? 0] = 1;
  const found = new Uint32Array(Math.max(last - first, 0));
  let place = 0;
  for (let at = 0; at < order.length && place < last; at++) {
    const row = order[at] ?? 0;
    if (!kept[row]) continue;
    if (place >= first) found[place - first] = row;
    place++;
  }
  return found;
}

function Head({ column, sort, onSort }: { column: Column; sort: Sort; onSort: (sort: Sort) => void }) {
  const own = sort.key === column.key;
  const down = own ? !sort.down : !column.text;
  return (
    <th scope="col" class={column.text ? "text" : ""} aria-sort={own ? (sort.down ? "descending" : "ascending") : "none"}>
      <button type="button" title={column.doc ?? column.title} onClick={() => onSort({ key: column.key, down })}>
        {column.title}
        <span aria-hidden="true" class="arrow">{own ? (sort.down ? "▼" : "▲") : ""}</span>
      </button>
    </th>
  );
}

/** The table. It scrolls by itself; its first column holds the row's link. */
export function Table(props: TableProps) {
  const { columns, rows, total, sort, onSort, onRow, chosen, label } = props;
  const holder = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [seen, setSeen] = useState(props.height ?? 420);
  const column = columns.find(({ key }) => key === sort.key) ?? columns[0];
  // All rows are sorted once; a choice of rows then only has to be taken from them.
  const whole = useMemo(() => {
    const every = new Uint32Array(total).map((_, row) => row);
    return column ? sorted(every, column.order, sort.down) : every;
  }, [total, column?.key, column?.order, sort.down]);
  const kept = useMemo(() => new Uint8Array(total), [total]);

  useLayoutEffect(() => {
    const element = holder.current;
    if (element) setSeen(element.clientHeight);
  }, [props.height]);
  useEffect(() => {
    if (holder.current) holder.current.scrollTop = 0;
    setTop(0);
  }, [sort.key, sort.down]);

  const first = Math.max(0, Math.floor(top / ROW) - 6);
  const last = Math.min(rows.length, Math.ceil((top + seen) / ROW) + 6);
  const shown = useMemo(() => part(whole, rows, kept, first, last), [whole, rows, first, last]);
  return (
    <div
      class="table"
      ref={holder}
      style={{ maxHeight: `${props.height ?? 420}px` }}
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <table class="figures" aria-rowcount={rows.length + 1}>
        <caption class="hidden">{label}</caption>
        <thead>
          <tr aria-rowindex={1}>{columns.map((one) => <Head column={one} sort={sort} onSort={onSort} />)}</tr>
        </thead>
        <tbody>
          <tr class="space" aria-hidden="true" style={{ height: `${first * ROW}px` }} />
          {Array.from(shown, (row, at) => (
            <tr
              key={row}
              aria-rowindex={first + at + 2}
              aria-selected={row === chosen}
              class={row === chosen ? "chosen" : (first + at) % 2 ? "odd" : ""}
              onClick={onRow && (() => onRow(row))}
            >
              {columns.map((one) => <td class={one.text ? "text" : ""}>{one.cell(row)}</td>)}
            </tr>
          ))}
          <tr class="space" aria-hidden="true" style={{ height: `${(rows.length - last) * ROW}px` }} />
        </tbody>
      </table>
    </div>
  );
}
