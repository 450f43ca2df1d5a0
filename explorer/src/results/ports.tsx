/** All ports of a run, with what happened at them over the whole run. */
import { useMemo } from "preact/hooks";
import { bytes, count, percent, rate, time } from "../parts/format";
import { filter, type Field } from "../parts/filter";
import { useLoaded } from "../parts/loaded";
import { Table, type Column, type Sort } from "../parts/table";
import { address, amend, go, route } from "../route";
import type { Fabric } from "incast-web";
import type { PortSeries } from "./data";
import { SideChoice } from "./parts";
import { side } from "./store";
import { Trouble } from "./trouble";

interface Totals {
  readonly sent: Float64Array;
  readonly use: Float64Array;
  readonly queue: Float64Array;
  readonly marks: Float64Array;
  readonly losses: Float64Array;
  readonly paused: Float64Array;
}

/** Sums over the run (largest value for queues). */
function totals(series: PortSeries, fabric: Fabric, until: number): Totals {
  const sum = (matrix: Float32Array) => {
    const all = new Float64Array(series.ports);
    matrix.forEach((value, at) => (all[at % series.ports] = (all[at % series.ports] ?? 0) + value));
    return all;
  };
  const queue = new Float64Array(series.ports);
  series.metric("queue").forEach((value, at) => {
    if (value > (queue[at % series.ports] ?? 0)) queue[at % series.ports] = value;
  });
  const sent = sum(series.matrix("sent_bytes"));
  const use = sent.map((own, port) => (own * 8) / ((fabric.ports[port]?.rate_bps ?? 1) * (until / 1e12)));
  return {
    sent, use, queue, marks: sum(series.metric("marks")), losses: sum(series.metric("losses")),
    paused: sum(series.matrix("paused_ns")).map((ns) => ns * 1000),
  };
}

export function PortsPage() {
  const own = side.value;
  const { value, problem } = useLoaded(async () => {
    if (!own) return undefined;
    const [fabric, series] = await Promise.all([own.data.fabric(), own.data.ports()]);
    return { fabric, totals: totals(series, fabric, own.data.info.simulated_ps) };
  }, [own?.data]);
  if (problem) return <Trouble problem={problem} data={own?.data} />;
  return value && own ? <PortsOf fabric={value.fabric} totals={value.totals} packets={own.data.packets} /> : <p role="status">Reading ports…</p>;
}

/** Columns that a run without packets has. */
const OF_FLOWS = new Set(["name", "tier", "rate", "use", "sent"]);

function PortsOf({ fabric, totals: all, packets }: { fabric: Fabric; totals: Totals; packets: boolean }) {
  const params = route.value.params;
  const columns = useMemo(() => {
    const link = (port: number) => (
      <a href={address("results/queue", { ...Object.fromEntries(route.value.params), port })}
        onClick={(event) => event.stopPropagation()}>{fabric.ports[port]?.name}</a>
    );
    const one = (key: string, title: string, values: Float64Array, show: (value: number) => string, doc: string): Column =>
      ({ key, title, doc, order: (port) => values[port] ?? NaN, cell: (port) => show(values[port] ?? NaN) });
    const every = [
      { key: "name", title: "Port", text: true, order: (port: number) => port, cell: link, doc: "From a node to the next" },
      { key: "tier", title: "Tier", text: true, order: (port: number) => fabric.nodes[fabric.ports[port]?.node ?? 0]?.tier ?? 0,
        cell: (port: number) => fabric.ports[port]?.tier ?? "", doc: "Of its node" },
      { key: "rate", title: "Rate", order: (port: number) => fabric.ports[port]?.rate_bps ?? 0,
        cell: (port: number) => rate(fabric.ports[port]?.rate_bps), doc: "Of its link" },
      one("use", "Use", all.use, percent, "Bytes sent over what the link could carry in the run"),
      one("sent", "Sent", all.sent, bytes, "Charged bytes"),
      one("queue", "Largest queue", all.queue, bytes, "Without the packet in transmission"),
      one("marks", "Marks", all.marks, count, "Packets marked"),
      one("losses", "Losses", all.losses, count, "Packets dropped or trimmed"),
      one("paused", "Paused", all.paused, time, "Time during which PFC paused a class"),
    ] satisfies Column[];
    return every.filter(({ key }) => packets || OF_FLOWS.has(key));
  }, [fabric, all, packets]);
  const named = useMemo((): Record<string, Field> => {
    const names = fabric.ports.map(({ name }) => name);
    const tiers = ["nic", "edge", "aggregation", "core"];
    return {
      name: { kind: "text", values: { names, codes: Uint32Array.from(names, (_, at) => at) } },
      tier: { kind: "text", values: { names: tiers, codes: Uint32Array.from(fabric.ports, ({ tier }) => Math.max(tiers.indexOf(tier), 0)) } },
      use: { kind: "number", values: all.use.map((share) => share * 100) },
      sent: { kind: "number", values: all.sent, unit: "bytes" },
      queue: { kind: "number", values: all.queue, unit: "bytes" },
      marks: { kind: "number", values: all.marks },
      losses: { kind: "number", values: all.losses },
      paused: { kind: "number", values: all.paused, unit: "ps" },
    };
  }, [fabric, all]);
  const query = params.get("pq") ?? "";
  const test = useMemo(() => filter(query, named), [query, named]);
  const rows = useMemo(() => {
    const every = Uint32Array.from(fabric.ports, (_, port) => port);
    return typeof test === "function" ? every.filter((port) => test(port)) : every;
  }, [fabric, test]);
  const sort: Sort = { key: params.get("psort") ?? (packets ? "queue" : "use"), down: params.get("porder") !== "up" };
  return (
    <>
      <div class="row">
        <SideChoice />
        <label class="row grow">Filter
          <input class="grow" type="search" value={query} placeholder="queue>100KB tier=edge leaf0" aria-describedby="ports-count"
            aria-invalid={typeof test === "string"} onInput={(event) => amend({ pq: event.currentTarget.value })} />
        </label>
        <output id="ports-count" class="figures">{count(rows.length)} of {count(fabric.ports.length)} ports</output>
      </div>
      {typeof test === "string" && <div class="notice" role="alert">{test}</div>}
      <div class="stack">
        <Table label="Ports" columns={columns} rows={rows} total={fabric.ports.length} sort={sort} height={560}
          onSort={({ key, down }) => amend({ psort: key, porder: down ? undefined : "up" })}
          onRow={(port) => go("results/queue", { ...Object.fromEntries(params), port })} />
      </div>
    </>
  );
}
