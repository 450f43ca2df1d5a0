/** The runs of the laboratory and their clock. */
import { computed, effect, signal } from "@preact/signals";
import type { Explanation } from "incast-web";
import { shapeOf, type FabricShape } from "../fabric/shape";
import { WATCHED, type Answer, type Batch, type Facts, type Frame, type Outcome, type Planned } from "./bench";
import { engine, Refused, restart, told } from "./engine";
import { outages, type Outage } from "./outages";
import { transportsOf, type Entry, type Setup } from "./setup";
import { tooLarge } from "./size";

/** One run: a scenario under one transport, and what is known of it up to now. */
export interface Run {
  readonly title: string;
  readonly entry: Entry;
  readonly transport: string;
  readonly facts: Facts;
  readonly shape: FabricShape;
  readonly planned: Planned;
  readonly outages: readonly Outage[];
  /** Flows whose bytes the frames hold. */
  readonly watched: readonly number[];
  readonly frames: Frame[];
  readonly completed: number[];
  over: boolean;
  started: Float64Array;
  ended: Float64Array;
}

export const setup = signal<Setup | undefined>(undefined);
export const runs = signal<readonly Run[]>([]);
/** Instants that the runs have reached, in ps; the last run to end has a frame for each. */
export const times: number[] = [];
/** Changes when runs have advanced. */
export const advanced = signal(0);
/** The time that is shown, ps. */
export const now = signal(0);
export const playing = signal(false);
/** Whether the runs are being finished as fast as possible. */
export const rushing = signal(false);
/** Simulated ps that a second of play shows. */
export const speed = signal(1e8);
/** Name of the chosen port. */
export const port = signal("");
/** Flows whose throughput is drawn, in every run; by default those first in the list. */
export const chosenFlows = signal<readonly number[]>([]);
/** Why the setup cannot run. */
export const refused = signal("");
export const outcomes = signal<readonly (Outcome | undefined)[]>([]);
/** An explanation that was asked for, and of which run it is. */
export const explained = signal<{ readonly run: number; readonly explanation: Explanation } | undefined>(undefined);
export const loading = signal(false);

/** Whether all runs are over. */
export const over = computed(() => (advanced.value, runs.value.length > 0 && runs.value.every((run) => run.over)));

/** The last instant that was reached. */
export const reached = () => times.at(-1) ?? 0;

/** The number of the last instant at or before a time; -1 before the first. */
export function instant(time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

let session = 0;

/** Refuses what is wrong or too large here. */
async function fits(entries: readonly Entry[]): Promise<boolean> {
  const { bench } = await engine();
  for (const { toml } of entries) {
    const check = await bench.check(toml);
    const message = check.ok ? tooLarge(toml, check)?.message : check.fault.message;
    if (message) {
      refused.value = message;
      return false;
    }
  }
  return true;
}

function titles(entries: readonly Entry[]): { entry: Entry; transport: string; title: string }[] {
  const several = entries.length > 1;
  return entries.flatMap((entry) => {
    const transports = transportsOf(entry.toml);
    return transports.map((transport) => {
      const named = several && entry.name;
      const title = !named ? transport : transports.length > 1 ? `${entry.name}: ${transport}` : entry.name;
      return { entry, transport, title };
    });
  });
}

/** Plans what a setup names; the clock is at 0. */
export async function open(next: Setup, flows: readonly number[] = []): Promise<void> {
  const own = ++session;
  playing.value = rushing.value = false;
  [refused.value, explained.value, loading.value] = ["", undefined, true];
  try {
    if (!(await fits(next.entries))) return;
    const wanted = titles(next.entries);
    const watched = [...new Set([...flows, ...Array.from({ length: WATCHED }, (_, flow) => flow)])].slice(0, WATCHED);
    const { bench } = await engine();
    const plans = wanted.map(({ entry, transport }) => ({ toml: entry.toml, transport, watched }));
    const all = await told(bench.open(plans) as Promise<Answer<Planned[]>>);
    if (own !== session) return;
    times.length = 0;
    now.value = 0;
    chosenFlows.value = flows;
    outcomes.value = [];
    setup.value = next;
    runs.value = all.map((planned, at) => {
      const own = wanted[at] as { entry: Entry; transport: string; title: string };
      const shape = shapeOf(planned.fabric);
      return {
        ...own, facts: planned.facts, shape, planned, outages: outages(own.entry.toml, shape), watched, frames: [], completed: [],
        over: false, started: new Float64Array(), ended: new Float64Array(),
      };
    });
    if (!runs.value[0]?.shape.ports.some(({ name }) => name === next.port)) port.value = busiest();
    else port.value = next.port;
    advanced.value++;
  } catch (error) {
    fail(error);
  } finally {
    if (own === session) loading.value = false;
  }
}

/** The port into the host that most bytes go to. */
function busiest(): string {
  const [first] = runs.value;
  if (!first) return "";
  const to = new Map<number, number>();
  first.planned.dst.forEach((host, flow) => to.set(host, (to.get(host) ?? 0) + (first.planned.size[flow] ?? 0)));
  const [host] = [...to].sort((a, b) => b[1] - a[1])[0] ?? [0];
  return first.shape.ports.find((one) => one.to === host)?.name ?? "";
}

function take(batch: Batch): void {
  times.push(...batch.times);
  batch.runs.forEach((part, at) => {
    const run = runs.value[at];
    if (!run) return;
    run.frames.push(...part.frames);
    run.completed.push(...part.completed);
    run.over = part.over;
    if (part.started.length) [run.started, run.ended] = [part.started, part.ended];
  });
  advanced.value++;
}

/** Advances the runs to a time. */
async function advance(target: number, wallMs: number): Promise<void> {
  const own = session;
  const { bench } = await engine();
  const batch = await told(bench.step(target, wallMs) as Promise<Answer<Batch>>);
  if (own === session) take(batch);
}

/** Fetches what the finished runs leave. */
async function finish(): Promise<void> {
  const own = session;
  const { bench } = await engine();
  const all: Outcome[] = [];
  for (let at = 0; at < runs.value.length; at++) {
    const outcome = await told(bench.outcome(at) as Promise<Answer<Outcome>>);
    if (own !== session) return;
    all.push(outcome);
  }
  outcomes.value = all;
}

effect(() => {
  if (over.value && !outcomes.peek().length) finish().catch(fail);
});

function fail(error: unknown): void {
  playing.value = rushing.value = false;
  // After a fault of its own the engine is of no use; the next run gets another one.
  if (error instanceof Refused && error.trouble.kind === "Panic") restart();
  refused.value = error instanceof Error ? error.message : String(error);
}

/** How much faster time goes while no link carries anything, such as during a timeout. */
export const HASTE = 30;
/** Whether nothing moves at the time that is shown. */
export const quiet = signal(false);

/** Whether no run that goes on has sent anything for the last instants. */
function still(): boolean {
  const at = instant(now.peek());
  return at > 4 && runs.peek().every((run) => {
    const [frame, before] = [run.frames[at], run.frames[at - 4]];
    if (!frame || !before) return true;
    const ports = run.shape.ports.length;
    for (let place = ports; place < 2 * ports; place++) if (frame[place] !== before[place]) return false;
    return true;
  });
}

/** Plays: each frame moves the clock by the time that has passed, as far as the engine has come. */
effect(() => {
  if (!playing.value) return undefined;
  let alive = true;
  let last: number | undefined;
  const next = async (at: number) => {
    const passed = last === undefined ? 0 : Math.min(at - last, 100);
    last = at;
    quiet.value = still() && !over.peek();
    const wanted = now.peek() + speed.peek() * (quiet.peek() ? HASTE : 1) * (passed / 1000);
    if (wanted > reached() && !over.peek()) await advance(wanted, 40);
    if (!alive) return;
    now.value = Math.min(wanted, over.peek() ? reached() : Math.max(reached(), now.peek()));
    if (over.peek() && now.value >= reached()) playing.value = false;
    else requestAnimationFrame((time) => { next(time).catch(fail); });
  };
  requestAnimationFrame((time) => { next(time).catch(fail); });
  return () => {
    alive = false;
    quiet.value = false;
  };
});

/** Runs to the end as fast as the engine can. */
export async function toEnd(): Promise<void> {
  playing.value = false;
  rushing.value = true;
  const own = session;
  try {
    while (rushing.peek() && own === session && !over.peek()) {
      await advance(Number.MAX_VALUE, 80);
      now.value = reached();
    }
    now.value = reached();
  } catch (error) {
    fail(error);
  } finally {
    if (own === session) rushing.value = false;
  }
}

/** Stops; the clock stays where it is. */
export function stop(): void {
  playing.value = rushing.value = false;
}

/** Plays on, or again from the start. */
export function toggle(): void {
  if (!playing.value && over.value && now.value >= reached()) now.value = 0;
  rushing.value = false;
  playing.value = !playing.value;
}

/** Goes one instant further. */
export async function step(): Promise<void> {
  stop();
  const at = instant(now.value);
  try {
    if (at + 1 >= times.length && !over.value) await advance(reached() + 1, 1000);
    now.value = times[Math.min(at + 1, times.length - 1)] ?? 0;
  } catch (error) {
    fail(error);
  }
}

/** Goes to a time that has been reached. */
export function seek(time: number): void {
  stop();
  now.value = Math.min(Math.max(time, 0), reached());
}

/** The slowest flow of a run that is over; undefined if none completed. */
export function slowest(run: Run): number | undefined {
  let found: number | undefined;
  let most = -1;
  run.ended.forEach((end, flow) => {
    const took = end - (run.started[flow] ?? NaN);
    if (took > most) [most, found] = [took, flow];
  });
  return found;
}

/** Asks why a flow took its time. */
export async function explain(at: number, flow: number): Promise<void> {
  try {
    const { bench } = await engine();
    const explanation = await told(bench.explain(at, flow) as Promise<Answer<Explanation>>);
    explained.value = { run: at, explanation };
  } catch (error) {
    fail(error);
  }
}
