/** Series of the runs, up to the time that was reached. */
import { useEffect, useState } from "preact/hooks";
import { time } from "../parts/format";
import { Series } from "../parts/series";
import { looks } from "../theme";
import { advanced, chosenFlows, now, playing, port, reached, runs, seek, speed, times, type Run } from "./store";

/** Instants over which rates are averaged. */
const SMOOTH = 6;
/** Lines in the chart of throughputs at most. */
const LINES = 8;

/** Seconds of play that empty charts have room for. */
const ROOM = 10;
/** A run whose life is a smaller share of the longest one's is a sliver in its charts. */
const SLIVER = 0.2;

interface Line {
  readonly name: string;
  readonly values: (number | null)[];
}

/** A value per instant of a run; null after its end. */
function line(name: string, run: Run, value: (frame: Float64Array, at: number) => number): Line {
  return { name, values: times.map((_, at) => (run.frames[at] ? value(run.frames[at], at) : null)) };
}

/** The growth of a counter per second, averaged. */
function rate(run: Run, place: number, at: number): number {
  const from = Math.max(0, at - SMOOTH);
  const grown = (run.frames[at]?.[place] ?? 0) - (from === at ? 0 : (run.frames[from]?.[place] ?? 0));
  const span = (times[at] ?? 0) - (from === at ? 0 : (times[from] ?? 0));
  return span > 0 ? (grown * 1e12) / span : 0;
}

function portOf(run: Run): number {
  return run.shape.ports.findIndex(({ name }) => name === port.value);
}

function queues(): Line[] {
  return runs.value.map((run) => {
    const own = portOf(run);
    return line(run.title, run, (frame) => (frame[own] ?? 0) / 1e3);
  });
}

function uses(): Line[] {
  return runs.value.map((run) => {
    const own = portOf(run);
    const full = run.shape.ports[own]?.rate ?? 1;
    return line(run.title, run, (_, at) => (rate(run, run.shape.ports.length + own, at) * 800) / full);
  });
}

function throughputs(): Line[] {
  const each = Math.max(1, Math.floor(LINES / runs.value.length));
  return runs.value.flatMap((run) => {
    const wanted = chosenFlows.value.length ? chosenFlows.value : largest(run);
    return wanted.slice(0, each).map((flow) => {
      const place = run.shape.ports.length * 4 + run.watched.indexOf(flow);
      const of = run.facts.transports[run.planned.carrier[flow] ?? 0] ?? "";
      const own = run.facts.transports.length > 1 ? ` (${of})` : "";
      return line(`${run.title}, flow ${flow}${own}`, run, (_, at) => (rate(run, place, at) * 8) / 1e9);
    });
  });
}

/** The largest watched flows. */
function largest(run: Run): number[] {
  const size = (flow: number) => run.planned.size[flow] ?? 0;
  return run.watched.filter((flow) => flow < run.facts.flows).sort((a, b) => size(b) - size(a) || a - b).slice(0, 3);
}

function finished(): Line[] {
  return runs.value.map((run) => ({
    name: run.title, values: times.map((_, at) => run.completed[at] ?? run.completed.at(-1) ?? null),
  }));
}

/** The charts follow the runs a few times per second: more would only heat the machine. */
function useSlowly(): number {
  const [seen, setSeen] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeen(advanced.peek()), 150);
    return () => clearInterval(timer);
  }, []);
  return seen;
}

/** What all charts share. */
interface Common {
  readonly scale: number;
  readonly timeUnit: string;
  readonly until: number | undefined;
}

function Chart({ lines, unit, title, top, common }: { lines: Line[]; unit: string; title: string; top: number; common: Common }) {
  const { scale, timeUnit, until } = common;
  const names = lines.map(({ name }) => name);
  const empty = !times.length;
  const data = empty ? [[0], ...lines.map(() => [null])] : [times.map((ps) => ps / scale), ...lines.map(({ values }) => values)];
  return (
    <section class="panel chart">
      <h3>{title}</h3>
      <Series
        data={data} names={names} looks={looks(names)} unit={unit} timeUnit={timeUnit} height={170} until={until} top={empty ? top : undefined}
        cursor={now.value / scale} onTime={(at) => seek(at * scale)}
        label={`${title} in ${unit} over time, ${names.join(", ")}`}
      />
    </section>
  );
}

/** When each run ended, or where it is. */
const lives = () => runs.value.map((run) => (run.over ? (times[run.frames.length - 1] ?? 0) : reached()));

/** The end of the part in which a run lives that would be a sliver in the whole; undefined if none would. */
function sliver(): number | undefined {
  const all = lives();
  const shortest = Math.min(...all);
  return runs.value.some((run) => run.over) && shortest > 0 && shortest < SLIVER * Math.max(...all) ? 1.25 * shortest : undefined;
}

/** The choice between the part that the shortest run lives in, and all. */
function Zoom({ first, zoomed, choose }: { first: number; zoomed: boolean; choose: (zoomed: boolean) => void }) {
  return (
    <div class="row small zoom" role="group" aria-label="Charts show">
      <span class="quiet">Charts show</span>
      <button type="button" aria-pressed={zoomed} onClick={() => choose(true)}>the first {time(first)}</button>
      <button type="button" aria-pressed={!zoomed} onClick={() => choose(false)}>all {time(reached())}</button>
    </div>
  );
}

/** All charts. */
export function Charts() {
  useSlowly();
  const [chosen, choose] = useState<boolean | undefined>();
  useEffect(() => choose(undefined), [runs.value]);
  const first = sliver();
  // Play goes on beyond the first part, and the charts with it.
  const zoomed = first !== undefined && (chosen ?? !(playing.value && now.value > first));
  const end = zoomed ? first : reached() || ROOM * speed.peek();
  const [scale, timeUnit] = end > 5e9 ? [1e9, "ms"] : [1e6, "µs"];
  const common = { scale, timeUnit, until: zoomed || !reached() ? end / scale : undefined };
  const few = runs.value.every((run) => run.facts.flows <= 12) || chosenFlows.value.length > 0;
  const most = (of: (run: Run) => number) => Math.max(0, ...runs.value.map(of));
  const rate = most((run) => run.shape.ports[portOf(run)]?.rate ?? 0) / 1e9;
  return (
    <>
      {first !== undefined && <Zoom first={first} zoomed={zoomed} choose={choose} />}
      <div class="charts">
        <Chart common={common} lines={queues()} unit="KB" top={most((run) => run.facts.buffer_bytes ?? 128 << 10) / 1e3} title={`Queue of ${port.value}`} />
        <Chart common={common} lines={uses()} unit="%" top={100} title={`Use of ${port.value}`} />
        {few
          ? <Chart common={common} lines={throughputs()} unit="Gb/s" top={rate} title="Throughput of flows" />
          : <Chart common={common} lines={finished()} unit="flows" top={most((run) => run.facts.flows)} title="Flows finished" />}
      </div>
    </>
  );
}
