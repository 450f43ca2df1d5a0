/** A time-sequence diagram: hosts and switches side by side, time from top to bottom. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { bytes, count, time } from "../parts/format";
import { palette, theme } from "../theme";
import { colourOf, Drawing, HEIGHT, SIGNS, view, widthOf, type View, type Window } from "./drawing";
import { Axis, type Leg, type Point, type Sequence, type Wait } from "./sequence";
import "./diagram.css";

/** Packets that a first look shows. */
const FIRST_LEGS = 400;

/** A look at the beginning that is not too dense. */
function first(all: Sequence, axis: Axis): Window {
  const last = all.legs[FIRST_LEGS];
  return { from: axis.from, until: last ? axis.place(last.to) : axis.until };
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
  const [chosen, setChosen] = useState<{ readonly all: Sequence; readonly window: Window } | undefined>();
  const beginning = useMemo(() => first(all, axis), [all, axis]);
  // A window belongs to its part of the flow.
  const window = chosen?.all === all ? chosen.window : beginning;
  const setWindow = (next: Window) => setChosen({ all, window: next });
  const [width, setWidth] = useState(700);
  const [text, setText] = useState("");
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set(["decision"]));
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<number | undefined>(undefined);
  const drawing = useMemo(() => new Drawing(), []);
  const subject = useMemo(() => ({ all, axis, start, hidden }), [all, axis, start, hidden]);
  const look = useMemo(() => view(all, axis, window, width), [all, axis, window, width]);

  useEffect(() => {
    const element = canvas.current?.parentElement;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setWidth(Math.max(element.clientWidth, 240)));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (canvas.current) drawing.draw(canvas.current, subject, window, width);
  }, [subject, window, width, theme.value]);

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
    else if (event.key === "Home") setWindow(beginning);
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
        <button type="button" onClick={() => setWindow(beginning)}>Start</button>
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
