/**
 * The engine's module, which `build-wasm` makes: `pkg/incast_web.js` with `incast_web_bg.wasm`.
 *
 * RULES
 * - All calls are synchronous: run it in a worker. Calls that may take long take `progress`, which may postMessage.
 * - Times are picoseconds as `number` (exact up to 2^53 ps = 2.5 h), bytes are bytes, rates bit/s, unless a column says otherwise.
 * - Structure comes as JSON text (JSON.parse it); columns come as typed arrays, copied out of the module's memory
 *   (you may transfer their buffers to the page).
 * - A missing number is NaN in a Float64Array. Names are dictionary coded (`Texts`).
 * - Faults are thrown as `Fault` (below). A bug is thrown as `Error` with `name === "Panic"` and the message and place: afterwards the instance is
 *   spoilt, every further call throws: make a new worker / a new instance (`initSync` once more needs a new module
 *   instance; simplest is a new worker).
 * - Objects of classes hold memory of the module: call `free()` when you drop them.
 */

// ---------- loading ----------
export type InitInput = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;
/** Fetches and starts the module. Give `{ module_or_path }`. */
export default function init(input?: { module_or_path: InitInput | Promise<InitInput> }): Promise<unknown>;
/** Starts it from bytes that are there (a page opened as a file: base64 in the page, decoded, or a compiled Module posted to the worker). */
export function initSync(input: { module: BufferSource | WebAssembly.Module }): unknown;

// ---------- faults ----------
/** What is thrown for wrong input: a real `Error`. `message` is the whole sentence: "FILE:LINE: key = `value`: problem". */
export interface Fault extends Error {
  name: "Fault";
  /** Where: "scenario.toml:3", "dctcp/flows.parquet"; "" if not known. A line number follows the last colon. */
  place: string;
  /** Key of the scenario, such as "traffic.0.load"; "" if about none. */
  key: string;
  /** The value as written, "" if none. */
  value: string;
  /** What is wrong, with what is accepted and what to do, without place, key and value. */
  problem: string;
  /** What is accepted, such as "0 to 1"; "" if the problem does not say. */
  accepted: string;
  /** The nearest valid name; "" if none. */
  suggestion: string;
  /** Machine-readable kind: "input" | "no-manifest" | "version" | "incomplete" | "truncated" | "too-large" | "changed-file" | "missing-file" | "not-repeatable" | "no-such-flow". */
  kind: string;
}

/** Input files of a scenario (topology, flows, CDF, paths) by the name that the scenario uses. */
export type Files = Record<string, string>;
/** Files of a results folder by path relative to it ("manifest.json", "dctcp/flows.parquet"). Paths with the folder's own name
 *  in front (webkitRelativePath) are accepted too: the shortest path that ends in manifest.json is the root. */
export type Folder = Record<string, Uint8Array>;
/** Called about ten times per second: simulated ps, flows completed, flows, packet-hops. Return `false` to stop: the call then throws a Fault of kind "input" ("stopped"). */
export type Progress = (nowPs: number, completed: number, flows: number, hops: number) => boolean | void;

// ---------- what the program declares ----------
/** Version of the program, such as "0.2.0-dev". */
export function version(): string;
/** Panics with this message: for tests of what a page does then. */
export function provoke(message: string): never;
/** JSON `Declarations`. Constant; ask once. */
export function declarations(): string;

export interface Declarations {
  version: string;
  /** Every key of a scenario, in order. */
  keys: Key[];
  transports: TransportInfo[];
  /** [{ "name":"leaf-spine", "form":"leaf-spine:LEAVESxSPINESxHOSTS", "title":"..." }] */
  topologies: { name: string; form: string; title: string }[];
  /** Flow-size distributions: [{ "name":"web_search", "title":"Web search", "source":"...", "mean_bytes":1600000 }] */
  workloads: { name: string; title: string; source: string; mean_bytes: number }[];
  /** [{ "kind":"poisson", "meaning":"...", "keys":["traffic.workload", ...] }] ; the Keys themselves have `kind`. */
  traffic: { kind: string; meaning: string; keys: string[] }[];
  /** Tables of a results folder with their columns. */
  tables: TableInfo[];
  /** Bounds of this module: what is larger is refused with a Fault of kind "too-large". */
  limits: { hosts: number; flows: number; trace_rows: number; file_bytes: number };
}
export interface Key {
  /** "[fabric]", "[transport]", "[run]", "[output]", "kind `poisson`", ... */
  section: string;
  /** "fabric.rate"; keys of traffic are "traffic.load" and belong to an entry traffic.N. */
  path: string;
  /** Kind of traffic it belongs to, else null. */
  kind: string | null;
  meaning: string;
  /** Type in words: "a rate such as `40Gbps`, or `auto`", "true or false", "`sim`, `dataplane`". */
  expects: string;
  /** Type for a form. */
  type: "text" | "whole" | "number" | "flag" | "choice" | "rate" | "time" | "bytes" | "buffer" | "hosts" | "list" | "table" | "section";
  /** Names accepted, for "choice" (of a list: of its entries); else []. */
  choices: string[];
  /** Whether `auto` is accepted too. */
  auto: boolean;
  /** Accepted range in words, null if as wide as the type. */
  range: string | null;
  default: { required?: true; value?: string /* TOML */; words?: string };
}
export interface TransportInfo {
  name: string; id: number; title: string; paper: string;
  /** "sender-driven", "receiver-driven", ... and "what switches must do". */
  kind: string; switch_support: string; routing: string;
  parameters: { name: string; default: string; accepts: string; source: string; doc: string }[];
  sets: { name: string; source: string; values: Record<string, string> }[];
  symmetric_paths: boolean; ecn: string; marks: boolean; made_for_pfc: boolean; feedback_bits: number | null;
  deviations: { number: number; section: string; what: string; reason: string; effect: string | null }[];
}

// ---------- scenarios ----------
/** A warning: its name, its sentence, what it means, and what to do. A name of another version has no meaning here: "". */
export interface Warning { name: string; text: string; means: string; remedy: string }
/** JSON `Check`: never throws for a wrong scenario, it reports. `check` plans the scenario without running it. */
export function check(toml: string, files?: Files): string;
export type Check =
  | { ok: true; title: string; warnings: Warning[]; cases: string[]; hosts: number; switches: number; ports: number; flows: number; total_bytes: number;
      base_rtt_ps: number; host_rate_bps: number; topology: string; files: string[] }
  | { ok: false; fault: { place: string; line: number | null; key: string; value: string; problem: string; accepted: string; suggestion: string; kind: string; message: string } };
/** A scenario's TOML as JSON, as it is written (nothing resolved): {"fabric":{"topology":"star:4"},"transport":{"names":["dctcp"]},"traffic":[{"kind":"incast",...}]}.
 *  Throws a Fault if it is no TOML. */
export function toTable(toml: string): string;
/** The other way: JSON of the same form to TOML that `incast run FILE` takes, keys that equal their default left out; null values are left out.
 *  Throws a Fault if a key, type or range is wrong. The TOML has the same records in the browser and on the command line. */
export function toToml(table: string): string;
/** A scenario with every default written out. */
export function resolved(toml: string, files?: Files): string;

// ---------- a fabric ----------
/** JSON of `Lab.fabric()` and `Results.fabric(run)`. */
export interface Fabric {
  name: string;           // "leaf-spine:2x2x4"
  base_rtt_ps: number;
  /** Node numbers are indices. Hosts come first. tier: 0 host, 1 edge (ToR, leaf), 2 aggregation, 3 core (spine). */
  nodes: { name: string; host: boolean; tier: number }[];
  /** Directed egress ports; the index is the port number of every per-port array, and `name` is that in ports.parquet.
   *  tier of a port: "nic" | "edge" | "aggregation" | "core". A link is the pair (port, reverse). */
  ports: { name: string; node: number; peer: number; reverse: number; tier: string; upward: boolean; rate_bps: number; propagation_ps: number; loss: number }[];
  /** Links that fail during the run. */
  failures: { at_ps: number; a: string; b: string }[];
}

/** Dictionary-coded names: row r is names[codes[r]]. */
export interface Texts { names: string[]; codes: Uint32Array }

export interface TableInfo {
  name: string;           // "flows", "ports", "fairness", "trace"
  doc: string;            // what a row is
  rows: number;           // 0 in Declarations
  columns: { name: string; type: "uint64" | "float64" | "string" | "bool"; unit: string; doc: string }[];
}

// ---------- a run, live ----------
/** One run of the simulator, step by step. Two Labs are independent: step each to the same time for one clock. */
export class Lab {
  /** `transport`: which of transport.names (default the first). Throws a Fault (wrong scenario; more hosts or flows than `limits`). */
  constructor(toml: string, transport?: string | null, files?: Files | null);
  free(): void;
  /** JSON {label, title, transports:[names; index = flowTransport], flows, hosts, base_rtt_ps, bdp_bytes, mtu_bytes, host_rate_bps, buffer_bytes|null, until_ps|null, warnings: Warning[]} */
  info(): string;
  fabric(): string;

  // flows, constant: index = flow number
  flowSrc(): Uint32Array;
  flowDst(): Uint32Array;
  flowSize(): Float64Array;           // bytes
  flowTransport(): Uint32Array;       // index into info().transports
  /** When it is to start, ps; NaN if it waits for another flow. */
  flowPlanned(): Float64Array;

  /** Runs until `untilPs` (exclusive) or until `maxEvents` more events, whichever is first. Returns whether the run is over.
   *  About 1-5 million events per second: maxEvents = 20000 keeps a frame short. */
  step(untilPs: number, maxEvents: number): boolean;
  /** Simulated time reached, ps: `untilPs` of the last step, or the time of the last event if the bound of events came first. */
  now(): number;
  over(): boolean;
  completed(): number;                // flows completed
  hops(): number;                     // packets that began transmission so far
  events(): number;

  // ports at now(): index = port number, cumulative where said
  queueBytes(): Float64Array;         // waiting, without the packet in transmission
  sentBytes(): Float64Array;          // cumulative, as links charge
  marks(): Float64Array;              // cumulative
  drops(): Float64Array;              // cumulative
  trims(): Float64Array;              // cumulative
  /** Bit c set: class c is paused by PFC now. */
  paused(): Uint8Array;
  /** Cumulative ps in which some class was paused. */
  pausedPs(): Float64Array;

  // flows at now()
  flowStarted(): Float64Array;        // ps, NaN if not yet
  flowDelivered(): Float64Array;      // payload bytes delivered so far
  flowCompleted(): Float64Array;      // ps, NaN if not yet
  /** State of congestion control at the source: 4 numbers per flow asked for: window bytes, rate bit/s, in-flight bytes, credits (packets);
   *  NaN where the transport has none or the flow is not open. */
  observe(flows: Uint32Array): Float64Array;

  /** Ends the run (where it is, if it is not over: then "complete" is false) and gives its tables; the Lab cannot step afterwards. */
  results(): Results;
}

// ---------- results ----------
/** A results folder, of one run or a comparison of several. */
export class Results {
  /** Throws a Fault: no manifest, a reproduction or study instead of a run, not JSON, truncated Parquet ... */
  constructor(files: Folder);
  free(): void;
  /** JSON `ResultsInfo`. */
  info(): string;
  /** JSON Quantity[] of a run: the numbers that have a title, then the goodput of each transport if there are several. */
  outcome(run: number): string;
  /** TOML of the scenario, all cases. */
  scenario(): string;
  /** JSON TableInfo[] of a run: the tables whose files are there. */
  tables(run: number): string;
  rows(run: number, table: string): number;
  /** A column of numbers or flags (0/1), NaN for null; whole numbers above 2^53 are rounded. */
  numbers(run: number, table: string, column: string): Float64Array;
  /** A column of names. */
  texts(run: number, table: string, column: string): Texts;
  /** JSON Fabric. Throws kind "missing-file" if the topology is in a file that the folder does not have: then addInput. */
  fabric(run: number): string;
  /** Ports of the way of the packet that completed the flow (of all its packets unless sprayed); [] if not known. */
  path(run: number, flow: number): Uint32Array;
  /** Gives an input file (topology, flows, ...) by its name in the manifest; throws kind "changed-file" if its hash is another. */
  addInput(name: string, bytes: Uint8Array): void;
  /** Repeats the run with a trace of these flows on their paths and explains them. Throws kind "not-repeatable", "missing-file", "no-such-flow", "too-large". */
  explain(run: number, flows: Uint32Array, progress?: Progress | null): Explained;
  /** JSON Difference (as `incast explain --between A B --json`) of one flow in two runs. */
  difference(runA: number, runB: number, flow: number, progress?: Progress | null): string;
  /** Who filled a queue: repeats the run with a trace of one port in a window. JSON `Filling`. */
  filling(run: number, port: number, fromPs: number, untilPs: number, progress?: Progress | null): string;
  /** A Lab of this run's scenario: replays it. */
  lab(run: number): Lab;
  /** The folder's files (what was given, or what Lab.results() made): to save. */
  files(): Folder;
}
export interface ResultsInfo {
  title: string; version: string;
  /** Sentences a reader must see: another version, an incomplete run, a missing table, ... with what to do. */
  notes: string[];
  runs: {
    label: string;         // transport, or subfolder of a comparison
    folder: string;        // "" or "dctcp"
    complete: boolean; flows: number; hosts: number; packet_hops: number; simulated_ps: number; series_start_ps: number; base_rtt_ps: number;
    topology: string;
    transports: string[]; world: string;
    /** "" if explain and replay are possible, else why not. */
    not_repeatable: string;
    warnings: Warning[];
    tables: string[];
  }[];
  /** Input files of the scenario: [{name, role, sha256, given}] (given: it is in the folder or was added). */
  inputs: { name: string; role: string; sha256: string; given: boolean }[];
  /** Whether report.html is there, and other files not read. */
  others: string[];
}
/** A number of a run as it is shown: `name` as in study.parquet, "" if it has none; `unit` "" for a count, share or ratio. */
/** A number of a run; `place`: where it stands in the table of the laboratory. */
export interface Quantity {
  name: string; title: string; doc: string; unit: string; whole: boolean; place: number | null; value: number | null;
}
/** What explain() gives. */
export class Explained {
  free(): void;
  /** The same JSON as `incast explain --json`: an array, one explanation per flow (shape: `Explanation` below). */
  json(): string;
  /** The same prose as `incast explain`. */
  text(): string;
  /** The same page as `incast explain --html`. */
  html(): string;
  /** The trace, columns as of trace.parquet (declarations().tables "trace"), ordered by time_ps. */
  rows(): number;
  numbers(column: string): Float64Array;
  texts(column: string): Texts;
  /** Whether the trace reached its limit; then events are missing at the end. */
  cut(): boolean;
}
/** For a time-sequence diagram: rows of one flow of Explained's trace; `place` is a host ("host3") or port ("leaf0->spine1");
 *  `event` one of opened completed acknowledged sent delivered queued started waited marked dropped trimmed bounced lost decision timeout paused resumed;
 *  `packet` "Data", "Ack", "Grant", "Credit", ...; a packet is followed by (packet, number, departed_ps). */

/** JSON of an explanation (after_ps: ps since the flow's start). */
export interface Explanation {
  run: string;
  flow: FlowFacts;
  /** The answer in sentences, what took longest first. */
  verdict: string[];
  /** The waterfall; adds up to fct_ps. [] if the flow is incomplete. */
  parts: { name: string; meaning: string; ps: number; share: number }[];
  worst_port: [string, number] | null;
  /** The way of the packet that completed the flow, with what was in front of it. */
  hops: unknown[]; waits: unknown[]; losses: unknown[]; silences: unknown[]; pauses: unknown[];
  control: { after_ps: number; end: "source" | "destination"; event: "opened" | "decision" | "timeout"; age_ps: number | null; window_bytes: number | null; rate_bps: number | null; in_flight_bytes: number | null; credits: number | null }[];
  /** The other flows that are named. */
  others: FlowFacts[];
  notes: string[];
}
export interface FlowFacts { id: number; src: number; dst: number; size_bytes: number; transport: string; start_ps: number | null; fct_ps: number | null; ideal_ps: number; slowdown: number | null; packets: number; retransmits: number; path: string }
/** Who filled a queue. */
export interface Filling {
  port: string; from_ps: number; until_ps: number;
  /** Whether the trace reached its limit. */
  cut: boolean;
  /** At most 512 instants, ps since the start of the run. */
  times_ps: number[];
  /** By flow, most byte-time first, at most 12; the last may be {flow: null} = all others. queue_bytes[i] belongs to times_ps[i];
   *  stacked they are the queue. share: of the queue's byte-time in the window. */
  flows: { flow: number | null; src: number | null; dst: number | null; transport: string; size_bytes: number; share: number; arrived_bytes: number; marked: number; dropped: number; queue_bytes: number[] }[];
}
