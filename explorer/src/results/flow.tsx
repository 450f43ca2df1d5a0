/** One flow: where its time went, by what way, who was in front, and its packets in time. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { coded } from "../parts/coded";
import { bytes, count, number, time } from "../parts/format";
import { useLoaded, type Loaded } from "../parts/loaded";
import { address, amend, route } from "../route";
import { palette } from "../theme";
import { PARTS, type Flows, type RunData } from "./data";
import { Diagram } from "./diagram";
import { Events } from "./events";
import { command, explain } from "./explaining";
import { Repeating, useWorst, type Progress } from "./parts";
import { GLANCE, part, PART, sequence } from "./sequence";
import type { Columns, Told } from "./session";
import { sides, told, type Side } from "./store";
import { NotRepeatable, Trouble } from "./trouble";

/** A run with fewer packet-hops is repeated without being asked for: it takes about a second. */
const SMALL = 2_000_000;

export function FlowPage() {
  const { flows, worst } = useWorst(sides.value[0]?.data);
  // Without a number the page is of the slowest flow.
  const text = route.value.params.get("flow") ?? (worst < 0 ? "" : String(worst));
  const flow = Number(text);
  const valid = text !== "" && Number.isInteger(flow) && flow >= 0;
  return (
    <>
      <form class="row" onSubmit={(event) => event.preventDefault()}>
        <label class="row">Flow
          <input type="number" min={0} step={1} value={text} style={{ width: "9rem" }}
            onChange={(event) => amend({ flow: event.currentTarget.value, part: undefined, why: undefined })} />
        </label>
        <a href={address("results/flows", Object.fromEntries(route.value.params))}>Choose it in the table of flows</a>
      </form>
      {!valid && <p class="quiet">{flows ? "Give the number of a flow, or click one in the table. The table begins with the slowest." : "Reading flows…"}</p>}
      {valid && <div class="sides stack">{sides.value.map((side) => <FlowPanel key={`${side.key} ${flow}`} side={side} flow={flow} />)}</div>}
    </>
  );
}

function FlowPanel({ side, flow }: { readonly side: Side; readonly flow: number }) {
  const { data } = side;
  const { value, problem } = useLoaded(async () => {
    const [flows, details] = await Promise.all([data.flows(), data.details()]);
    return { flows, details };
  }, [data]);
  if (problem) return <Trouble problem={problem} data={data} />;
  if (!value) return <p role="status">Reading flows…</p>;
  const { flows, details } = value;
  if (flow >= flows.rows) {
    return (
      <section class="panel" aria-label={side.title}>
        <h3>{side.title}</h3>
        <div class="notice" role="alert">
          There is no flow {flow}: {flows.rows ? <>expected 0 to {flows.rows - 1}.</> : "the run has no flows."}
        </div>
      </section>
    );
  }
  return (
    <section class="panel" aria-label={side.title}>
      <h3>{side.title}: flow {flow}</h3>
      <Facts flows={flows} details={details} flow={flow} packets={data.packets} />
      {data.packets
        ? <Waterfall flows={flows} details={details} flow={flow} />
        : <p class="quiet small">At flow level a flow's time has no parts: it sends at its share of the links on its way.</p>}
      <Way details={details} flow={flow} data={data} start={flows.numbers.start_ps[flow] ?? NaN} />
      <Why data={data} flow={flow} flows={flows} title={side.title} />
    </section>
  );
}

function Facts({ flows, details, flow, packets }: { flows: Flows; details: Columns; flow: number; packets: boolean }) {
  const own = (name: keyof Flows["numbers"]) => flows.numbers[name][flow] ?? NaN;
  const facts = [
    ["from", `host ${count(own("src"))} to ${count(own("dst"))}`],
    ["size", bytes(own("size_bytes"))],
    ["start", time(own("start_ps"))],
    ["completion time", Number.isNaN(own("fct_ps")) ? "incomplete" : time(own("fct_ps"))],
    ["alone", time(own("ideal_fct_ps"))],
    ["slowdown", number(own("slowdown"))],
    ...(packets ? [
      ["packets", count(own("packets"))],
      ["retransmits", count(own("retransmits"))],
      ["decisions", count(details.numbers["decisions"]?.[flow])],
      ["age of feedback", time((details.numbers["decision_age_mean_ns"]?.[flow] ?? NaN) * 1000)],
    ] as const : []),
  ] as const;
  return <dl class="facts">{facts.map(([name, text]) => <div><dt>{name}</dt><dd>{text}</dd></div>)}</dl>;
}

/** Which colour a part has: sending, waiting to send, recovering, on its way, in queues. */
function shade(name: string): string {
  const { series, alarm, quiet } = palette();
  if (name.startsWith("queue")) return series[1] ?? quiet;
  if (name.startsWith("blocked")) return series[4] ?? quiet;
  if (name === "recovery") return alarm;
  return name === "nic_own" ? (series[0] ?? quiet) : name === "nic_other" ? (series[3] ?? quiet) : quiet;
}

/** Where the time went: the columns of flows.parquet, which add up to the completion time. */
function Waterfall({ flows, details, flow }: { flows: Flows; details: Columns; flow: number }) {
  const fct = flows.numbers.fct_ps[flow] ?? NaN;
  if (Number.isNaN(fct)) {
    return <p>The flow did not complete in the run: there is no breakdown of its time.</p>;
  }
  let sum = 0;
  const rows = PARTS.map(([name, meaning]) => {
    const ps = details.numbers[`${name}_ps`]?.[flow] ?? 0;
    sum += ps;
    return { name, meaning, ps, before: sum - ps };
  });
  const some = rows.filter(({ ps }) => ps > 0);
  return (
    <>
      <table class="falls">
        <caption class="hidden">Where the time of flow {flow} went</caption>
        <thead class="hidden"><tr><th scope="col">part</th><th scope="col">time</th><th scope="col">share</th><th scope="col">of the whole</th></tr></thead>
        <tbody>
          {some.map(({ name, meaning, ps, before }) => (
            <tr data-part={name} data-ps={ps} title={`${name}_ps: ${count(ps)} ps`}>
              <th scope="row">{meaning}</th>
              <td class="figures">{time(ps)}</td>
              <td class="figures">{number((ps / fct) * 100)} %</td>
              <td class="lane">
                <div><span style={{ left: `${(before / fct) * 100}%`, width: `${(ps / fct) * 100}%`, background: shade(name) }} /></div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet small">
        {some.length < rows.length ? `The other ${rows.length - some.length} parts are zero: ${rows.filter(({ ps }) => ps === 0).map(({ name }) => name.replace("_", " ")).join(", ")}.` : ""}
        {sum !== fct ? ` The parts add up to ${time(sum)}.` : ""}
      </p>
    </>
  );
}

/** The way of its last packet, with links to the queues on it. */
function Way({ details, flow, data, start }: { details: Columns; flow: number; data: RunData; start: number }) {
  const { value: fabric } = useLoaded(() => data.fabric(), [data]);
  const path = details.texts["path"];
  const nodes = (path?.names[path.codes[flow] ?? 0] ?? "").split(">").filter(Boolean);
  const { value: flows } = useLoaded(() => data.flows(), [data]);
  const worst = flows?.texts.worst_port.names[flows.texts.worst_port.codes[flow] ?? 0] ?? "";
  const port = (name: string) => fabric?.ports.findIndex((one) => one.name === name) ?? -1;
  const link = (name: string) => port(name) < 0 ? name : (
    <a href={address("results/queue", { ...Object.fromEntries(route.value.params), port: port(name), t: start || undefined })}>{name}</a>
  );
  if (nodes.length < 2) return null;
  return (
    <>
      <ol class="way" aria-label={data.packets ? "Way of the packet that completed it" : "Way of the flow"}>
        {nodes.slice(0, -1).map((node, at) => <li>{link(`${node}->${nodes[at + 1]}`)}</li>)}
      </ol>
      {data.packets && <p>
        {worst
          ? <>Its last packet waited longest at {link(worst)}: {time(details.numbers["worst_port_ps"]?.[flow])}.</>
          : "Its last packet waited nowhere."}
      </p>}
      <p class="row">
        <a href={address("results/fabric", { ...Object.fromEntries(route.value.params), t: start || undefined })}>Show the fabric at its start</a>
      </p>
    </>
  );
}

/** Whether the address asks why the flow was slow: the page then opens on the answer. */
const asked = () => route.value.params.has("why");

/** Repeats the run when asked, or at once if the address asks or the run is small. */
function useExplanation(data: RunData, flow: number) {
  const [state, setState] = useState<Loaded<Told> & { running?: boolean; progress?: Progress }>({});
  const wanted = useRef(0);
  const ask = () => {
    const own = ++wanted.current;
    setState({ running: true });
    explain(data, flow, (progress) => own === wanted.current && setState({ running: true, progress })).then(
      (value) => own === wanted.current && setState({ value }),
      (problem: unknown) => own === wanted.current && setState({ problem: problem as Error }),
    );
  };
  const stop = () => {
    wanted.current++;
    data.folder.stop();
    setState({});
  };
  useEffect(() => {
    if (!data.info.not_repeatable && (asked() || data.info.packet_hops <= SMALL)) ask();
    return () => {
      wanted.current++;
    };
  }, [data, flow]);
  return { ...state, ask, stop };
}

function Why({ data, flow, flows, title }: { data: RunData; flow: number; flows: Flows; title: string }) {
  const { value, problem, running, progress, ask, stop } = useExplanation(data, flow);
  const { not_repeatable } = data.info;
  const traced = data.info.tables.includes("trace");
  const stored = useLoaded(
    async () => (traced ? told<Columns>(data.folder.reader.trace(data.run, flow)) : undefined), [data, flow, traced]);
  const trace = value?.trace ?? (stored.value?.rows ? stored.value : undefined);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (asked()) heading.current?.scrollIntoView();
  }, [value]);
  return (
    <>
      <h3 ref={heading}>Why</h3>
      <NotRepeatable data={data} />
      {!value && !running && !not_repeatable && (
        <p><button type="button" class="primary" onClick={ask}>Explain: run it again with a trace</button></p>
      )}
      {running && <Repeating progress={progress} onStop={stop} />}
      {problem && <Trouble problem={problem} data={data} again={ask} />}
      {problem && <><p>On the command line:</p><pre class="command" tabIndex={0}>{command(data, flow)}</pre></>}
      {!value && stored.problem && <Trouble problem={stored.problem} />}
      {value && <Words told={value} flow={flow} />}
      {trace && <Packets data={data} trace={trace} flow={flow} flows={flows} title={title} whole={Boolean(value)} />}
    </>
  );
}

function Words({ told: { explanation, cut, text }, flow }: { told: Told; flow: number }) {
  const other = (id: number) => (
    <a href={address("results/flow", { ...Object.fromEntries(route.value.params), flow: id, part: undefined })}>flow {id}</a>
  );
  const others = explanation.others.filter(({ id }) => id !== flow);
  return (
    <>
      <ul class="verdict">{explanation.verdict.map((sentence) => <li>{coded(sentence)}</li>)}</ul>
      {others.length > 0 && (
        <p class="small">Named here: {others.slice(0, 12).map(({ id, size_bytes }, at) => <>{at > 0 && ", "}{other(id)} ({bytes(size_bytes)})</>)}
          {others.length > 12 ? ` and ${others.length - 12} more` : ""}.</p>
      )}
      {[...explanation.notes, ...(cut ? ["The trace reached its limit: events at the end are missing."] : [])]
        .map((note) => <p class="notice">{note}</p>)}
      <details class="small"><summary>All that is known, as <code>incast explain</code> prints it</summary><pre class="command" tabIndex={0}>{text}</pre></details>
    </>
  );
}

/** The choice of a part of a long flow. */
function Parts({ trace, own, start, go }: { readonly trace: Columns; readonly own: number; readonly start: number; readonly go: (part: number) => void }) {
  const last = Math.ceil(trace.rows / PART) - 1;
  const at = (row: number) => time((trace.numbers["time_ps"]?.[row] ?? NaN) - start);
  return (
    <div class="row small" role="group" aria-label="Part of the flow">
      <button type="button" disabled={own === 0} onClick={() => go(own - 1)}>Earlier</button>
      <button type="button" disabled={own === last} onClick={() => go(own + 1)}>Later</button>
      <input
        type="range" class="grow" min={0} max={last} step={1} value={own} aria-label="Part"
        aria-valuetext={`Part ${own + 1} of ${last + 1}`} onInput={(event) => go(Number(event.currentTarget.value))}
      />
      <output class="figures">
        Part {own + 1} of {last + 1}: {at(own * PART)} to {at(Math.min((own + 1) * PART, trace.rows) - 1)}, of {count(trace.rows)} events
      </output>
    </div>
  );
}

function Packets({ data, trace, flow, flows, title, whole }: { data: RunData; trace: Columns; flow: number; flows: Flows; title: string; whole: boolean }) {
  const { value: shape } = useLoaded(() => data.shape(), [data]);
  const [src, dst] = [flows.numbers.src[flow] ?? 0, flows.numbers.dst[flow] ?? 0];
  // While the slider moves the part is kept here: browsers allow few changes of the address per second.
  const [moved, setMoved] = useState<number | undefined>();
  const wanted = moved ?? (Math.floor(Number(route.value.params.get("part") ?? 0)) || 0);
  const own = Math.min(Math.max(wanted, 0), Math.max(Math.ceil(trace.rows / PART) - 1, 0));
  useEffect(() => {
    if (moved === undefined) return undefined;
    const timer = setTimeout(() => {
      amend({ part: moved || undefined });
      setMoved(undefined);
    }, 250);
    return () => clearTimeout(timer);
  }, [moved]);
  const length = moved === undefined ? PART : GLANCE;
  const all = useMemo(() => shape && sequence(part(trace, own, length), shape, src, dst), [trace, own, length, shape, src, dst]);
  if (!all) return null;
  const start = flows.numbers.start_ps[flow] || 0;
  return (
    <>
      <h3>Its packets in time</h3>
      {!whole && <p class="quiet small">From trace.parquet of the folder, which may not have all of them.</p>}
      {trace.rows > PART && <Parts trace={trace} own={own} start={start} go={setMoved} />}
      <Diagram all={all} start={start} label={`Packets of flow ${flow} in ${title}`} />
      <Events all={all} start={start} label={`Events of flow ${flow} in ${title}`} />
    </>
  );
}
