/** What came of the runs: a table with differences, and why a flow was slow. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Quantity } from "incast-web";
import { coded } from "../parts/coded";
import { bytes, count, number, rate, time as timeText } from "../parts/format";
import { openFolders } from "../results/store";
import { go } from "../route";
import type { Outcome } from "./bench";
import { explain, explained, outcomes, over, runs, slowest, toEnd, type Run } from "./store";

const SHOW: Readonly<Record<string, (value: number | null) => string>> = {
  ns: (value) => timeText(value === null ? null : value * 1e3),
  bytes,
  "Gb/s": (value) => rate(value === null ? null : value * 1e9),
};

type Rows = readonly Quantity[];

/** The numbers of the table, in the order of their places. */
function chosen(all: Rows): Rows {
  const placed = all.flatMap((one) => (one.place === null ? [] : [{ one, place: one.place }]));
  return placed.sort((a, b) => a.place - b.place).map(({ one }) => one);
}

const named = (all: Rows, name: string) => count(all.find((one) => one.name === name)?.value);
const capital = (title: string) => title.charAt(0).toUpperCase() + title.slice(1);
const same = (row: Quantity) => (other: Quantity) => other.title === row.title;
const valueIn = (all: Rows | undefined, row: Quantity) => all?.find(same(row))?.value ?? null;

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

function Cells({ row, all }: { row: Quantity; all: readonly (Rows | undefined)[] }): ComponentChildren {
  const show = SHOW[row.unit] ?? (row.whole ? count : number);
  return all.map((run, at) => {
    const value = valueIn(run, row);
    const difference = at > 0 ? against(value, valueIn(all[0], row)) : "";
    return <td>{run ? show(value) : "…"} {difference && <span class="quiet small">{difference}</span>}</td>;
  });
}

/** One row per quantity, one column per run; differences are against the first run. */
export function Outcomes() {
  const all = runs.value.map((_, at) => outcomes.value[at]?.numbers);
  if (!over.value) {
    return (
      <p class="quiet">
        Completion times and slowdowns appear here when the runs are over.{" "}
        <button type="button" onClick={() => void toEnd()}>Run to the end</button>
      </p>
    );
  }
  const shown = all.flatMap((run) => (run ? chosen(run) : []));
  const rows = shown.filter((row, at) => shown.findIndex(same(row)) === at && all.some((run) => valueIn(run, row)));
  return (
    <section class="outcomes">
      <div class="scroll" role="region" aria-label="Results of the runs" tabIndex={0}>
        <table class="figures">
          <caption class="hidden">Results of the runs</caption>
          <thead><tr><th scope="col"><span class="hidden">Quantity</span></th>{runs.value.map(({ title }) => <th scope="col">{title}</th>)}</tr></thead>
          <tbody>
            <tr><th scope="row">Flows finished</th>
              {all.map((run) => <td>{run ? `${named(run, "flows_completed")} of ${named(run, "flows_total")}` : "…"}</td>)}</tr>
            {rows.map((row) => (
              <tr><th scope="row">{capital(row.title)} <span class="quiet small doc">{row.doc}</span></th><Cells row={row} all={all} /></tr>
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

/** The first digits of the hash of a run's flows.parquet, which the command line writes too. */
async function hashOf(outcome: Outcome | undefined): Promise<string> {
  const name = Object.keys(outcome?.files ?? {}).find((path) => path.endsWith("flows.parquet"));
  const content = name && outcome?.files[name];
  if (!content) return "";
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", content.slice()));
  return Array.from(hash.subarray(0, 6), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The row of hashes, from the start: a digest that is being computed is an ellipsis, as a number that is not there yet. */
function Hashes() {
  const of = outcomes.value;
  const [known, setKnown] = useState<{ of: typeof of; hashes: readonly string[] }>();
  useEffect(() => {
    let alive = true;
    Promise.all(of.map(hashOf)).then((hashes) => { if (alive) setKnown({ of, hashes }); }, () => undefined);
    return () => { alive = false; };
  }, [of]);
  // Only pages from trusted places can hash: files, and addresses of this machine or with TLS.
  if (!crypto.subtle) return null;
  return (
    <tr><th scope="row">Hash of the records <span class="quiet small doc">SHA-256 of flows.parquet, also on your machine</span></th>
      {runs.value.map((_, at) => <td><code>{known?.of === of && at in of ? known.hashes[at] : "…"}</code></td>)}</tr>
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
      <h3>Why flow {flow.id} took {timeText(flow.fct_ps)} under {run?.title}</h3>
      <p class="small quiet">{bytes(flow.size_bytes)} from host{flow.src} to host{flow.dst}</p>
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
