/** What a time-sequence diagram shows, from the events of one flow. */
import type { Texts } from "incast-web";
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
  /** In words; written when it is asked for, since few of thousands are. */
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
  /** When it left its source, NaN for what is not data. */
  readonly departed: number;
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

/** A row of a trace with a packet. */
interface Seen {
  readonly row: number;
  readonly node: number;
  readonly at: number;
  /** Code of the place. */
  readonly place: number;
  readonly kind: string;
  readonly number: number;
  readonly departed: number;
}

/** A column of numbers, and one of texts. */
const numbers = (trace: Columns, name: string) => trace.numbers[name] ?? new Float64Array();
const texts = (trace: Columns, name: string) => trace.texts[name] ?? { names: [], codes: new Uint32Array() };

/** Follows packets from event to event. */
class Follower {
  readonly legs: Leg[] = [];
  readonly waits: Wait[] = [];
  readonly points: Point[] = [];
  readonly used: Set<number>[];
  readonly sent = new Set<string>();
  readonly span: [number, number] = [Infinity, -Infinity];
  private readonly far: Int32Array;
  /** Packets under way by kind and number: few of each. */
  private readonly travelling = new Map<number, Travelling[]>();
  private readonly times: Float64Array;
  private readonly bytes: Float64Array;
  private readonly payloads: Float64Array;
  private readonly again: Float64Array;
  private readonly queues: Float64Array;
  private readonly departures: Float64Array;
  private readonly numbers: Float64Array;
  private readonly places: Texts;
  private readonly events: Texts;
  private readonly packets: Texts;
  private readonly whys: Texts;
  /** By code of a place: its node, and the node at the other end of its link; -1 if there is none. */
  private readonly nodes: Int32Array;
  private readonly peers: Int32Array;

  constructor(trace: Columns, shape: FabricShape, src: number, private readonly dst: number) {
    this.far = distances(shape, src);
    this.used = Array.from({ length: Math.max(this.far[dst] ?? 1, 1) + 1 }, () => new Set<number>());
    [this.times, this.numbers, this.departures] = [numbers(trace, "time_ps"), numbers(trace, "number"), numbers(trace, "departed_ps")];
    [this.bytes, this.payloads] = [numbers(trace, "bytes"), numbers(trace, "payload_bytes")];
    [this.again, this.queues] = [numbers(trace, "retransmission"), numbers(trace, "queue_bytes")];
    [this.places, this.events] = [texts(trace, "place"), texts(trace, "event")];
    [this.packets, this.whys] = [texts(trace, "packet"), texts(trace, "why")];
    const nodes = new Map(shape.nodes.map(({ name }, node) => [name, node]));
    const peers = new Map(shape.ports.map(({ name, to }) => [name, to]));
    this.nodes = Int32Array.from(this.places.names, (place) => nodes.get(place.split("->")[0] ?? "") ?? -1);
    this.peers = Int32Array.from(this.places.names, (place) => peers.get(place) ?? -1);
  }

  private column(node: number): number {
    const last = this.used.length - 1;
    const own = node === this.dst ? last : Math.min(Math.max(this.far[node] ?? 0, 0), last);
    this.used[own]?.add(node);
    return own;
  }

  /** One event of the trace. */
  row(row: number): void {
    const place = this.places.codes[row] ?? 0;
    const node = this.nodes[place] ?? -1;
    if (node < 0) return;
    const [event, code] = [this.events.names[this.events.codes[row] ?? 0] ?? "", this.packets.codes[row] ?? 0];
    const packet = this.packets.names[code] ?? "";
    const [at, number] = [this.times[row] ?? NaN, this.numbers[row] ?? NaN];
    if (at < this.span[0]) this.span[0] = at;
    if (at > this.span[1]) this.span[1] = at;
    const kind = called(packet, this.payloads[row] ?? NaN);
    if (POINTS.has(event)) {
      const words = () => {
        const why = this.whys.names[this.whys.codes[row] ?? 0] ?? "";
        return `${event} ${why} ${packet ? `${kind} ${number}` : ""} at ${this.places.names[place]}`.replace(/\s+/g, " ");
      };
      this.points.push({ column: this.column(node), at, what: event, get text() { return words(); } });
    }
    if (packet) this.moved(event, code, { row, node, at, place, kind, number, departed: this.departures[row] ?? NaN });
  }

  private moved(event: string, packet: number, seen: Seen) {
    const { row, node, at, kind, number, departed } = seen;
    // A packet is followed by its kind, its number and, if it is data, when it left its source.
    const key = number * this.packets.names.length + packet;
    const all = this.travelling.get(key) ?? [];
    const own = (one: Travelling) => one.departed === departed || (Number.isNaN(one.departed) && Number.isNaN(departed));
    const keep = (one: Travelling) => {
      if (!all.length) this.travelling.set(key, all);
      all.push(one);
    };
    if (event === "sent") {
      this.sent.add(kind);
      return keep({ departed, node, next: -1, left: at, arrived: at, queue: NaN });
    }
    if (event === "started") return this.started(all.find((one) => own(one) && one.node === node && (Number.isNaN(one.left) || one.left === at)), seen);
    if (event !== "queued" && event !== "delivered" && event !== "dropped") return;
    const coming = all.find((one) => own(one) && one.node !== node && (one.next === node || one.next === -1) && !Number.isNaN(one.left));
    if (coming) {
      this.legs.push({
        kind, number, bytes: this.bytes[row] ?? NaN, retransmission: this.again[row] === 1,
        fromColumn: this.column(coming.node), toColumn: this.column(node), from: coming.left, to: at,
      });
    }
    if (event === "queued") {
      const there = { node, next: this.peers[seen.place] ?? -1, left: NaN, arrived: at, queue: this.queues[row] ?? NaN };
      if (coming) Object.assign(coming, there);
      else keep({ departed, ...there });
    } else if (coming) {
      all.splice(all.indexOf(coming), 1);
      if (!all.length) this.travelling.delete(key);
    }
  }

  private started(own: Travelling | undefined, { node, at, place, kind, number }: Seen) {
    if (!own) return;
    if (at > own.arrived) {
      const port = this.places.names[place] ?? "";
      this.waits.push({ column: this.column(node), from: own.arrived, to: at, kind, number, port, queue: own.queue });
    }
    own.left = at;
    own.next = this.peers[place] ?? -1;
  }
}

/** A silence shorter than this share of the flow's whole time is drawn in full. */
const LEAST_SILENCE = 0.12;
/** A silence is drawn as long as this share of the rest. */
const DRAWN_SILENCE = 0.05;

/** The times of a flow that are long and empty. */
function silences(legs: readonly Leg[], waits: readonly Wait[], points: readonly Point[], [from, until]: [number, number]): Silence[] {
  const length = legs.length + waits.length + points.length;
  const [starts, ends] = [new Float64Array(length), new Float64Array(length)];
  const put = (at: number, start: number, end: number) => {
    starts[at] = start;
    ends[at] = end;
  };
  legs.forEach((leg, at) => put(at, leg.from, leg.to));
  waits.forEach((wait, at) => put(legs.length + at, wait.from, wait.to));
  points.forEach((point, at) => put(legs.length + waits.length + at, point.at, point.at));
  starts.sort();
  ends.sort();
  const found: Silence[] = [];
  starts.forEach((start, before) => {
    // If as many have ended as had begun, nothing was under way.
    const last = before ? (ends[before - 1] ?? until) : from;
    if (start - last > LEAST_SILENCE * (until - from)) found.push({ from: last, until: start });
  });
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
export const PART = 10_000;
/** Events before a part that are looked at too, so that it has the packets that are on their way when it begins. */
const BEFORE = 2_000;

/** Events of a part that are drawn while parts pass by: its beginning. */
export const GLANCE = 2_500;

/** Some events of a trace, of a part or of its beginning; the columns are not copied. */
export function part(trace: Columns, number: number, length = PART): Columns {
  const [from, until] = [Math.max(number * PART - BEFORE, 0), Math.min(number * PART + length, trace.rows)];
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
  waits.sort((a, b) => a.from - b.from);
  const kinds = [...sent].sort((a, b) => Number(b === "Data") - Number(a === "Data") || a.localeCompare(b));
  const [from, until] = span[0] > span[1] ? [0, 1] : span;
  return { columns: names, legs, waits, points, from, until, kinds, silences: silences(legs, waits, points, [from, until]) };
}
