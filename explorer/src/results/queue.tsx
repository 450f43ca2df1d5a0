/** One queue: its series over time, and who filled it. */
import { useMemo, useRef, useState } from "preact/hooks";
import type { Fabric, Filling } from "incast-web";
import { bytes, count, percent, rate, time } from "../parts/format";
import { useLoaded, type Loaded } from "../parts/loaded";
import { Series } from "../parts/series";
import { SHADES, Stack } from "../parts/stack";
import { address, amend, route } from "../route";
import { axisUnit, Clock, end, now, seek } from "./clock";
import type { PortSeries, RunData } from "./data";
import { Repeating, type Progress } from "./parts";
import { sides, type Side } from "./store";
import { NotRepeatable, Trouble } from "./trouble";

/** The largest queue of a port in all shown runs, bytes: charts side by side have one scale. */
function useLargest(all: readonly Side[], port: number): number {
  const { value } = useLoaded(() => Promise.all(all.map(({ data }) => data.ports())), [all.map(({ key }) => key).join(), all[0]?.data.folder]);
  return useMemo(() => Math.max(0, ...(value ?? []).map((series) => series.of("queue", port).reduce((a, b) => Math.max(a, b), 0))), [value, port]);
}

export function QueuePage() {
  const all = sides.value;
  const own = all[0];
  const { value: fabric, problem } = useLoaded(async () => own?.data.fabric(), [own?.data]);
  const { value: series } = useLoaded(async () => own?.data.ports(), [own?.data]);
  if (problem) return <Trouble problem={problem} data={own?.data} />;
  if (!fabric || !series) return <p role="status">Reading ports…</p>;
  // Without a port the page is of the largest queue of a switch.
  const text = route.value.params.get("port") ?? String(worst(fabric, series, own?.data.packets ? "queue" : "use"));
  const port = text === "" ? -1 : Number(text);
  const top = useLargest(all, port);
  return (
    <>
      <div class="row">
        <label class="row">Port
          <select value={text} onChange={(event) => amend({ port: event.currentTarget.value, w: undefined })}>
            {!fabric.ports[port] && <option value={text}>{text ? `no port ${text}` : "choose"}</option>}
            {fabric.ports.map(({ name }, at) => <option value={String(at)}>{name}</option>)}
          </select>
        </label>
        <a href={address("results/ports", Object.fromEntries(route.value.params))}>Choose it in the table of ports</a>
      </div>
      {text !== "" && !fabric.ports[port] && (
        <div class="notice" role="alert">There is no port {text}: expected 0 to {fabric.ports.length - 1}, or choose one by its name.</div>
      )}
      {fabric.ports[port] && (
        <div class="sides stack">{all.map((side) => <QueuePanel key={`${side.key} ${port}`} side={side} port={port} top={top} />)}</div>
      )}
      {fabric.ports[port] && <Clock step={series.interval} />}
    </>
  );
}

/** The port of a switch whose queue, or use, was the largest, or the first of all. */
function worst(fabric: Fabric, series: PortSeries, metric: "queue" | "use"): number {
  let [found, most] = [0, 0];
  series.metric(metric).forEach((backlog, at) => {
    const port = at % series.ports;
    if (backlog > most && fabric.ports[port]?.tier !== "nic") [found, most] = [port, backlog];
  });
  return found;
}

function lines(series: PortSeries, port: number, ps: number) {
  const scaled = (values: Float32Array, by: number) => Float64Array.from(values, (value) => value * by);
  const times = series.times(ps);
  return {
    queue: [times, scaled(series.of("queue", port), 1e-3), scaled(series.column(series.matrix("backlog_mean_bytes"), port), 1e-3)],
    use: [times, scaled(series.of("use", port), 100), scaled(series.of("pauses", port), 100)],
    events: [times, series.of("marks", port), series.of("losses", port)],
  };
}

/** The window that the address names, in ps, or around the largest backlog. */
function windowOf(series: PortSeries, port: number): readonly [number, number] {
  const [from, until] = (route.value.params.get("w") ?? "").split("-").map(Number);
  if (from !== undefined && until !== undefined && until > from) return [from, until];
  const queue = series.of("queue", port);
  let best = 0;
  queue.forEach((value, at) => { if (value > (queue[best] ?? 0)) best = at; });
  const time = (at: number) => series.start + at * series.interval;
  return [time(Math.max(best - 10, 0)), time(Math.min(best + 11, series.intervals))];
}

function QueuePanel({ side, port, top }: { readonly side: Side; readonly port: number; readonly top: number }) {
  const { data, title } = side;
  const { value, problem } = useLoaded(async () => {
    const [fabric, series] = await Promise.all([data.fabric(), data.ports()]);
    return { fabric, series };
  }, [data]);
  if (problem) return <Trouble problem={problem} data={data} />;
  if (!value) return <p role="status">Reading ports…</p>;
  const own = value.fabric.ports[port];
  if (!own) return <div class="notice" role="alert">{title} has no port {port}: expected 0 to {value.fabric.ports.length - 1}.</div>;
  return <QueueOf data={data} title={title} port={port} name={`${own.name}, ${rate(own.rate_bps)}`} series={value.series} top={top} />;
}

function QueueOf({ data, title, port, name, series, top }: { data: RunData; title: string; port: number; name: string; series: PortSeries; top: number }) {
  const { timeUnit, ps } = axisUnit();
  const all = useMemo(() => lines(series, port, ps), [series, port, ps]);
  const w = route.value.params.get("w");
  const [from, until] = useMemo(() => windowOf(series, port), [series, port, w]);
  const quiet = all.events.slice(1).every((line) => line.every((value) => value === 0));
  const pick = (a: number, b: number) => amend({ w: `${Math.round(a * ps)}-${Math.round(b * ps)}` });
  const common = { timeUnit, cursor: now.value / ps, onWindow: pick, onTime: (at: number) => seek(at * ps), height: 150, until: end() / ps };
  if (!data.packets) {
    return (
      <section class="panel" aria-label={title}>
        <h3>{title}: {name}</h3>
        <Series {...common} data={all.use.slice(0, 2)} names={["use"]} unit="%" label={`Use of ${name} over time, ${title}`} />
        <p class="quiet small">At flow level there are no packets, and so no queue.</p>
      </section>
    );
  }
  return (
    <section class="panel" aria-label={title}>
      <h3>{title}: {name}</h3>
      <Series {...common} top={top * 1e-3} data={all.queue} names={["largest", "mean"]} unit="queue, KB" label={`Queue of ${name} over time, ${title}`} />
      <Series {...common} data={all.use} names={["use", "paused"]} unit="%" label={`Use and pauses of ${name} over time, ${title}`} />
      {quiet
        ? <p class="quiet small">It marked, dropped and trimmed nothing.</p>
        : <Series {...common} data={all.events} names={["marks", "losses"]} unit="packets" label={`Marks and losses at ${name} over time, ${title}`} />}
      <h3>Who filled it</h3>
      <p class="small">
        From {time(from)} to {time(until)}. <span class="quiet">Drag over a chart for another window.</span>
      </p>
      <Who data={data} port={port} from={from} until={until} title={title} key={`${from} ${until}`} />
    </section>
  );
}

function Who({ data, port, from, until, title }: { data: RunData; port: number; from: number; until: number; title: string }) {
  const [state, setState] = useState<Loaded<Filling> & { running?: boolean; progress?: Progress }>({});
  const asked = useRef(0);
  const ask = () => {
    const own = ++asked.current;
    setState({ running: true });
    data.folder.repeat<Filling>(
      (at, completed, flows) => own === asked.current && setState({ running: true, progress: { now: at, completed, flows } }),
      (session, heard) => session.filling(data.run, port, Math.round(from), Math.round(until), heard) as Promise<{ ok: Filling }>,
    ).then(
      (value) => own === asked.current && setState({ value }),
      (problem: unknown) => own === asked.current && setState({ problem: problem as Error }),
    );
  };
  const { value, problem, running, progress } = state;
  if (data.info.not_repeatable) return <NotRepeatable data={data} />;
  return (
    <>
      {!value && !running && <p><button type="button" class="primary" onClick={ask}>Run it again and watch this queue</button></p>}
      {running && <Repeating progress={progress} onStop={() => { asked.current++; data.folder.stop(); setState({}); }} />}
      {problem && <Trouble problem={problem} data={data} again={ask} />}
      {value && <Filled filling={value} title={title} />}
    </>
  );
}

/** The times and the queue of each of the first flows; all others are one. */
function areas({ flows, times_ps: times }: Filling) {
  const scaled = (values: readonly number[]) => Float64Array.from(values, (one) => one / 1000);
  const first = flows.slice(0, SHADES).filter(({ flow }) => flow !== null);
  const rest = flows.slice(first.length);
  const sum = scaled(times.map((_, at) => rest.reduce((all, { queue_bytes }) => all + (queue_bytes[at] ?? 0), 0)));
  return {
    data: [Float64Array.from(times, (ps) => ps / 1e6), ...first.map(({ queue_bytes }) => scaled(queue_bytes)), ...(rest.length ? [sum] : [])],
    names: [...first.map(({ flow }) => `flow ${flow}`), ...(rest.length ? ["all others"] : [])],
  };
}

function Filled({ filling, title }: { filling: Filling; title: string }) {
  const flows = filling.flows;
  const { data, names } = useMemo(() => areas(filling), [filling]);
  if (!flows.length) return <p>Nothing waited here in this window.</p>;
  return (
    <>
      {filling.cut && <p class="notice">The trace reached its limit: the end of the window is missing. Choose a shorter one.</p>}
      <Stack data={data} names={names} unit="queue, KB" label={`Who filled ${filling.port}, ${title}`} />
      <div class="table" tabIndex={0} role="region" aria-label={`Flows in the queue, ${title}`}>
        <table class="figures">
          <thead><tr>{["Flow", "Share of the queue", "Arrived", "Size", "From", "To", "Marked", "Dropped"].map((head) => <th scope="col" style={{ padding: ".3rem .6rem" }}>{head}</th>)}</tr></thead>
          <tbody>
            {flows.map((one) => (
              <tr>
                <td>{one.flow === null ? "all others" : <a href={address("results/flow", { ...Object.fromEntries(route.value.params), flow: one.flow })}>{one.flow}</a>}</td>
                <td>{percent(one.share)}</td><td>{bytes(one.arrived_bytes)}</td><td>{one.flow === null ? "–" : bytes(one.size_bytes)}</td>
                <td>{count(one.src)}</td><td>{count(one.dst)}</td><td>{count(one.marked)}</td><td>{count(one.dropped)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
