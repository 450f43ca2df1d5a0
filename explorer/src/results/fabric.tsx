/** The fabric over time, of one run or of two on one clock. */
import { useMemo } from "preact/hooks";
import { FabricView, HeatLegend } from "../fabric/view";
import type { FabricShape } from "../fabric/shape";
import { bytes, count, percent, rate } from "../parts/format";
import { useLoaded } from "../parts/loaded";
import { Series } from "../parts/series";
import { address, amend, go, route } from "../route";
import { heat, palette } from "../theme";
import { axisUnit, Clock, end, now, playing, seek } from "./clock";
import type { Metric, PortSeries } from "./data";
import { Slowest } from "./parts";
import { sides, type Side } from "./store";
import { Trouble } from "./trouble";

export const METRICS: Readonly<Record<Metric, { title: string; text: (value: number) => string; unit: string; doc: string }>> = {
  use: { title: "use", text: percent, unit: "%", doc: "bytes sent over what the link could carry" },
  imbalance: { title: "imbalance", text: (ratio) => `${ratio.toFixed(2)} ×`, unit: "× the mean",
    doc: "bytes of an uplink over the mean of the uplinks of its switch: 1 where all carry the same" },
  queue: { title: "queue", text: bytes, unit: "KB", doc: "largest backlog of the interval" },
  pauses: { title: "pauses", text: percent, unit: "%", doc: "share of the interval in which PFC paused a class" },
  marks: { title: "marks", text: count, unit: "packets", doc: "packets marked in the interval" },
  losses: { title: "losses", text: count, unit: "packets", doc: "packets dropped or trimmed in the interval" },
};

const SCALE: Readonly<Record<Metric, number>> = { use: 100, imbalance: 1, queue: 1e-3, pauses: 100, marks: 1, losses: 1 };

interface Ready {
  readonly side: Side;
  readonly shape: FabricShape;
  readonly series: PortSeries;
}

async function ready(all: readonly Side[]): Promise<Ready[]> {
  return Promise.all(all.map(async (side) => ({ side, shape: await side.data.shape(), series: await side.data.ports() })));
}

/** What the runs can be coloured by: without packets there are no queues. */
function metrics(): readonly Metric[] {
  const packets = sides.value.some(({ data }) => data.packets);
  return packets ? (Object.keys(METRICS) as Metric[]) : ["use", "imbalance"];
}

function chosenMetric(): Metric {
  const named = route.value.params.get("colour") as Metric | undefined;
  return named && metrics().includes(named) ? named : "use";
}

export function FabricPage() {
  const all = sides.value;
  const { value, problem } = useLoaded(() => ready(all), [all.map(({ key }) => key).join(), all[0]?.data.folder]);
  const metric = chosenMetric();
  const most = useMemo(() => {
    const largest = Math.max(0, ...(value ?? []).map(({ series }) => series.largest(metric)));
    return metric === "use" || metric === "pauses" ? 1 : largest;
  }, [value, metric]);
  if (problem) return <Trouble problem={problem} data={all[0]?.data} />;
  if (!value) return <p role="status">Reading ports…</p>;
  const { title, text, doc } = METRICS[metric];
  const step = Math.min(...value.map(({ series }) => series.interval));
  return (
    <>
      <div class="row">
        <label class="row small">Links coloured by
          <select value={metric} onChange={(event) => amend({ colour: event.currentTarget.value })}>
            {metrics().map((key) => <option value={key}>{METRICS[key].title}</option>)}
          </select>
        </label>
        <HeatLegend low="0" high={most > 0 ? text(most) : `no ${title} in the run`} />
        <span class="quiet small">{doc}</span>
      </div>
      <div class="sides">
        {value.map((one) => <SidePanel {...one} metric={metric} most={most} />)}
      </div>
      <Clock step={step} />
    </>
  );
}

function SidePanel({ side, shape, series, metric, most }: Ready & { metric: Metric; most: number }) {
  const matrix = series.metric(metric);
  const at = series.at(now.value);
  const values = useMemo(() => new Float32Array(shape.ports.length), [shape]);
  const row = matrix.subarray(at * series.ports, (at + 1) * series.ports);
  const scale = most > 0 ? 1 / most : 0;
  // While it plays, colours pass from interval to interval; a time that is looked at shows its own.
  const between = playing.value ? series.between(now.value) : { at, next: at, share: 0 };
  for (let port = 0; port < series.ports; port++) {
    const [from, to] = [matrix[between.at * series.ports + port] ?? 0, matrix[between.next * series.ports + port] ?? 0];
    values[port] = (from + (to - from) * between.share) * scale;
  }
  const { title, text } = METRICS[metric];
  const chosen = Number(route.value.params.get("port") ?? NaN);
  const describe = (port: number) => {
    const own = shape.ports[port];
    return own ? `${own.name} (${rate(own.rate)}): ${title} ${text(row[port] ?? 0)}` : "";
  };
  const open = (port: number) => go("results/queue", { ...Object.fromEntries(route.value.params), port });
  return (
    <section class="panel" aria-label={side.title}>
      <h3>{side.title}</h3>
      <Slowest data={side.data} />
      <FabricView
        shape={shape} values={values} tick={between.at + between.share + series.intervals * Object.keys(METRICS).indexOf(metric)} describe={describe}
        chosen={Number.isNaN(chosen) ? undefined : chosen} onPort={open}
        label={`Fabric of ${side.title}, links coloured by ${title}`}
      />
      <Busiest shape={shape} row={row} metric={metric} most={most} />
      <Whole shape={shape} series={series} metric={metric} most={most} title={side.title} />
    </section>
  );
}

const SHOWN = 5;

/** The ports with the largest values now. */
function Busiest({ shape, row, metric, most }: { shape: FabricShape; row: Float32Array; metric: Metric; most: number }) {
  const top: number[] = [];
  row.forEach((value, port) => {
    if (value <= 0) return;
    let place = top.length;
    while (place > 0 && (row[top[place - 1] ?? 0] ?? 0) < value) place--;
    if (place < SHOWN) {
      top.splice(place, 0, port);
      if (top.length > SHOWN) top.pop();
    }
  });
  const stops = palette().heat;
  return (
    <ul class="busiest" aria-label={`Ports with most ${METRICS[metric].title} now`} style={{ height: `${SHOWN * 1.45}em` }}>
      {top.map((port) => {
        const share = most > 0 ? (row[port] ?? 0) / most : 0;
        return (
          <li>
            <a href={address("results/queue", { ...Object.fromEntries(route.value.params), port })}>{shape.ports[port]?.name}</a>
            <span class="bar-holder" aria-hidden="true">
              <span class="bar-fill" style={{ width: `${Math.min(share, 1) * 100}%`, background: heat(stops, share) }} />
            </span>
            <span class="figures">{METRICS[metric].text(row[port] ?? 0)}</span>
          </li>
        );
      })}
      {!top.length && <li class="quiet">No {METRICS[metric].title} now.</li>}
    </ul>
  );
}

/** Ports whose mean over time is a line, with the line's name. Of the use the largest is full at nearly every time, and says nothing. */
function groups(shape: FabricShape, metric: Metric): readonly (readonly [string, readonly number[]])[] {
  const host = (node: number) => shape.nodes[node]?.tier === "host";
  const all = shape.ports.map((_, port) => port);
  if (metric !== "use" && metric !== "pauses") return [["mean of all ports", all]];
  const of = (wanted: boolean) => all.filter((port) => {
    const { from, to } = shape.ports[port] ?? { from: 0, to: 0 };
    return (host(from) || host(to)) === wanted;
  });
  const both = [["mean of the hosts' links", of(true)], ["mean of links between switches", of(false)]] as const;
  return both.filter(([, ports]) => ports.length);
}

/** Means, and the largest value where it is none of a full link, over time. */
function Whole({ shape, series, metric, most: top, title }: { shape: FabricShape; series: PortSeries; metric: Metric; most: number; title: string }) {
  const { timeUnit, ps } = axisUnit();
  const { data, names } = useMemo(() => {
    const matrix = series.metric(metric);
    const line = (value: (row: Float32Array) => number) => Float64Array.from({ length: series.intervals }, (_, at) =>
      value(matrix.subarray(at * series.ports, (at + 1) * series.ports)) * SCALE[metric]);
    const mean = (ports: readonly number[]) => line((row) => ports.reduce((sum, port) => sum + (row[port] ?? 0), 0) / ports.length);
    const most = () => line((row) => row.reduce((best, value) => Math.max(best, value), 0));
    // What is no uplink has no imbalance, so that a mean of all ports would say nothing.
    const means = metric === "imbalance" ? [] : groups(shape, metric).map(([name, ports]) => [name, mean(ports)] as const);
    const largest = metric === "imbalance" ? "largest of all uplinks" : "largest of all ports";
    const lines = metric === "use" || metric === "pauses" ? means : [[largest, most()] as const, ...means];
    return { data: [series.times(ps), ...lines.map(([, values]) => values)], names: lines.map(([name]) => name) };
  }, [shape, series, metric, ps]);
  return (
    <Series
      data={data} names={names} unit={`${METRICS[metric].title}, ${METRICS[metric].unit}`}
      height={150} top={top * SCALE[metric]} timeUnit={timeUnit} until={end() / ps} cursor={now.value / ps} onTime={(at) => seek(at * ps)}
      label={`${METRICS[metric].title} over time, ${title}`}
    />
  );
}
