/** What came of the runs: a table with differences, and why a flow was slow. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { coded } from "../parts/coded";
import { bytes, count, number, rate, time as timeText } from "../parts/format";
import { openFolders } from "../results/store";
import { go } from "../route";
import type { Outcome } from "./bench";
import { explain, explained, outcomes, over, runs, slowest, toEnd, type Run } from "./store";

interface Statistics {
  readonly mean: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

/** The part of summary.json that the table shows. */
interface Summary {
  readonly flows: { readonly total: number; readonly completed: number };
  readonly began_ns: number | null;
  readonly ended_ns: number;
  readonly load: { readonly goodput_gbps: number | null };
  /** Of the flows that finished; null if none did. */
  readonly all: { readonly fct_ns: Statistics | null; readonly slowdown: Statistics | null } | null;
  readonly fairness: { readonly shares: readonly { readonly transport: string; readonly delivered_bytes: number }[] } | null;
  readonly counters: Readonly<Record<"marks" | "drops" | "trims" | "paused_ns", number>>;
  readonly tiers: readonly { readonly tier: string; readonly backlog_max_bytes?: number; readonly queue_max_bytes?: number }[];
}

interface Row {
  readonly title: string;
  readonly doc: string;
  readonly value: (summary: Summary) => number | null;
  readonly show: (value: number | null) => string;
}

const ns = (value: number | null) => timeText(value === null ? null : value * 1e3);
const queue = (summary: Summary) =>
  Math.max(0, ...summary.tiers.filter(({ tier }) => tier !== "nic").map((tier) => tier.backlog_max_bytes ?? 0));

const gbps = (value: number | null) => rate(value === null ? null : value * 1e9);

const ROWS: readonly Row[] = [
  { title: "Goodput", doc: "payload of all flows over the length of the run", value: (s) => s.load.goodput_gbps, show: gbps },
  { title: "Completion time, mean", doc: "of the flows that finished", value: (s) => s.all?.fct_ns?.mean ?? null, show: ns },
  { title: "Completion time, slowest", doc: "of the flows that finished", value: (s) => s.all?.fct_ns?.max ?? null, show: ns },
  { title: "Slowdown, mean", doc: "completion time over that of the flow alone", value: (s) => s.all?.slowdown?.mean ?? null, show: number },
  { title: "Slowdown, largest", doc: "completion time over that of the flow alone", value: (s) => s.all?.slowdown?.max ?? null, show: number },
  { title: "Longest switch queue", doc: "of all switch ports", value: queue, show: bytes },
  { title: "Packets dropped", doc: "at full queues", value: (s) => s.counters.drops, show: count },
  { title: "Packets trimmed", doc: "payload cut off, header forwarded", value: (s) => s.counters.trims, show: count },
  { title: "Packets marked", doc: "ECN or the transport's own marks", value: (s) => s.counters.marks, show: count },
  { title: "Links paused", doc: "by PFC, all links together", value: (s) => s.counters.paused_ns, show: ns },
];

/** Where several transports share the fabric, what each delivered. */
function shares(all: readonly (Summary | undefined)[]): Row[] {
  const names = new Set(all.flatMap((summary) => {
    const own = summary?.fairness?.shares ?? [];
    return own.length > 1 ? own.map(({ transport }) => transport) : [];
  }));
  return [...names].map((name) => ({
    title: `Goodput of ${name}`, doc: "payload of its flows from the first start to the end", show: gbps,
    value: (summary) => {
      const own = summary.fairness?.shares.find(({ transport }) => transport === name);
      return own ? (own.delivered_bytes * 8) / (summary.ended_ns - (summary.began_ns ?? 0)) : null;
    },
  }));
}

/** How a value compares with the first run's. */
function against(value: number | null, first: number | null): string {
  if (value === null || !first || value === first) return "";
  const ratio = value / first;
  if (ratio === 0) return "";
  if (ratio >= 2) return `× ${number(Number(ratio.toPrecision(2)))}`;
  if (ratio <= 0.5) return `÷ ${number(Number((1 / ratio).toPrecision(2)))}`;
  const change = Math.round((ratio - 1) * 100);
  return change ? `${change > 0 ? "+" : "−"}${Math.abs(change)} %` : "";
}

/** Opens the runs' results in the explorer. */
async function openResults(view: string, params: Record<string, string | number>): Promise<void> {
  const chosen = outcomes.value.flatMap((outcome, at) => (outcome ? [folder(outcome, runs.value[at]?.title ?? "")] : []));
  if (await openFolders(chosen.slice(0, 2), false)) go(view, params);
}

function folder(outcome: Outcome, name: string) {
  const files = Object.entries(outcome.files).map(([path, content]) => ({
    path, bytes: content.byteLength, read: () => Promise.resolve(content.slice().buffer as ArrayBuffer),
  }));
  return { name, files };
}

function Cells({ row, all }: { row: Row; all: readonly (Summary | undefined)[] }): ComponentChildren {
  const [first] = all;
  return all.map((summary, at) => {
    const value = summary ? row.value(summary) : null;
    const difference = at > 0 && first ? against(value, row.value(first)) : "";
    return <td>{summary ? row.show(value) : "…"} {difference && <span class="quiet small">{difference}</span>}</td>;
  });
}

/** One row per quantity, one column per run; differences are against the first run. */
export function Outcomes() {
  const all = runs.value.map((_, at) => outcomes.value[at]?.summary as Summary | undefined);
  if (!over.value) {
    return (
      <p class="quiet">
        Completion times and slowdowns appear here when the runs are over.{" "}
        <button type="button" onClick={() => void toEnd()}>Run to the end</button>
      </p>
    );
  }
  const rows = [...ROWS, ...shares(all)].filter((row) => all.some((summary) => summary && row.value(summary)));
  return (
    <section class="outcomes">
      <div class="scroll" role="region" aria-label="Results of the runs" tabIndex={0}>
        <table class="figures">
          <caption class="hidden">Results of the runs</caption>
          <thead><tr><th scope="col"><span class="hidden">Quantity</span></th>{runs.value.map(({ title }) => <th scope="col">{title}</th>)}</tr></thead>
          <tbody>
            <tr><th scope="row">Flows finished</th>
              {all.map((summary) => <td>{summary ? `${summary.flows.completed} of ${summary.flows.total}` : "…"}</td>)}</tr>
            {rows.map((row) => (
              <tr><th scope="row">{row.title} <span class="quiet small doc">{row.doc}</span></th><Cells row={row} all={all} /></tr>
            ))}
            <Hashes />
            <tr><th scope="row">Why?</th>{runs.value.map((run, at) => <td><Why run={run} at={at} /></td>)}</tr>
          </tbody>
        </table>
      </div>
      <Answer />
      <p><button type="button" onClick={() => void openResults("results/fabric", {})}>Open these results in the explorer</button></p>
    </section>
  );
}

/** The first digits of the hash of flows.parquet, which the command line writes too. */
function Hashes() {
  const [all, setAll] = useState<readonly string[]>([]);
  useEffect(() => {
    let alive = true;
    setAll([]);
    Promise.all(outcomes.value.map(async (outcome) => {
      const name = Object.keys(outcome?.files ?? {}).find((path) => path.endsWith("flows.parquet"));
      const content = name && outcome?.files[name];
      if (!content || !crypto.subtle) return "";
      const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", content.slice()));
      return Array.from(hash.subarray(0, 6), (byte) => byte.toString(16).padStart(2, "0")).join("");
    })).then((hashes) => { if (alive) setAll(hashes); }, () => undefined);
    return () => { alive = false; };
  }, [outcomes.value]);
  if (!all.some(Boolean)) return null;
  return (
    <tr><th scope="row">Hash of the records <span class="quiet small doc">SHA-256 of flows.parquet, also on your machine</span></th>
      {all.map((hash) => <td><code>{hash}</code></td>)}</tr>
  );
}

function Why({ run, at }: { run: Run; at: number }) {
  const flow = slowest(run);
  if (flow === undefined || !outcomes.value[at]) return <span class="quiet">no flow finished</span>;
  return <button type="button" onClick={() => void explain(at, flow)}>Why did flow {flow} take longest?</button>;
}

/** The explanation that was asked for. */
function Answer() {
  const asked = explained.value;
  if (!asked) return null;
  const { flow, verdict, parts } = asked.explanation;
  const shown = parts.filter(({ ps }) => ps > 0);
  const run = runs.value[asked.run];
  let before = 0;
  return (
    <section class="panel why" aria-live="polite">
      <h3>Flow {flow.id} under {run?.title}: host{flow.src} to host{flow.dst}, {bytes(flow.size_bytes)}, {timeText(flow.fct_ps)}</h3>
      {verdict.map((sentence) => <p>{coded(sentence)}</p>)}
      <div class="scroll" role="region" aria-label="Where the time went" tabIndex={0}>
        <table class="times figures">
          <caption class="hidden">Where the time went</caption>
          <tbody>
            {shown.map(({ name, meaning, ps, share }) => {
              const left = before;
              before += share;
              return (
                <tr title={meaning}>
                  <th scope="row">{name.replaceAll("_", " ")} <span class="quiet small doc">{meaning}</span></th>
                  <td>{timeText(ps)}</td>
                  <td class="bar"><span style={{ marginLeft: `${left * 100}%`, width: `max(2px, ${share * 100}%)` }} /></td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p><button type="button" onClick={() => void openResults("results/flow", { flow: flow.id, a: `${Math.min(asked.run, 1)}/${run?.transport}` })}>
        Every packet of this flow
      </button></p>
    </section>
  );
}
