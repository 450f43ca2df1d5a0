/** All flows of a run: charts that choose, and a table. */
import { useMemo, useRef, useState } from "preact/hooks";
import { bytes, count, number, time } from "../parts/format";
import { filter, type Field, type Test } from "../parts/filter";
import { useLoaded } from "../parts/loaded";
import { Scatter, type Axis, type Brush } from "../parts/scatter";
import { Table, type Column, type Sort } from "../parts/table";
import { address, amend, go, route } from "../route";
import type { Flows } from "./data";
import { SideChoice } from "./parts";
import { side, sides, type Side } from "./store";
import { Trouble } from "./trouble";

/** Numbers of a rectangle in the address: `x1,x2,y1,y2`. */
function brushOf(text: string | undefined): Brush | undefined {
  const [a, b, c, d] = (text ?? "").split(",").map(Number);
  return a === undefined || b === undefined || c === undefined || d === undefined || [a, b, c, d].some(Number.isNaN)
    ? undefined
    : { x: [a, b], y: [c, d] };
}

const brushText = (brush: Brush | undefined) => brush && [...brush.x, ...brush.y].map((one) => one.toPrecision(5)).join(",");

function fields(flows: Flows): Record<string, Field> {
  const { numbers, texts } = flows;
  return {
    flow: { kind: "number", values: Float64Array.from({ length: flows.rows }, (_, row) => row) },
    src: { kind: "number", values: numbers.src },
    dst: { kind: "number", values: numbers.dst },
    size: { kind: "number", values: numbers.size_bytes, unit: "bytes" },
    start: { kind: "number", values: numbers.start_ps, unit: "ps" },
    fct: { kind: "number", values: numbers.fct_ps, unit: "ps" },
    slowdown: { kind: "number", values: numbers.slowdown },
    packets: { kind: "number", values: numbers.packets },
    retransmits: { kind: "number", values: numbers.retransmits },
    warmup: { kind: "number", values: numbers.warmup },
    transport: { kind: "text", values: texts.transport },
    class: { kind: "text", values: texts.class },
    worst_port: { kind: "text", values: texts.worst_port },
  };
}

/** A column of the table for a field of numbers. */
function numeric(key: string, title: string, values: Float64Array, show: (value: number) => string, doc: string): Column {
  return { key, title, doc, order: (row) => values[row] ?? NaN, cell: (row) => show(values[row] ?? NaN) };
}

function textual(key: string, title: string, texts: { names: string[]; codes: Uint32Array }, doc: string): Column {
  const rank = texts.names.map((_, code) => code).sort((a, b) => (texts.names[a] ?? "").localeCompare(texts.names[b] ?? ""));
  const place = new Uint32Array(rank.length);
  rank.forEach((code, at) => (place[code] = at));
  const code = (row: number) => texts.codes[row] ?? 0;
  return { key, title, doc, text: true, order: (row) => place[code(row)] ?? 0, cell: (row) => texts.names[code(row)] ?? "" };
}

function columns(flows: Flows, other: { side: Side; flows: Flows } | undefined): Column[] {
  const { numbers, texts } = flows;
  const link = (row: number) => (
    <a href={address("results/flow", { ...Object.fromEntries(route.value.params), flow: row })}
      onClick={(event) => event.stopPropagation()}>{row}</a>
  );
  const same = other && other.flows.rows === flows.rows ? other : undefined;
  const theirs = same?.flows.numbers.fct_ps;
  return [
    { key: "flow", title: "Flow", doc: "Number of the flow", order: (row) => row, cell: link },
    numeric("src", "From", numbers.src, count, "Sending host"),
    numeric("dst", "To", numbers.dst, count, "Receiving host"),
    numeric("size", "Size", numbers.size_bytes, bytes, "Payload"),
    numeric("start", "Start", numbers.start_ps, time, "Since the start of the run"),
    numeric("fct", "FCT", numbers.fct_ps, time, "Completion time; – if incomplete"),
    numeric("slowdown", "Slowdown", numbers.slowdown, number, "Completion time over that on an empty network"),
    ...(theirs && same
      ? [numeric("ratio", `FCT ÷ ${same.side.title}`, theirs.map((fct, row) => (numbers.fct_ps[row] ?? NaN) / fct), number,
          `Completion time over that of the same flow in ${same.side.title}`)]
      : []),
    numeric("retransmits", "Retransmits", numbers.retransmits, count, "Retransmitted data packets"),
    textual("worst_port", "Worst port", texts.worst_port, "Port at which its last packet waited longest"),
    ...(texts.transport.names.length > 1 ? [textual("transport", "Transport", texts.transport, "Its transport")] : []),
    ...(texts.class.names.length > 1 ? [textual("class", "Class", texts.class, "Traffic class")] : []),
  ];
}

/** A range of an axis that rows must lie in. */
interface Bound {
  readonly values: ArrayLike<number>;
  readonly low: number;
  readonly high: number;
}

/** The rows that pass the test and lie in every rectangle; `held` is written over. */
function chosenRows(
  held: Uint32Array, total: number, test: Test | string | undefined,
  boxes: readonly { brush: Brush | undefined; x: Axis; y: Axis }[],
): Uint32Array {
  const bounds = boxes.flatMap(({ brush, x, y }): Bound[] => brush
    ? [{ values: x.values, low: brush.x[0], high: brush.x[1] }, { values: y.values, low: brush.y[0], high: brush.y[1] }]
    : []);
  let found = 0;
  rows: for (let row = 0; row < total; row++) {
    for (const { values, low, high } of bounds) {
      const value = values[row] ?? NaN;
      if (!(value >= low && value <= high)) continue rows;
    }
    if (typeof test === "function" && !test(row)) continue;
    if (typeof test !== "string") held[found++] = row;
  }
  return held.subarray(0, found);
}

export function FlowsPage() {
  const own = side.value;
  const beside = sides.value.find((one) => one !== own);
  const { value, problem } = useLoaded(
    async () => ({ flows: await own?.data.flows(), other: beside && { side: beside, flows: await beside.data.flows() } }),
    [own?.data, beside?.data]);
  if (problem) return <Trouble problem={problem} data={own?.data} />;
  if (!value?.flows || !own) return <p role="status">Reading flows…</p>;
  return <FlowsOf key={own.key} flows={value.flows} other={value.other} />;
}

const isNumber = (text: string | undefined) => text !== undefined && text !== "" && !Number.isNaN(Number(text));

function FlowsOf({ flows, other }: { flows: Flows; other: { side: Side; flows: Flows } | undefined }) {
  const params = route.value.params;
  const upright = params.get("y") === "fct" ? "fct" : "slowdown";
  const size: Axis = useMemo(
    () => ({ values: flows.numbers.size_bytes, title: "size", log: true, format: bytes }), [flows]);
  const result: Axis = useMemo(
    () => upright === "fct"
      ? { values: flows.numbers.fct_ps, title: "completion time", log: true, format: time }
      : { values: flows.numbers.slowdown, title: "slowdown", log: true, format: number },
    [flows, upright]);
  const start: Axis = useMemo(
    () => ({ values: flows.numbers.start_ps, title: "start", log: false, format: time }), [flows]);
  const named = useMemo(() => fields(flows), [flows]);
  const test = useMemo(() => filter(params.get("q") ?? "", named), [params.get("q"), named]);
  const [bySize, byTime] = [params.get("size"), params.get("time")];
  // While a rectangle is drawn it is held here; when it is let go it goes into the address.
  const [drawn, setDrawn] = useState<{ key: string; brush: Brush | undefined } | undefined>();
  const boxes = useMemo(() => [
    { key: "size", brush: drawn?.key === "size" ? drawn.brush : brushOf(bySize), x: size, y: result },
    { key: "time", brush: drawn?.key === "time" ? drawn.brush : brushOf(byTime), x: start, y: result },
  ], [bySize, byTime, drawn, size, start, result]);
  const held = useMemo(() => new Uint32Array(flows.rows), [flows]);
  const rows = useMemo(() => chosenRows(held, flows.rows, test, boxes), [held, test, boxes]);
  const all = useMemo(() => columns(flows, other), [flows, other]);
  const sort: Sort = { key: params.get("sort") ?? "slowdown", down: params.get("order") !== "up" };
  const pending = useRef(0);
  const brushed = (key: string) => (brush: Brush | undefined, done: boolean) => {
    cancelAnimationFrame(pending.current);
    if (!done) {
      pending.current = requestAnimationFrame(() => setDrawn({ key, brush }));
      return;
    }
    setDrawn(undefined);
    amend({ [key]: brushText(brush) });
  };
  const chosen = params.get("flow");
  return (
    <>
      <div class="row">
        <SideChoice />
        <label class="row small">Show
          <select value={upright} onChange={(event) => amend({ y: event.currentTarget.value, size: undefined, time: undefined })}>
            <option value="slowdown">slowdown</option>
            <option value="fct">completion time</option>
          </select>
        </label>
        <span class="quiet small">Drag over a chart to choose flows; click it to take that back.</span>
      </div>
      <div class="charts">
        {boxes.map(({ key, brush, x, y }) => (
          <Scatter x={x} y={y} rows={rows} total={flows.rows} brush={brush} onBrush={brushed(key)}
            label={`${y.title} against ${x.title} of ${count(flows.rows)} flows`} />
        ))}
      </div>
      <div class="row">
        <label class="row grow">Filter
          <input class="grow" type="search" value={params.get("q") ?? ""} placeholder="slowdown>10 size<100KB dst=0"
            aria-invalid={typeof test === "string"} aria-describedby="flows-count"
            onInput={(event) => amend({ q: event.currentTarget.value })} />
        </label>
        <output id="flows-count" class="figures">{count(rows.length)} of {count(flows.rows)} flows</output>
        <button type="button" disabled={!bySize && !byTime && !params.get("q")}
          onClick={() => amend({ size: undefined, time: undefined, q: undefined })}>Show all</button>
      </div>
      {typeof test === "string" && <div class="notice" role="alert">{test}</div>}
      <Table label="Flows" columns={all} rows={rows} total={flows.rows} sort={sort} chosen={isNumber(chosen) ? Number(chosen) : undefined}
        onSort={({ key, down }) => amend({ sort: key, order: down ? undefined : "up" })}
        onRow={(row) => go("results/flow", { ...Object.fromEntries(params), flow: row })} />
    </>
  );
}
