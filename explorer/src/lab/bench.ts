/** What the laboratory's worker does: it plans scenarios and steps their runs on one clock. */
import {
  check, declarations, initSync, Lab, toTable, toToml,
  type Check, type Declarations, type Explanation, type Fabric, type Fault, type Folder, type Quantity, type Results,
} from "incast-web";

/** What is wrong with an input, as it can be posted. */
export interface Trouble {
  readonly kind: string;
  readonly key: string;
  readonly message: string;
}

/** An answer, or what went wrong: a thrown error would lose its key on the way. */
export type Answer<T> = { readonly ok: T } | { readonly trouble: Trouble };

/** What a run is called and what it consists of. */
export interface Facts {
  readonly label: string;
  readonly title: string;
  readonly transports: readonly string[];
  readonly flows: number;
  readonly base_rtt_ps: number;
  readonly buffer_bytes: number | null;
  readonly until_ps: number | null;
}

/** A run that has been planned. */
export interface Planned {
  readonly facts: Facts;
  readonly fabric: Fabric;
  readonly src: Uint32Array;
  readonly dst: Uint32Array;
  readonly size: Float64Array;
  readonly carrier: Uint32Array;
  readonly planned: Float64Array;
}

/** What is recorded of a run at one instant: per port queue, bytes sent, packets lost and ps paused, then bytes delivered of the
 *  watched flows. */
export type Frame = Float64Array;

/** What happened in one run since the last call. */
export interface Advance {
  /** One per instant until the run is over. */
  readonly frames: readonly Frame[];
  readonly completed: readonly number[];
  readonly over: boolean;
  readonly now: number;
  readonly started: Float64Array;
  readonly ended: Float64Array;
}

/** The instants that were reached, and every run's part. */
export interface Batch {
  readonly times: readonly number[];
  readonly runs: readonly Advance[];
}

/** What a finished run leaves. */
export interface Outcome {
  readonly numbers: readonly Quantity[];
  readonly files: Folder;
}

/** The number of flows of a run whose throughput is recorded. */
export const WATCHED = 48;
/** After this many instants the distance between two is doubled, so that long runs stay small. */
const DENSE = 3000;
/** Events between two looks at the clock of the wall. */
const SLICE = 200_000;

interface Running {
  lab: Lab | undefined;
  results: Results | undefined;
  over: boolean;
  watched: Uint32Array;
}

let runs: Running[] = [];
let interval = 1;
let reached = 0;
let instants = 0;

function answer<T>(work: () => T): Answer<T> {
  try {
    return { ok: work() };
  } catch (error) {
    const fault = error as Partial<Fault>;
    return {
      trouble: { kind: fault.kind ?? fault.name ?? "error", key: fault.key ?? "", message: fault.message ?? String(error) },
    };
  }
}

function close(): void {
  for (const run of runs) {
    run.results?.free();
    run.lab?.free();
  }
  runs = [];
}

function planned(lab: Lab): Planned {
  return {
    facts: JSON.parse(lab.info()) as Facts,
    fabric: JSON.parse(lab.fabric()) as Fabric,
    src: lab.flowSrc(),
    dst: lab.flowDst(),
    size: lab.flowSize(),
    carrier: lab.flowTransport(),
    planned: lab.flowPlanned(),
  };
}

function frame(lab: Lab, watched: Uint32Array): Frame {
  const queue = lab.queueBytes();
  const ports = queue.length;
  const all = new Float64Array(ports * 4 + watched.length);
  const [drops, trims] = [lab.drops(), lab.trims()];
  all.set(queue, 0);
  all.set(lab.sentBytes(), ports);
  drops.forEach((count, port) => { all[2 * ports + port] = count + (trims[port] ?? 0); });
  all.set(lab.pausedPs(), ports * 3);
  const delivered = lab.flowDelivered();
  watched.forEach((flow, at) => { all[ports * 4 + at] = delivered[flow] ?? 0; });
  return all;
}

/** Runs until an instant; whether the run is over. */
function until(lab: Lab, time: number): boolean {
  for (;;) {
    if (lab.step(time, SLICE)) return true;
    if (lab.now() >= time) return false;
  }
}

function step(target: number, wallMs: number): Batch {
  const end = performance.now() + wallMs;
  const times: number[] = [];
  const parts = runs.map(() => ({ frames: [] as Frame[], completed: [] as number[] }));
  while (reached < target && performance.now() < end && runs.some((run) => !run.over)) {
    const next = reached + interval;
    runs.forEach((run, at) => {
      if (run.over || !run.lab) return;
      run.over = until(run.lab, next);
      parts[at]?.frames.push(frame(run.lab, run.watched));
      parts[at]?.completed.push(run.lab.completed());
    });
    times.push(next);
    reached = next;
    if (++instants % DENSE === 0) interval *= 2;
  }
  return {
    times,
    runs: runs.map((run, at) => ({
      frames: parts[at]?.frames ?? [],
      completed: parts[at]?.completed ?? [],
      over: run.over,
      now: run.lab?.now() ?? NaN,
      started: run.lab?.flowStarted() ?? new Float64Array(),
      ended: run.lab?.flowCompleted() ?? new Float64Array(),
    })),
  };
}

/** The distance between two instants: half of the shortest base RTT, or less often in a long run of known length. */
function distance(all: readonly Planned[]): number {
  const rtt = Math.min(...all.map(({ facts }) => facts.base_rtt_ps));
  const lengths = all.map(({ facts }) => facts.until_ps ?? 0);
  return Math.max(1, Math.round(Math.max(rtt / 2, Math.max(...lengths) / 2000)));
}

function finished(at: number): Results {
  const run = runs[at];
  if (!run) throw new Error("there is no such run");
  if (!run.results) {
    if (!run.lab || !run.over) throw new Error("the run is not over");
    run.results = run.lab.results();
    run.lab.free();
    run.lab = undefined;
  }
  return run.results;
}

const bench = {
  /** Starts the engine and tells what it declares. */
  start(module: WebAssembly.Module): Answer<Declarations> {
    return answer(() => {
      initSync({ module });
      return JSON.parse(declarations()) as Declarations;
    });
  },
  check(toml: string): Check {
    return JSON.parse(check(toml)) as Check;
  },
  table(toml: string): Answer<Record<string, unknown>> {
    return answer(() => JSON.parse(toTable(toml)) as Record<string, unknown>);
  },
  toml(table: unknown): Answer<string> {
    return answer(() => toToml(JSON.stringify(table)));
  },
  /** Plans runs, which begin at time 0; former ones are dropped. */
  open(wanted: readonly { toml: string; transport: string; watched: readonly number[] }[]): Answer<Planned[]> {
    return answer(() => {
      close();
      [reached, instants] = [0, 0];
      const all = wanted.map(({ toml, transport, watched }) => {
        const lab = new Lab(toml, transport);
        runs.push({ lab, results: undefined, over: false, watched: Uint32Array.from(watched) });
        return planned(lab);
      });
      interval = distance(all);
      return all;
    });
  },
  /** Runs all of them until `target` ps, or for `wallMs`. */
  step(target: number, wallMs: number): Answer<Batch> {
    return answer(() => step(target, wallMs));
  },
  outcome(at: number): Answer<Outcome> {
    return answer(() => {
      const results = finished(at);
      return { numbers: JSON.parse(results.outcome(0)) as Quantity[], files: results.files() };
    });
  },
  explain(at: number, flow: number): Answer<Explanation> {
    return answer(() => {
      const told = finished(at).explain(0, Uint32Array.of(flow));
      const [one] = JSON.parse(told.json()) as Explanation[];
      told.free();
      if (!one) throw new Error("the engine explained no flow");
      return one;
    });
  },
};

export type Bench = typeof bench;
export { bench };
