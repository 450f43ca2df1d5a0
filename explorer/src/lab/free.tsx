/** The laboratory by itself: a form, its runs, and the former run beside them. */
import { useEffect, useState } from "preact/hooks";
import { Warnings } from "../parts/warnings";
import { amend, route } from "../route";
import { difference, draft, edit, sound, wrong, type Table } from "./draft";
import { broken, declared } from "./engine";
import { DraftExport, Import } from "./export";
import { Form } from "./form";
import { SCENES } from "./scenes";
import { packed, unpacked, type Entry, type Setup } from "./setup";
import { Stage } from "./stage";
import { open, port, refused, runs, setup, toEnd } from "./store";

/** Runs side by side at most. */
const BESIDE = 3;

/** What the form held when it was run last. */
let ran: Table | undefined;
/** The address that is open, so that going back opens the other one. */
let opened = "";

async function begin(text: string): Promise<void> {
  const first = SCENES[0]?.scenario ?? "";
  const next: Setup = text ? await unpacked(text) : { port: "", entries: [{ name: "first run", toml: first }] };
  const last = next.entries.at(-1);
  if (!last) return;
  await edit(last.toml);
  ran = draft.value;
  await open(next);
}

async function run(keep: boolean): Promise<void> {
  const own = sound.value;
  if (!own || !draft.value) return;
  const former = keep ? (setup.value?.entries ?? []) : [];
  const base = former.length ? (ran ?? {}) : {};
  const words = former.length ? difference(base, draft.value) : "first run";
  if (former.length && !words) return void toEnd();
  const taken = new Set(former.map(({ name }) => name));
  const entry: Entry = { name: taken.has(words) ? `${words} (${former.length + 1})` : words, toml: own.toml };
  const next = { entries: [...former, entry].slice(-BESIDE), port: port.value };
  ran = draft.value;
  await open(next);
  if (refused.value) return;
  opened = await packed(next);
  amend({ s: opened });
  document.getElementById("stage")?.scrollIntoView({ block: "start" });
  await toEnd();
}

function RunBar() {
  const [keep, setKeep] = useState(true);
  const own = sound.value;
  return (
    <div class="row runbar">
      <button type="button" class="primary" disabled={!own} onClick={() => void run(keep)}>Run</button>
      <label class="row"><input type="checkbox" checked={keep} onChange={() => setKeep(!keep)} />keep the former run beside it</label>
      {own && (
        <span class="small quiet grow">
          {own.check.hosts} hosts, {own.check.flows} flows, {own.check.cases.length === 1 ? "1 transport" : `${own.check.cases.length} transports`}
        </span>
      )}
      {own && <Warnings all={own.check.warnings.map((warning) => ({ of: "", warning }))} />}
      {wrong.value && <strong class="small grow" role="alert">{wrong.value.message}</strong>}
    </div>
  );
}

/** The view `lab/run`. */
export function Free() {
  const text = route.value.params.get("s") ?? "";
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (text && text === opened && runs.value.length) return;
    opened = text;
    begin(text).then(() => setProblem(""), (error: Error) => setProblem(error.message));
  }, [text]);
  const all = declared.value;
  if (broken.value) return <div class="notice" role="alert">{broken.value}</div>;
  return (
    <>
      <h2>Your own experiment</h2>
      {problem && <div class="notice" role="alert">{problem}</div>}
      {!all ? <p role="status">Starting the engine …</p> : (
        <div class="free">
          <section class="panel" aria-label="Scenario">
            <RunBar />
            <Import />
            <Form all={all} />
            <DraftExport />
          </section>
          <section id="stage" aria-label="Runs"><Stage base={1e8} /></section>
        </div>
      )}
    </>
  );
}
