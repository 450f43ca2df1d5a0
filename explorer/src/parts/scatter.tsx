/** Many points on two axes, and a rectangle that the reader draws to choose some of them. */
import { scaleLinear, scaleLog } from "d3-scale";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { palette, theme } from "../theme";
import { cleared, pixelRatio } from "./canvas";
import "./scatter.css";

/** A chosen rectangle, in the units of the axes. */
export interface Brush {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

export interface Axis {
  readonly values: ArrayLike<number>;
  readonly title: string;
  readonly log: boolean;
  readonly format: (value: number) => string;
}

export interface ScatterProps {
  readonly x: Axis;
  readonly y: Axis;
  /** Rows that are drawn strongly; the others are pale. */
  readonly rows: Uint32Array;
  readonly total: number;
  readonly brush: Brush | undefined;
  /** Told the rectangle; `done`: the reader has let it go. */
  readonly onBrush: (brush: Brush | undefined, done: boolean) => void;
  readonly label: string;
  readonly height?: number;
}

const LEFT = 62;
const BOTTOM = 38;
const EDGE = 10;

type Scale = ReturnType<typeof scaleLinear<number, number>> | ReturnType<typeof scaleLog<number, number>>;

function scale(axis: Axis, range: [number, number]): Scale {
  let low = Infinity;
  let high = -Infinity;
  for (let at = 0; at < axis.values.length; at++) {
    const value = axis.values[at] ?? NaN;
    if (Number.isNaN(value) || (axis.log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) [low, high] = [1, 10];
  // One value alone stands in the middle of its surroundings.
  if (low === high) [low, high] = axis.log ? [low / 2, low * 2] : [low, low + (low || 1e6)];
  return axis.log
    ? scaleLog<number, number>().domain([low / 1.1, high * 1.1]).range(range)
    : scaleLinear<number, number>().domain([low, high + (high - low) * 0.02]).range(range);
}

function axes(context: CanvasRenderingContext2D, props: ScatterProps, x: Scale, y: Scale, width: number, height: number) {
  const colours = palette();
  context.font = "11px system-ui, sans-serif";
  context.lineWidth = 1;
  const few = (of: Scale, log: boolean, most: number) => {
    const all = of.ticks(most);
    return log && all.length > most ? all.filter((tick) => Number.isInteger(Math.round(Math.log10(tick) * 1e6) / 1e6)) : all;
  };
  for (const tick of few(x, props.x.log, 6)) {
    const at = Math.round(x(tick)) + 0.5;
    context.strokeStyle = colours.grid;
    context.beginPath();
    context.moveTo(at, EDGE);
    context.lineTo(at, height - BOTTOM);
    context.stroke();
    context.fillStyle = colours.quiet;
    context.textAlign = "center";
    context.fillText(props.x.format(tick), at, height - BOTTOM + 14);
  }
  for (const tick of few(y, props.y.log, 5)) {
    const at = Math.round(y(tick)) + 0.5;
    context.strokeStyle = colours.grid;
    context.beginPath();
    context.moveTo(LEFT, at);
    context.lineTo(width - EDGE, at);
    context.stroke();
    context.fillStyle = colours.quiet;
    context.textAlign = "right";
    context.fillText(props.y.format(tick), LEFT - 5, at + 4);
  }
  context.fillStyle = colours.ink;
  context.textAlign = "center";
  context.fillText(props.x.title, (LEFT + width - EDGE) / 2, height - 6);
  context.save();
  context.translate(11, (EDGE + height - BOTTOM) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(props.y.title, 0, 0);
  context.restore();
}

/** From this many points on they are drawn as pixels. */
const MANY = 5000;

/** Where each row's point lies, in pixels of the canvas; -1 if it has none. */
function pixels({ x: across, y: up, total }: ScatterProps, x: Scale, y: Scale, wide: number, ratio: number): Int32Array {
  const places = new Int32Array(total).fill(-1);
  for (let row = 0; row < total; row++) {
    const [a, b] = [across.values[row] ?? NaN, up.values[row] ?? NaN];
    const [px, py] = [Math.round(x(a) * ratio), Math.round(y(b) * ratio)];
    if (px >= 0 && py >= 0) places[row] = py * wide + px;
  }
  return places;
}

/** Writes points into a picture: squares of two pixels, three on fine screens. */
function dots(picture: ImageData, places: Int32Array, rows: Uint32Array | undefined, colour: string, opacity: number) {
  const cells = new Uint32Array(picture.data.buffer);
  const value = parseInt(colour.slice(1), 16);
  // Little-endian: alpha, blue, green, red.
  const shade = ((Math.round(opacity * 255) << 24) | ((value & 255) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
  const one = (at: number) => {
    if (at < 0) return;
    cells[at] = shade;
    cells[at + 1] = shade;
    cells[at + picture.width] = shade;
    cells[at + picture.width + 1] = shade;
  };
  if (rows) for (let at = 0; at < rows.length; at++) one(places[rows[at] ?? 0] ?? -1);
  else for (let row = 0; row < places.length; row++) one(places[row] ?? -1);
}

/** The picture of a canvas, made once per size. */
const pictures = new WeakMap<HTMLCanvasElement, ImageData>();

function emptyPicture(context: CanvasRenderingContext2D): ImageData {
  const { canvas } = context;
  const known = pictures.get(canvas);
  if (known?.width === canvas.width && known.height === canvas.height) {
    known.data.fill(0);
    return known;
  }
  const made = context.createImageData(canvas.width, canvas.height);
  pictures.set(canvas, made);
  return made;
}

/** Points of some rows as small squares; of all rows without `rows`. */
function points(context: CanvasRenderingContext2D, places: Int32Array, rows: Uint32Array | undefined, colour: string, ratio: number) {
  const { width } = context.canvas;
  if (places.length >= MANY) {
    const picture = emptyPicture(context);
    dots(picture, places, rows, colour, 0.75);
    context.putImageData(picture, 0, 0);
    return;
  }
  const size = places.length > 2000 ? 2.4 : 4;
  context.globalAlpha = 0.75;
  context.fillStyle = colour;
  const one = (place: number) => {
    if (place >= 0) context.fillRect((place % width) / ratio - size / 2, Math.floor(place / width) / ratio - size / 2, size, size);
  };
  if (rows) rows.forEach((row) => one(places[row] ?? -1));
  else places.forEach(one);
  context.globalAlpha = 1;
}

/** The chart. A drag chooses; Escape or a click takes the choice back; with the focus, arrow keys move the rectangle. */
export function Scatter(props: ScatterProps) {
  const { brush, onBrush, label } = props;
  const holder = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLCanvasElement>(null);
  const pale = useRef<HTMLCanvasElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(480);
  const height = props.height ?? 260;
  const from = useRef<[number, number] | undefined>(undefined);
  const x = useMemo(() => scale(props.x, [LEFT, width - EDGE]), [props.x, width]);
  const y = useMemo(() => scale(props.y, [height - BOTTOM, EDGE]), [props.y, height]);

  const ratio = pixelRatio();
  const places = useMemo(() => pixels(props, x, y, Math.round(width * ratio), ratio), [x, y, props.total, ratio]);

  useEffect(() => {
    const element = holder.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setWidth(Math.max(element.clientWidth, 160)));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  // All points lie pale underneath; a choice redraws only what lies on top.
  useLayoutEffect(() => {
    const under = cleared(pale.current, width, height, ratio);
    if (under) points(under, places, undefined, palette().grid, ratio);
    const lines = cleared(frame.current, width, height, ratio);
    if (lines) axes(lines, props, x, y, width, height);
  }, [places, theme.value]);
  useLayoutEffect(() => {
    const top = cleared(canvas.current, width, height, ratio);
    if (top) points(top, places, props.rows.length === props.total ? undefined : props.rows, palette().series[0] ?? palette().ink, ratio);
  }, [places, props.rows, theme.value]);

  const place = (event: PointerEvent): [number, number] => {
    const box = (holder.current as HTMLElement).getBoundingClientRect();
    const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high);
    return [clamp(event.clientX - box.left, LEFT, width - EDGE), clamp(event.clientY - box.top, EDGE, height - BOTTOM)];
  };
  const drag = (event: PointerEvent, done: boolean) => {
    if (!from.current) return;
    const [ax, ay] = from.current;
    const [bx, by] = place(event);
    if (Math.abs(bx - ax) < 3 && Math.abs(by - ay) < 3) return;
    onBrush({
      x: [x.invert(Math.min(ax, bx)), x.invert(Math.max(ax, bx))],
      y: [y.invert(Math.max(ay, by)), y.invert(Math.min(ay, by))],
    }, done);
  };
  const drop = (event: PointerEvent) => {
    const [ax, ay] = from.current ?? [0, 0];
    const [bx, by] = place(event);
    if (from.current && Math.abs(bx - ax) < 3 && Math.abs(by - ay) < 3) onBrush(undefined, true);
    else drag(event, true);
    from.current = undefined;
  };
  const box = brush && {
    left: `${x(brush.x[0])}px`,
    top: `${y(brush.y[1])}px`,
    width: `${x(brush.x[1]) - x(brush.x[0])}px`,
    height: `${y(brush.y[0]) - y(brush.y[1])}px`,
  };
  return (
    <div
      class="scatter"
      ref={holder}
      style={{ height: `${height}px` }}
      role="application"
      aria-roledescription="chart with a brush"
      aria-label={`${label}. Drag to choose a rectangle; arrow keys make and move one; Escape clears it.`}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = place(event);
      }}
      onPointerMove={(event) => drag(event, false)}
      onPointerUp={drop}
      onKeyDown={(event) => keys(event, brush, onBrush, x, y)}
    >
      <canvas ref={frame} />
      <canvas ref={pale} />
      <canvas ref={canvas} />
      {box && <div class="brush" style={box} />}
    </div>
  );
}

/** Moves the rectangle by a twentieth of the axes; makes one in the upper right quarter if there is none. */
function keys(event: KeyboardEvent, brush: Brush | undefined, onBrush: ScatterProps["onBrush"], x: Scale, y: Scale) {
  if (event.key === "Escape") return onBrush(undefined, true);
  const moves: Readonly<Record<string, readonly [number, number]>> = {
    ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
  };
  const move = moves[event.key];
  if (!move) return undefined;
  event.preventDefault();
  const [left = 0, right = 1] = x.range();
  const [floor = 1, roof = 0] = y.range();
  const step = [((right - left) / 20) * move[0], ((floor - roof) / 20) * move[1]] as const;
  if (!brush) {
    return onBrush({
      x: [x.invert((left + right) / 2), x.invert(right)],
      y: [y.invert((floor + roof) / 2), y.invert(roof)],
    }, true);
  }
  return onBrush({
    x: [x.invert(x(brush.x[0]) + step[0]), x.invert(x(brush.x[1]) + step[0])],
    y: [y.invert(y(brush.y[0]) + step[1]), y.invert(y(brush.y[1]) + step[1])],
  }, true);
}
