/** What a time-sequence diagram shows as a table: for those who do not see it, and to search in. */
import { useMemo, useState } from "preact/hooks";
import { bytes, count, time } from "../parts/format";
import { Table, type Column, type Sort } from "../parts/table";
import type { Sequence } from "./sequence";

/** An event in words. */
interface Line {
  readonly at: number;
  readonly what: string;
  readonly packet: string;
  readonly where: string;
  readonly more: string;
}

/** All parts of the diagram in the order of time. */
function lines(all: Sequence, start: number): Line[] {
  const name = (column: number) => all.columns[column] ?? "";
  const legs = all.legs.map((leg): Line => ({
    at: leg.from, what: leg.retransmission ? "sent again" : "sent", packet: `${leg.kind} ${leg.number}`,
    where: `${name(leg.fromColumn)} to ${name(leg.toColumn)}`, more: `${bytes(leg.bytes)}, arrives at ${time(leg.to - start)}`,
  }));
  const waits = all.waits.map((wait): Line => ({
    at: wait.from, what: "waits", packet: `${wait.kind} ${wait.number}`, where: wait.port,
    more: `${time(wait.to - wait.from)} behind ${bytes(wait.queue)}`,
  }));
  const points = all.points.map((point): Line => ({
    at: point.at, what: point.what, packet: "", where: name(point.column), more: point.text,
  }));
  const silences = all.silences.map((silence): Line => ({
    at: silence.from, what: "nothing", packet: "", where: "", more: `for ${time(silence.until - silence.from)}`,
  }));
  return [...points, ...legs, ...waits, ...silences].sort((a, b) => a.at - b.at);
}

/** The table, folded away until it is asked for. */
export function Events({ all, start, label }: { readonly all: Sequence; readonly start: number; readonly label: string }) {
  const [open, setOpen] = useState(false);
  const total = all.legs.length + all.waits.length + all.points.length + all.silences.length;
  return (
    <details class="small" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The same as a table: {count(total)} events</summary>
      {open && <List all={all} start={start} label={label} />}
    </details>
  );
}

function List({ all, start, label }: { readonly all: Sequence; readonly start: number; readonly label: string }) {
  const [sort, setSort] = useState<Sort>({ key: "time", down: false });
  const own = useMemo(() => lines(all, start), [all, start]);
  const rows = useMemo(() => Uint32Array.from(own, (_, row) => row), [own]);
  const columns = useMemo((): Column[] => {
    const text = (key: "what" | "packet" | "where", title: string, doc: string): Column => {
      const places = new Map([...new Set(own.map((line) => line[key]))].sort().map((one, at) => [one, at]));
      return { key, title, doc, text: true, order: (row) => places.get(own[row]?.[key] ?? "") ?? 0, cell: (row) => own[row]?.[key] };
    };
    return [
      { key: "time", title: "Time", doc: "Since the start of the flow", order: (row) => own[row]?.at ?? 0,
        cell: (row) => time((own[row]?.at ?? start) - start) },
      text("what", "Event", "What happened"),
      text("packet", "Packet", "Its kind and number"),
      text("where", "Where", "The link, the port, or the node"),
      { key: "more", title: "In words", text: true, order: (row) => row, cell: (row) => own[row]?.more },
    ];
  }, [own, start]);
  return <Table label={label} columns={columns} rows={rows} total={own.length} sort={sort} onSort={setSort} height={320} />;
}
