/** The tables of one run, read when they are needed. */
import type { Fabric, ResultsInfo, TableInfo, Texts } from "incast-web";
import { shapeOf, type FabricShape } from "../fabric/shape";
import type { Columns } from "./session";
import { told, type Opened } from "./store";

/** Parts of a completion time: column of flows.parquet without `_ps`, what it is, and whether the sender or the path took it. */
export const PARTS = [
  ["nic_own", "its NIC sent its own packets"],
  ["nic_other", "its NIC sent other flows' packets"],
  ["blocked_ready", "its NIC was idle and no reason is known (start, pause)"],
  ["blocked_grant", "it waited for a grant, token or pull"],
  ["blocked_credit", "it waited for a credit"],
  ["blocked_window", "its window was full"],
  ["blocked_pacing", "it was paced"],
  ["recovery", "recovery from losses"],
  ["serialisation", "serialisation of the last packet on every link"],
  ["propagation", "propagation of the last packet"],
  ["queue_nic", "the last packet waited in NICs"],
  ["queue_edge", "the last packet waited in edge switches"],
  ["queue_aggregation", "the last packet waited in aggregation switches"],
  ["queue_core", "the last packet waited in core switches"],
] as const;

/** Columns of flows.parquet that tables and charts show. */
const FLOW_NUMBERS = ["src", "dst", "size_bytes", "start_ps", "fct_ps", "ideal_fct_ps", "slowdown", "packets",
  "retransmits", "warmup"] as const;
const FLOW_TEXTS = ["transport", "class", "worst_port"] as const;

export interface Flows {
  readonly rows: number;
  readonly numbers: Readonly<Record<(typeof FLOW_NUMBERS)[number], Float64Array>>;
  readonly texts: Readonly<Record<(typeof FLOW_TEXTS)[number], Texts>>;
}

/** Columns of a flow alone. */
export const DETAIL_NUMBERS = [...PARTS.map(([name]) => `${name}_ps`), "worst_port_ps", "sender_fct_ps", "decisions",
  "decision_age_mean_ns", "control_packets"];

/** What links and queues can be coloured by. */
export type Metric = "use" | "imbalance" | "queue" | "pauses" | "marks" | "losses";

const PORT_NUMBERS = ["port", "time_ns", "interval_ns", "utilisation", "uplink_ratio", "backlog_mean_bytes", "backlog_max_bytes", "marks",
  "drops", "credit_drops", "trims", "paused_ns", "sent_bytes"];

/** Everything of ports.parquet: one matrix per metric, with a value per interval and port. */
export class PortSeries {
  /** Length of an interval, picoseconds. */
  readonly interval: number;
  readonly intervals: number;
  /** Start of the first interval, picoseconds: 0, or an idle one before a series that begins late. */
  readonly start: number;
  private readonly made = new Map<string, Float32Array>();

  constructor(private readonly columns: Columns, readonly ports: number, begin: number, until: number) {
    const { interval_ns: lengths, time_ns: times } = this.all("interval_ns", "time_ns");
    let longest = 0;
    lengths.forEach((length) => (longest = Math.max(longest, length)));
    this.interval = Math.round(longest * 1000) || until || 1;
    let last = until;
    times.forEach((time) => (last = Math.max(last, time * 1000 + 1)));
    this.start = Math.max(0, begin - this.interval);
    this.intervals = Math.max(1, Math.ceil((last - this.start) / this.interval));
  }

  private all<Name extends string>(...names: Name[]): Record<Name, Float64Array> {
    return Object.fromEntries(names.map((name) => [name, this.columns.numbers[name] ?? new Float64Array()])) as
      Record<Name, Float64Array>;
  }

  /** Value of a column in every interval (rows) at every port (columns of the matrix). */
  matrix(name: string): Float32Array {
    const known = this.made.get(name);
    if (known) return known;
    const { port, time_ns } = this.all("port", "time_ns");
    const values = this.columns.numbers[name];
    const matrix = new Float32Array(this.intervals * this.ports);
    port.forEach((own, row) => {
      const at = Math.round(((time_ns[row] ?? 0) * 1000 - this.start) / this.interval);
      if (at < this.intervals) matrix[at * this.ports + own] = values?.[row] || 0;
    });
    this.made.set(name, matrix);
    return matrix;
  }

  /** Of a metric in its unit: share of the rate, ratio, bytes, share of the time, packets, packets. */
  metric(metric: Metric): Float32Array {
    if (metric === "use") return this.matrix("utilisation");
    if (metric === "imbalance") return this.matrix("uplink_ratio");
    if (metric === "queue") return this.matrix("backlog_max_bytes");
    if (metric === "marks") return this.matrix("marks");
    const known = this.made.get(`metric ${metric}`);
    if (known) return known;
    const made = metric === "pauses" ? this.paused() : this.losses();
    this.made.set(`metric ${metric}`, made);
    return made;
  }

  private paused(): Float32Array {
    const length = this.interval / 1000;
    return this.matrix("paused_ns").map((paused) => paused / length);
  }

  private losses(): Float32Array {
    const trims = this.matrix("trims");
    return this.matrix("drops").map((drops, at) => drops + (trims[at] ?? 0));
  }

  /** The largest value of a metric at any port and time. */
  largest(metric: Metric): number {
    return this.metric(metric).reduce((most, value) => (value > most ? value : most), 0);
  }

  /** The values of a metric at a port, interval by interval. */
  of(metric: Metric, port: number): Float32Array {
    return this.column(this.metric(metric), port);
  }

  /** A matrix's values at a port. */
  column(matrix: Float32Array, port: number): Float32Array {
    return Float32Array.from({ length: this.intervals }, (_, at) => matrix[at * this.ports + port] ?? 0);
  }

  /** The starts of all intervals, in units of `unit` picoseconds. */
  times(unit: number): Float64Array {
    return Float64Array.from({ length: this.intervals }, (_, at) => (this.start + at * this.interval) / unit);
  }

  /** The interval that a time, in picoseconds, lies in. */
  at(time: number): number {
    return Math.min(Math.max(Math.floor((time - this.start) / this.interval), 0), this.intervals - 1);
  }

  /** The two intervals between whose middles a time lies, and how far it is from the first to the second. */
  between(time: number): { readonly at: number; readonly next: number; readonly share: number } {
    const middle = (time - this.start) / this.interval - 0.5;
    const at = this.at(this.start + middle * this.interval);
    return { at, next: Math.min(at + 1, this.intervals - 1), share: Math.min(Math.max(middle - at, 0), 1) };
  }
}

/** Remembers the first call's promise, unless it fails. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= work().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** One run of an open folder. */
export class RunData {
  constructor(readonly folder: Opened, readonly run: number) {}

  get info(): ResultsInfo["runs"][number] {
    return this.folder.info.value.runs[this.run] as ResultsInfo["runs"][number];
  }

  /** Whether the run has packets, and with them queues, marks and parts of a flow's time: one at flow level has none. */
  get packets(): boolean {
    return this.info.world !== "flow";
  }

  readonly fabric = once(() => told<Fabric>(this.folder.reader.fabric(this.run)));
  readonly shape = once(async (): Promise<FabricShape> => shapeOf(await this.fabric()));
  readonly flows = once(async (): Promise<Flows> => {
    const wanted = { numbers: [...FLOW_NUMBERS], texts: [...FLOW_TEXTS] };
    return (await told<Columns>(this.folder.reader.columns(this.run, "flows", wanted))) as unknown as Flows;
  });
  readonly details = once(() =>
    told<Columns>(this.folder.reader.columns(this.run, "flows", { numbers: DETAIL_NUMBERS, texts: ["path"] })));
  readonly ports = once(async (): Promise<PortSeries> => {
    const tables = await told<TableInfo[]>(this.folder.reader.tables(this.run));
    const has = new Set(tables.find(({ name }) => name === "ports")?.columns.map(({ name }) => name));
    // Folders of version 0.1 have no column of imbalance.
    const numbers = PORT_NUMBERS.filter((name) => name !== "uplink_ratio" || has.has(name));
    const [fabric, columns] = await Promise.all([
      this.fabric(),
      told<Columns>(this.folder.reader.columns(this.run, "ports", { numbers, texts: [] })),
    ]);
    return new PortSeries(columns, fabric.ports.length, this.info.series_start_ps, this.info.simulated_ps);
  });
}
