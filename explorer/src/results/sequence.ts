/** What a time-sequence diagram shows, from the events of one flow. */
import type { FabricShape } from "../fabric/shape";
import type { Columns } from "./session";

/** A packet on one link: from one column to another. */
export interface Leg {
  readonly kind: string;
  readonly number: number;
  readonly bytes: number;
  readonly retransmission: boolean;
  readonly fromColumn: number;
  readonly toColumn: number;
  /** When its transmission began, and when it had arrived; picoseconds. */
  readonly from: number;
  readonly to: number;
}

/** A wait in a queue. */
export interface Wait {
  readonly column: number;
  readonly from: number;
  readonly to: number;
  readonly kind: string;
  readonly number: number;
  readonly port: string;
  readonly queue: number;
}

/** Something at one place and time. */
export interface Point {
  readonly column: number;
  readonly at: number;
  readonly what: string;
  readonly text: string;
}

/** A time in which the flow has no event. */
export interface Silence {
  readonly from: number;
  readonly until: number;
}

export interface Sequence {
  /** Names above the columns, from the source to the destination. */
  readonly columns: readonly string[];
  readonly legs: readonly Leg[];
  readonly waits: readonly Wait[];
  readonly points: readonly Point[];
  readonly from: number;
  readonly until: number;
  /** Times without anything, which are drawn short. */
  readonly silences: readonly Silence[];
  /** Kinds of packets, data first, so that colours are the same in every part of a flow. */
  readonly kinds: readonly string[];
}

/** Hops from a node to every other one. */
function distances(shape: FabricShape, start: number): Int32Array {
  const far = new Int32Array(shape.nodes.length).fill(-1);
  const next: number[][] = shape.nodes.map(() => []);
  shape.ports.forEach(({ from, to }) => next[from]?.push(to));
  far[start] = 0;
  const queue = [start];
  for (const node of queue) {
    for (const peer of next[node] ?? []) {
      if (far[peer] !== -1) continue;
      far[peer] = (far[node] ?? 0) + 1;
      // Hosts forward nothing.
      if (shape.nodes[peer]?.tier !== "host") queue.push(peer);
    }
  }
  return far;
}

/** Marks of a diagram: events that are drawn as points. */
const POINTS = new Set(["marked", "dropped", "trimmed", "bounced", "lost", "decision", "timeout", "opened", "completed", "acknowledged"]);

/** A packet on its way. */
interface Travelling {
  node: number;
  /** The node that it goes to, or -1 if that is not known. */
  next: number;
  /** When its transmission began, or NaN while it waits. */
  left: number;
  arrived: number;
  queue: number;
}

/** What a packet is called: its payload tells data from what answers it. */
function called(packet: string, payload: number): string {
  if (packet === "Segment") return payload > 0 ? "Data" : "ACK";
  return packet === "Data" && payload === 0 ? "header of trimmed data" : packet === "Ack" ? "ACK" : packet;
}

/** Follows packets from event to event. */
class Follower {
  readonly legs: Leg[] = [];
  readonly waits: Wait[] = [];
  readonly points: Point[] = [];
  readonly used: Set<number>[];
  readonly sent = new Set<string>();
  readonly span: [number, number] = [Infinity, -Infinity];
  private readonly nodes: Map<string, number>;
  private readonly peers: Map<string, number>;
  private readonly far: Int32Array;
  private readonly travelling = new Map<string, Travelling[]>();

  constructor(private readonly trace: Columns, shape: FabricShape, src: number, private readonly dst: number) {
    this.nodes = new Map(shape.nodes.map(({ name }, node) => [name, node]));
    this.peers = new Map(shape.ports.map(({ name, to }) => [name, to]));
    this.far = distances(shape, src);
    this.used = Array.from({ length: Math.max(this.far[dst] ?? 1, 1) + 1 }, () => new Set<number>());
  }

  private number(name: string, row: number): number {
    return this.trace.numbers[name]?.[row] ?? NaN;
  }

  private text(name: string, row: number): string {
    const own = this.trace.texts[name];
    return own?.names[own.codes[row] ?? 0] ?? "";
  }

  private column(node: number): number {
    const last = this.used.length - 1;
    const own = node === this.dst ? last : Math.min(Math.max(this.far[node] ?? 0, 0), last);
    this.used[own]?.add(node);
    return own;
  }

  /** One event of the trace. */
  row(row: number): void {
    const [place, event, packet] = [this.text("place", row), this.text("event", row), this.text("packet", row)];
    const node = this.nodes.get(place.split("->")[0] ?? "");
    if (node === undefined) return;
    const at = this.number("time_ps", row);
    this.span[0] = Math.min(this.span[0], at);
    this.span[1] = Math.max(this.span[1], at);
    const number = this.number("number", row);
    const kind = called(packet, this.number("payload_bytes", row));
    if (POINTS.has(event)) {
      const why = this.text("why", row);
      const what = packet ? `${kind} ${number}` : "";
      this.points.push({ column: this.column(node), at, what: event, text: `${event} ${why} ${what} at ${place}`.replace(/\s+/g, " ") });
    }
    if (packet) this.moved(row, event, { node, at, place, packet, kind, number });
  }

  private moved(row: number, event: string, one: { node: number; at: number; place: string; packet: string; kind: string; number: number }) {
    const { node, at, place, packet, kind, number } = one;
    // A packet is followed by its kind, its number and, if it is data, when it left its source.
    const departed = this.number("departed_ps", row);
    const key = `${packet} ${number} ${Number.isNaN(departed) ? "" : departed}`;
    const all = this.travelling.get(key) ?? [];
    if (event === "sent") {
      this.sent.add(kind);
      this.travelling.set(key, [...all, { node, next: -1, left: at, arrived: at, queue: NaN }]);
      return;
    }
    if (event === "started") return this.started(all, one);
    if (event !== "queued" && event !== "delivered" && event !== "dropped") return;
    const coming = all.find((own) => own.node !== node && (own.next === node || own.next === -1) && !Number.isNaN(own.left));
    if (coming) {
      this.legs.push({
        kind, number, bytes: this.number("bytes", row), retransmission: this.number("retransmission", row) === 1,
        fromColumn: this.column(coming.node), toColumn: this.column(node), from: coming.left, to: at,
      });
    }
    if (event === "queued") {
      const own = coming ?? { node, next: -1, left: NaN, arrived: at, queue: NaN };
      if (!coming) this.travelling.set(key, [...all, own]);
      Object.assign(own, { node, next: this.peers.get(place) ?? -1, left: NaN, arrived: at, queue: this.number("queue_bytes", row) });
    } else this.travelling.set(key, all.filter((own) => own !== coming));
  }

  private started(all: readonly Travelling[], { node, at, place, kind, number }: { node: number; at: number; place: string; kind: string; number: number }) {
    const own = all.find((one) => one.node === node && (Number.isNaN(one.left) || one.left === at));
    if (!own) return;
    if (at > own.arrived) {
      this.waits.push({ column: this.column(node), from: own.arrived, to: at, kind, number, port: place, queue: own.queue });
    }
    own.left = at;
    own.next = this.peers.get(place) ?? -1;
  }
}

/** A silence shorter than this share of the flow's whole time is drawn in full. */
const LEAST_SILENCE = 0.12;
/** A silence is drawn as long as this share of the rest. */
const DRAWN_SILENCE = 0.05;

/** The times of a flow that are long and empty. */
function silences(legs: readonly Leg[], waits: readonly Wait[], points: readonly Point[], [from, until]: [number, number]): Silence[] {
  const busy = [
    ...legs.map((leg) => [leg.from, leg.to] as const),
    ...waits.map((wait) => [wait.from, wait.to] as const),
    ...points.map((point) => [point.at, point.at] as const),
  ].sort((a, b) => a[0] - b[0]);
  const found: Silence[] = [];
  let last = from;
  for (const [start, end] of busy) {
    if (start - last > LEAST_SILENCE * (until - from)) found.push({ from: last, until: start });
    last = Math.max(last, end);
  }
  return found;
}

/** The time axis of a diagram, on which silences are short. */
export class Axis {
  readonly from: number;
  readonly until: number;
  private readonly cuts: readonly (Silence & { readonly drawn: number })[];

  constructor(all: Sequence) {
    const silent = all.silences.reduce((sum, one) => sum + one.until - one.from, 0);
    const drawn = (all.until - all.from - silent) * DRAWN_SILENCE;
    this.cuts = all.silences.map((one) => ({ ...one, drawn }));
    this.from = all.from;
    this.until = this.place(all.until);
  }

  /** Where a time lies on the axis. */
  place(time: number): number {
    let place = time;
    for (const { from, until, drawn } of this.cuts) {
      if (time <= from) break;
      const share = Math.min((time - from) / (until - from), 1);
      place -= share * (until - from - drawn);
    }
    return place;
  }

  /** The time at a place of the axis. */
  time(place: number): number {
    let time = place;
    for (const { from, until, drawn } of this.cuts) {
      const start = this.place(from);
      if (place <= start) break;
      const share = Math.min((place - start) / drawn, 1);
      time = place >= start + drawn ? time + (until - from - drawn) : from + share * (until - from);
    }
    return time;
  }
}

/** Events of a long flow that are drawn at a time: a few thousand packets. */
export const PART = 40_000;
/** Events before a part that are looked at too, so that it has the packets that are on their way when it begins. */
const BEFORE = 2_000;

/** Some events of a trace; the columns are not copied. */
export function part(trace: Columns, number: number): Columns {
  const [from, until] = [Math.max(number * PART - BEFORE, 0), Math.min((number + 1) * PART, trace.rows)];
  if (from === 0 && until === trace.rows) return trace;
  const numbers = Object.entries(trace.numbers).map(([name, own]) => [name, own.subarray(from, until)]);
  const texts = Object.entries(trace.texts).map(([name, { names, codes }]) => [name, { names, codes: codes.subarray(from, until) }]);
  return { rows: until - from, numbers: Object.fromEntries(numbers), texts: Object.fromEntries(texts) };
}

/** Builds the diagram. `src` and `dst` are the nodes of the flow's hosts. */
export function sequence(trace: Columns, shape: FabricShape, src: number, dst: number): Sequence {
  const follower = new Follower(trace, shape, src, dst);
  for (let row = 0; row < trace.rows; row++) follower.row(row);
  const { legs, waits, points, used, sent, span } = follower;
  const names = used.map((all) => {
    const [first] = all;
    const node = first === undefined ? undefined : shape.nodes[first];
    return all.size > 1 ? `${all.size} × ${node?.tier ?? "switches"}` : (node?.name ?? "");
  });
  names[0] = shape.nodes[src]?.name ?? "source";
  names[names.length - 1] = shape.nodes[dst]?.name ?? "destination";
  legs.sort((a, b) => a.from - b.from);
  const kinds = [...sent].sort((a, b) => Number(b === "Data") - Number(a === "Data") || a.localeCompare(b));
  const [from, until] = span[0] > span[1] ? [0, 1] : span;
  return { columns: names, legs, waits, points, from, until, kinds, silences: silences(legs, waits, points, [from, until]) };
}
