/** Series of the runs, up to the time that was reached. */
import { useEffect, useState } from "preact/hooks";
import { Series } from "../parts/series";
import { advanced, chosenFlows, now, port, reached, runs, seek, times, type Run } from "./store";

/** Instants over which rates are averaged. */
const SMOOTH = 6;
/** Lines in the chart of throughputs at most. */
const LINES = 8;

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

function Chart(props: { lines: Line[]; unit: string; title: string; scale: number; timeUnit: string }) {
  const { lines, unit, title, scale, timeUnit } = props;
  const data = [times.map((ps) => ps / scale), ...lines.map(({ values }) => values)];
  return (
    <section class="panel chart">
      <h3>{title}</h3>
      <Series
        data={data} names={lines.map(({ name }) => name)} unit={unit} timeUnit={timeUnit} height={170}
        cursor={now.value / scale} onTime={(at) => seek(at * scale)}
        label={`${title} in ${unit} over time, ${lines.map(({ name }) => name).join(", ")}`}
      />
    </section>
  );
}

/** All charts. */
export function Charts() {
  useSlowly();
  const [scale, timeUnit] = reached() > 5e9 ? [1e9, "ms"] : [1e6, "µs"];
  const common = { scale, timeUnit };
  const few = runs.value.every((run) => run.facts.flows <= 12) || chosenFlows.value.length > 0;
  return (
    <div class="charts">
      <Chart {...common} lines={queues()} unit="KB" title={`Queue of ${port.value}`} />
      <Chart {...common} lines={uses()} unit="%" title={`Use of ${port.value}`} />
      {few
        ? <Chart {...common} lines={throughputs()} unit="Gb/s" title="Throughput of flows" />
        : <Chart {...common} lines={finished()} unit="flows" title="Flows finished" />}
    </div>
  );
}
