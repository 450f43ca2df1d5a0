/** The moving picture: fabrics side by side on one clock, their series, and what came of the runs. */
import { useComputed } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { FabricView, HeatLegend, type Placed } from "../fabric/view";
import { bytes, percent, time as timeText } from "../parts/format";
import { Charts } from "./charts";
import { Outcomes } from "./outcome";
import { down } from "./outages";
import {
  advanced, HASTE, instant, loading, now, over, playing, port, quiet, reached, refused, runs, rushing, seek, speed, step, stop, times,
  toEnd, toggle, type Run,
} from "./store";

/** Instants over which a use is averaged, so that it does not flicker with every packet. */
const SMOOTH = 4;

/** Whether the reader asked for little motion. */
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** The use of a link from which it counts as busy. */
const BUSY = 0.5;

/** What the picture shows of every port at an instant. */
function look(run: Run, at: number, values: Float32Array): void {
  const ports = run.shape.ports.length;
  const last = Math.min(at, run.frames.length - 1);
  const frame = run.frames[last];
  const from = run.frames[last - SMOOTH];
  if (!frame) {
    values.fill(0);
    return;
  }
  const span = (times[last] ?? 0) - (from ? (times[last - SMOOTH] ?? 0) : 0);
  for (let one = 0; one < ports; one++) {
    const sent = (frame[ports + one] ?? 0) - (from?.[ports + one] ?? 0);
    values[one] = span > 0 ? Math.min(1, (sent * 8e12) / span / (run.shape.ports[one]?.rate ?? 1)) : 0;
  }
}

/** The instant whose picture a run that is over keeps: the last at which a link was busy. */
function kept(run: Run, values: Float32Array): number {
  for (let at = run.frames.length - 1; at > 0; at--) {
    look(run, at, values);
    if (values.some((use) => use >= BUSY)) return at;
  }
  return run.frames.length - 1;
}

/** Whether a link was paused in the last instant. */
function paused(run: Run, at: number, one: number): boolean {
  const place = run.shape.ports.length * 3 + one;
  return (run.frames[at]?.[place] ?? 0) > (run.frames[at - 1]?.[place] ?? 0);
}

/** Draws packets on their way, queues, losses and pauses. */
function overlay(run: Run, at: number, values: Float32Array, most: number, phase: number) {
  return (context: CanvasRenderingContext2D, place: Placed) => {
    const ports = run.shape.ports.length;
    const frame = run.frames[at];
    if (!frame) return;
    const before = run.frames[Math.max(0, at - 2 * SMOOTH)];
    for (let one = 0; one < ports; one++) {
      const dots = still.matches ? 0 : Math.round((values[one] ?? 0) * 4);
      for (let dot = 0; dot < dots; dot++) {
        const [x, y] = place.along(one, (dot / dots + phase) % 1);
        context.fillStyle = place.palette.ink;
        context.fillRect(x - 2.2, y - 2.2, 4.4, 4.4);
        context.fillStyle = place.palette.paper;
        context.fillRect(x - 1.2, y - 1.2, 2.4, 2.4);
      }
    }
    for (let one = 0; one < ports; one++) {
      const queue = frame[one] ?? 0;
      const [x, y] = place.along(one, 0.09);
      if (queue > 0) {
        context.fillStyle = place.palette.alarm;
        context.globalAlpha = 0.75;
        context.beginPath();
        context.arc(x, y, 1.5 + 11 * Math.sqrt(Math.min(queue / most, 1)), 0, 2 * Math.PI);
        context.fill();
        context.globalAlpha = 1;
      }
      if ((frame[2 * ports + one] ?? 0) > (before?.[2 * ports + one] ?? 0)) cross(context, x, y, place);
      if (paused(run, at, one)) bars(context, place.along(one, 0.3), place);
    }
    down(run.outages, now.peek()).forEach((one) => gap(context, place.along(one, 0.4), place.along(one, 0.6), place));
  };
}

function cross(context: CanvasRenderingContext2D, x: number, y: number, place: Placed) {
  context.strokeStyle = place.palette.ink;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x + 9, y - 5);
  context.lineTo(x + 17, y + 3);
  context.moveTo(x + 17, y - 5);
  context.lineTo(x + 9, y + 3);
  context.stroke();
}

/** A link that is down is interrupted. */
function gap(context: CanvasRenderingContext2D, [ax, ay]: [number, number], [bx, by]: [number, number], place: Placed) {
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const [dx, dy] = [(-(by - ay) / length) * 5, ((bx - ax) / length) * 5];
  const line = (points: readonly [number, number, number, number], colour: string, width: number) => {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(points[0], points[1]);
    context.lineTo(points[2], points[3]);
    context.stroke();
  };
  line([ax, ay, bx, by], place.palette.paper, 9);
  line([ax - dx, ay - dy, ax + dx, ay + dy], place.palette.ink, 2);
  line([bx - dx, by - dy, bx + dx, by + dy], place.palette.ink, 2);
}

function bars(context: CanvasRenderingContext2D, [x, y]: [number, number], place: Placed) {
  context.fillStyle = place.palette.ink;
  context.fillRect(x - 3, y - 4, 2, 8);
  context.fillRect(x + 1, y - 4, 2, 8);
}

function Picture({ run }: { readonly run: Run }) {
  const values = useMemo(() => new Float32Array(run.shape.ports.length), [run]);
  const begun = useRef(performance.now());
  const reached = instant(now.value);
  const done = run.over && reached >= run.frames.length - 1;
  const end = useMemo(() => (run.over ? kept(run, values) : 0), [run, run.over]);
  const at = done ? end : reached;
  look(run, at, values);
  const most = run.facts.buffer_bytes ?? 128 << 10;
  const chosen = run.shape.ports.findIndex(({ name }) => name === port.value);
  const phase = playing.value ? ((performance.now() - begun.current) / 900) % 1 : 0.4;
  const frame = run.frames[at];
  const describe = (one: number) => {
    const ports = run.shape.ports.length;
    const lost = frame?.[2 * ports + one] ?? 0;
    return `${run.shape.ports[one]?.name ?? ""}: used ${percent(values[one])}, queue ${bytes(frame?.[one] ?? 0)}` +
      `${lost ? `, ${lost} packets dropped or trimmed so far` : ""}${paused(run, at, one) ? ", paused" : ""}`;
  };
  const finished = run.completed[Math.min(reached, run.completed.length - 1)] ?? 0;
  return (
    <section class="panel picture">
      <h3 class="row">{run.title}
        <span class="quiet small figures">{finished} of {run.facts.flows} flows finished{done ? `; over, seen at ${timeText(times[at] ?? 0)}` : ""}</span>
      </h3>
      <FabricView
        shape={run.shape} values={values} tick={now.value + advanced.value + phase} describe={describe}
        chosen={chosen < 0 ? undefined : chosen} onPort={(one) => { port.value = run.shape.ports[one]?.name ?? ""; }}
        label={`Fabric under ${run.title}`} height={run.shape.nodes.some(({ tier }) => tier === "core") ? 210 : 150}
        over={overlay(run, at, values, most, phase)}
      />
    </section>
  );
}

const FACTORS = [0.1, 0.3, 1, 3, 10] as const;

/** Play, step, stop, run to the end, and the speed. */
function Clock({ base }: { readonly base: number }) {
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      const inField = (event.target as HTMLElement).closest("input, select, textarea, button, summary, a, [role=application]");
      if (event.key !== " " || inField) return;
      event.preventDefault();
      toggle();
    };
    window.addEventListener("keydown", keys);
    return () => window.removeEventListener("keydown", keys);
  }, []);
  const busy = rushing.value;
  const end = Math.max(reached(), 1);
  return (
    <div class="row labclock" role="group" aria-label="Clock">
      <button type="button" class="primary" onClick={toggle} aria-keyshortcuts="Space" disabled={!runs.value.length}>
        {playing.value ? "Pause" : over.value && now.value >= reached() ? "Play again" : "Play"}
      </button>
      <button type="button" onClick={() => void step()} disabled={!runs.value.length}>Step</button>
      {busy
        ? <button type="button" onClick={stop}>Stop</button>
        : <button type="button" onClick={() => void toEnd()} disabled={over.value || !runs.value.length}>Run to the end</button>}
      <input
        type="range" class="grow" min={0} max={end} step={1} value={now.value} aria-label="Time"
        aria-valuetext={timeText(now.value)} onInput={(event) => seek(Number(event.currentTarget.value))}
      />
      <output class="figures now">
        {timeText(now.value)}
        {over.value && <span class="quiet"> of {timeText(reached())}</span>}
        {quiet.value && <span class="quiet"> nothing moves: {HASTE} × faster</span>}
      </output>
      <label class="row small"><span class="quiet">1 s shows</span>
        <select value={String(speed.value)} onChange={(event) => { speed.value = Number(event.currentTarget.value); }}>
          {FACTORS.map((factor) => <option value={String(base * factor)}>{timeText(base * factor)}</option>)}
        </select>
      </label>
    </div>
  );
}

function Legend() {
  return (
    <p class="row small quiet keys">
      <HeatLegend low="link idle" high="full" />
      <span><span class="blob" aria-hidden="true" /> queue, by its area</span>
      <span><b aria-hidden="true">×</b> packets dropped or trimmed</span>
      <span><b aria-hidden="true">‖</b> link paused</span>
      {runs.value.some((run) => run.outages.length) && <span><b aria-hidden="true">─| |─</b> link down</span>}
    </p>
  );
}

/** All of it. `base`: the speed to begin with, ps per second; `ports`: those worth a look. */
export function Stage({ base, ports = [] }: { readonly base: number; readonly ports?: readonly string[] }) {
  const [own, setOwn] = useState(base);
  useEffect(() => {
    setOwn(base);
    speed.value = base;
  }, [base]);
  useEffect(() => stop, []);
  const names = useComputed(() => runs.value[0]?.shape.ports.map(({ name }) => name) ?? []);
  advanced.value;
  if (loading.value && !runs.value.length) return <p role="status">Starting the engine …</p>;
  return (
    <>
      {refused.value && <div class="notice" role="alert">{refused.value}</div>}
      {runs.value.length > 0 && (
        <>
          <Clock base={own} />
          <div class={`pictures many${Math.min(runs.value.length, 3)}`}>{runs.value.map((run) => <Picture run={run} key={run.title} />)}</div>
          <Legend />
          <div class="row small">
            <label class="row">Port
              <select value={port.value} onChange={(event) => { port.value = event.currentTarget.value; }}>
                {names.value.map((name) => <option value={name}>{name}</option>)}
              </select>
            </label>
            {ports.map((name) => (
              <button type="button" aria-pressed={port.value === name} onClick={() => { port.value = name; }}>{name}</button>
            ))}
            <span class="quiet">or click a link</span>
          </div>
          <Charts />
          <Outcomes />
        </>
      )}
    </>
  );
}
