/** A time-sequence diagram: hosts and switches side by side, time from top to bottom. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { bytes, count, time } from "../parts/format";
import { palette, theme, type Palette } from "../theme";
import { Axis, type Leg, type Point, type Sequence, type Wait } from "./sequence";
import "./diagram.css";

/** What is seen of the axis. */
interface Window {
  readonly from: number;
  readonly until: number;
}

const TOP = 26;
const BOTTOM = 8;
const LEFT = 78;
const RIGHT = 44;
const HEIGHT = 520;
/** Packets that a first look shows. */
const FIRST_LEGS = 400;

/** How points are drawn: letter or sign, and whether it is a fault. */
const SIGNS: Readonly<Record<string, readonly [sign: string, alarm: boolean]>> = {
  dropped: ["✕", true], lost: ["✕", true], trimmed: ["✂", true], bounced: ["↩", true], timeout: ["T", true],
  marked: ["●", false], decision: ["◆", false], opened: ["▷", false], completed: ["■", false], acknowledged: ["□", false],
};

/** The colour of a kind of packet, by its place among the kinds. */
const colourOf = (kinds: readonly string[], kind: string, colours: Palette) =>
  colours.series[Math.max(kinds.indexOf(kind), 0) % 7] ?? colours.ink;

/** Data are drawn thicker than what answers them, so that greyscale tells them apart. */
const widthOf = (kind: string) => (kind === "Data" ? 2 : 1);

/** A look at the beginning that is not too dense. */
function first(all: Sequence, axis: Axis): Window {
  const last = all.legs[FIRST_LEGS];
  return { from: axis.from, until: last ? axis.place(last.to) : axis.until };
}

interface View {
  readonly width: number;
  x(column: number): number;
  /** Of a time. */
  y(at: number): number;
  /** The place on the axis. */
  at(y: number): number;
  /** First and last time in sight. */
  readonly from: number;
  readonly until: number;
}

function view(all: Sequence, axis: Axis, window: Window, width: number): View {
  const span = Math.max(window.until - window.from, 1);
  const tall = HEIGHT - TOP - BOTTOM;
  const gaps = Math.max(all.columns.length - 1, 1);
  return {
    width,
    x: (column) => LEFT + (column / gaps) * (width - LEFT - RIGHT),
    y: (at) => TOP + ((axis.place(at) - window.from) / span) * tall,
    at: (y) => window.from + ((y - TOP) / tall) * span,
    from: axis.time(window.from),
    until: axis.time(window.until),
  };
}

function rulers(context: CanvasRenderingContext2D, all: Sequence, window: Window, look: View, start: number) {
  const colours = palette();
  context.font = "11px system-ui, sans-serif";
  const rough = (window.until - window.from) / 8;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  context.textAlign = "right";
  const tick = (at: number) => {
    const y = Math.round(look.y(at)) + 0.5;
    context.strokeStyle = colours.grid;
    context.beginPath();
    context.moveTo(LEFT - 6, y);
    context.lineTo(look.width - RIGHT + 6, y);
    context.stroke();
    context.fillStyle = colours.quiet;
    context.fillText(time(at - start), LEFT - 10, y + 4);
  };
  let from = look.from;
  for (const silence of [...all.silences, { from: Infinity, until: Infinity }]) {
    const until = Math.min(silence.from, look.until);
    for (let at = Math.ceil((from - start) / step) * step + start; at <= until; at += step) tick(at);
    from = Math.max(from, silence.until);
  }
  for (const silence of all.silences) {
    const [top, bottom] = [look.y(silence.from), look.y(silence.until)];
    if (bottom < TOP || top > HEIGHT) continue;
    context.fillStyle = colours.grid;
    context.fillRect(LEFT - 6, top + 2, look.width - LEFT - RIGHT + 12, bottom - top - 4);
    context.fillStyle = colours.ink;
    context.textAlign = "center";
    context.fillText(`nothing for ${time(silence.until - silence.from)}`, (LEFT + look.width - RIGHT) / 2, (top + bottom) / 2 + 4);
  }
  context.textAlign = "center";
  all.columns.forEach((name, column) => {
    const x = Math.round(look.x(column)) + 0.5;
    context.strokeStyle = colours.quiet;
    context.beginPath();
    context.moveTo(x, TOP);
    context.lineTo(x, HEIGHT - BOTTOM);
    context.stroke();
    context.fillStyle = colours.ink;
    const side = column % 2 && look.width < 500 ? 11 : 0;
    context.fillText(name, x, TOP - 12 + side);
  });
}

function drawLegs(context: CanvasRenderingContext2D, all: Sequence, look: View) {
  const colours = palette();
  const seen = all.legs.filter((leg) => leg.to >= look.from && leg.from <= look.until);
  const arrows = seen.length < 600;
  const dense = seen.length > 3000;
  // One stroke for all that look alike: thousands of strokes would take longer than a frame.
  const alike = new Map<string, Leg[]>();
  for (const leg of seen) {
    const key = `${leg.kind}\n${leg.retransmission}`;
    const group = alike.get(key);
    if (group) group.push(leg);
    else alike.set(key, [leg]);
  }
  for (const [key, legs] of alike) {
    const [kind = "", again] = key.split("\n");
    context.strokeStyle = colourOf(all.kinds, kind, colours);
    context.lineWidth = dense ? 0.5 : widthOf(kind);
    context.setLineDash(again === "true" ? [5, 3] : []);
    context.beginPath();
    for (const leg of legs) {
      context.moveTo(look.x(leg.fromColumn), look.y(leg.from));
      context.lineTo(look.x(leg.toColumn), look.y(leg.to));
    }
    context.stroke();
  }
  context.setLineDash([]);
  for (const leg of arrows ? seen : []) {
    const [ax, ay, bx, by] = [look.x(leg.fromColumn), look.y(leg.from), look.x(leg.toColumn), look.y(leg.to)];
    const angle = Math.atan2(by - ay, bx - ax);
    context.fillStyle = colourOf(all.kinds, leg.kind, colours);
    context.beginPath();
    context.moveTo(bx, by);
    context.lineTo(bx - 6 * Math.cos(angle - 0.35), by - 6 * Math.sin(angle - 0.35));
    context.lineTo(bx - 6 * Math.cos(angle + 0.35), by - 6 * Math.sin(angle + 0.35));
    context.fill();
  }
}

function drawWaits(context: CanvasRenderingContext2D, all: Sequence, look: View) {
  const colours = palette();
  context.lineWidth = 4;
  context.globalAlpha = 0.55;
  context.strokeStyle = colours.heat[2] ?? colours.alarm;
  context.beginPath();
  for (const wait of all.waits) {
    if (wait.to < look.from || wait.from > look.until) continue;
    context.moveTo(look.x(wait.column), look.y(wait.from));
    context.lineTo(look.x(wait.column), look.y(wait.to));
  }
  context.stroke();
  context.globalAlpha = 1;
}

function drawPoints(context: CanvasRenderingContext2D, all: Sequence, look: View, hidden: ReadonlySet<string>) {
  const colours = palette();
  context.textAlign = "center";
  for (const point of all.points) {
    if (point.at < look.from || point.at > look.until || hidden.has(point.what)) continue;
    const [sign, alarm] = SIGNS[point.what] ?? ["·", false];
    context.font = alarm ? "bold 15px system-ui, sans-serif" : "10px system-ui, sans-serif";
    context.fillStyle = alarm ? colours.alarm : colours.ink;
    context.fillText(sign, look.x(point.column), look.y(point.at) + 4);
  }
}

type Found = { readonly leg: Leg } | { readonly wait: Wait } | { readonly point: Point };

/** What lies nearest to a place in the drawing. */
function near(all: Sequence, look: View, hidden: ReadonlySet<string>, x: number, y: number): Found | undefined {
  let best: Found | undefined;
  let least = 9;
  for (const point of all.points) {
    if (hidden.has(point.what)) continue;
    const far = Math.hypot(look.x(point.column) - x, look.y(point.at) - y) - 2;
    if (far < least) [least, best] = [far, { point }];
  }
  for (const leg of all.legs) {
    const [ax, ay, bx, by] = [look.x(leg.fromColumn), look.y(leg.from), look.x(leg.toColumn), look.y(leg.to)];
    if (Math.max(ay, by) < y - 9 || Math.min(ay, by) > y + 9) continue;
    const share = Math.min(Math.max(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1), 0), 1);
    const far = Math.hypot(ax + (bx - ax) * share - x, ay + (by - ay) * share - y);
    if (far < least) [least, best] = [far, { leg }];
  }
  for (const wait of all.waits) {
    const far = Math.abs(look.x(wait.column) - x);
    if (far < Math.min(least, 4) && look.y(wait.from) <= y && look.y(wait.to) >= y) [least, best] = [far, { wait }];
  }
  return best;
}

function words(found: Found, all: Sequence, start: number): string {
  if ("point" in found) return `${time(found.point.at - start)}: ${found.point.text}`;
  if ("wait" in found) {
    const { wait } = found;
    return `${time(wait.from - start)}: ${wait.kind} ${wait.number} waited ${time(wait.to - wait.from)} at ${wait.port} behind ${bytes(wait.queue)}`;
  }
  const { leg } = found;
  const again = leg.retransmission ? ", a retransmission" : "";
  return `${time(leg.from - start)}: ${leg.kind} ${leg.number} (${bytes(leg.bytes)}${again}) from ${all.columns[leg.fromColumn]} to ${all.columns[leg.toColumn]}, there at ${time(leg.to - start)}`;
}

/** The diagram. `start`: the flow's start, from which times are counted. */
export function Diagram({ all, start, label }: { readonly all: Sequence; readonly start: number; readonly label: string }) {
  const axis = useMemo(() => new Axis(all), [all]);
  const [window, setWindow] = useState<Window>(() => first(all, axis));
  const [width, setWidth] = useState(700);
  const [text, setText] = useState("");
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set(["decision"]));
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<number | undefined>(undefined);
  const look = useMemo(() => view(all, axis, window, width), [all, axis, window, width]);

  useEffect(() => setWindow(first(all, axis)), [all]);
  useEffect(() => {
    const element = canvas.current?.parentElement;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setWidth(Math.max(element.clientWidth, 240)));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!canvas.current || !context) return;
    const ratio = devicePixelRatio || 1;
    canvas.current.width = Math.round(width * ratio);
    canvas.current.height = Math.round(HEIGHT * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    rulers(context, all, window, look, start);
    context.save();
    context.beginPath();
    context.rect(0, TOP - 2, width, HEIGHT - TOP);
    context.clip();
    drawWaits(context, all, look);
    drawLegs(context, all, look);
    drawPoints(context, all, look, hidden);
    context.restore();
  }, [all, window, look, hidden, theme.value]);

  const span = window.until - window.from;
  const move = (by: number) => setWindow({ from: window.from + by, until: window.until + by });
  const zoom = (factor: number, around = (window.from + window.until) / 2) => setWindow({
    from: around - (around - window.from) * factor, until: around + (window.until - around) * factor,
  });
  const place = (event: MouseEvent): [number, number] => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const point = (event: PointerEvent) => {
    const [x, y] = place(event);
    if (drag.current !== undefined) {
      move(look.at(drag.current) - look.at(y));
      drag.current = y;
      return;
    }
    const found = near(all, look, hidden, x, y);
    setText(found ? words(found, all, start) : "");
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") move(span / 8);
    else if (event.key === "ArrowUp") move(-span / 8);
    else if (event.key === "+" || event.key === "=") zoom(0.6);
    else if (event.key === "-") zoom(1 / 0.6);
    else if (event.key === "Home") setWindow(first(all, axis));
    else return;
    event.preventDefault();
  };
  const flip = (what: string) => {
    const next = new Set(hidden);
    if (!next.delete(what)) next.add(what);
    setHidden(next);
  };
  const found = [...new Set(all.points.map(({ what }) => what))];
  const colours = palette();
  return (
    <div class="diagram">
      <div class="row small">
        <button type="button" onClick={() => zoom(0.6)} aria-label="Closer">+</button>
        <button type="button" onClick={() => zoom(1 / 0.6)} aria-label="Farther">−</button>
        <button type="button" onClick={() => setWindow({ from: axis.from, until: axis.until })}>All of it</button>
        <button type="button" onClick={() => setWindow(first(all, axis))}>Start</button>
        <span class="quiet">Drag to move, Ctrl and wheel to zoom; {count(all.legs.length)} packets on links.</span>
      </div>
      <div class="row small keys">
        {all.kinds.map((kind) => <span><i style={{ background: colourOf(all.kinds, kind, colours), height: `${widthOf(kind) + 1}px` }} />{kind}</span>)}
        <span><i class="wait" style={{ background: colours.heat[2] }} />waiting in a queue</span>
        {found.map((what) => (
          <label><input type="checkbox" checked={!hidden.has(what)} onChange={() => flip(what)} />{SIGNS[what]?.[0]} {what}</label>
        ))}
      </div>
      <canvas
        ref={canvas} style={{ height: `${HEIGHT}px` }} tabIndex={0} role="application" aria-roledescription="diagram"
        aria-label={`${label}. Up and down move, plus and minus zoom, Home goes to the start. The same is listed below.`}
        onKeyDown={keys}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.current = place(event)[1];
        }}
        onPointerUp={() => { drag.current = undefined; }}
        onPointerMove={point}
        onWheel={(event) => {
          if (!event.ctrlKey && !event.metaKey) return;
          event.preventDefault();
          zoom(event.deltaY > 0 ? 1.25 : 0.8, look.at(place(event)[1]));
        }}
      />
      <output class="small figures" aria-live="polite">{text || "Point at a packet for what it is."}</output>
    </div>
  );
}
