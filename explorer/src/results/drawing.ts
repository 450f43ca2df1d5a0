/** Draws a time-sequence diagram on a canvas. */
import { cleared, pixelRatio } from "../parts/canvas";
import { time } from "../parts/format";
import { palette, type Palette } from "../theme";
import type { Axis, Leg, Sequence } from "./sequence";

/** What is seen of the axis. */
export interface Window {
  readonly from: number;
  readonly until: number;
}

export const TOP = 26;
export const HEIGHT = 520;
const BOTTOM = 8;
const LEFT = 78;
const RIGHT = 44;
/** The part of the canvas that moves with time. */
const TALL = HEIGHT - TOP - BOTTOM;
/** Windows that a strip has before and after the one in sight. */
const BESIDE = 1;

/** How points are drawn: letter or sign, and whether it is a fault. */
export const SIGNS: Readonly<Record<string, readonly [sign: string, alarm: boolean]>> = {
  dropped: ["✕", true], lost: ["✕", true], trimmed: ["✂", true], bounced: ["↩", true], timeout: ["T", true],
  marked: ["●", false], decision: ["◆", false], opened: ["▷", false], completed: ["■", false], acknowledged: ["□", false],
};

/** The colour of a kind of packet, by its place among the kinds. */
export const colourOf = (kinds: readonly string[], kind: string, colours: Palette) =>
  colours.series[Math.max(kinds.indexOf(kind), 0) % 7] ?? colours.ink;

/** Data are drawn thicker than what answers them, so that greyscale tells them apart. */
export const widthOf = (kind: string) => (kind === "Data" ? 2 : 1);

/** Where things lie in a drawing. */
export interface View {
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

/** A view of a window: on the canvas, or on a strip that has no names of columns. */
export function view(all: Sequence, axis: Axis, window: Window, width: number, top = TOP, tall = TALL): View {
  const span = Math.max(window.until - window.from, 1);
  const gaps = Math.max(all.columns.length - 1, 1);
  return {
    width,
    x: (column) => LEFT + (column / gaps) * (width - LEFT - RIGHT),
    y: (at) => top + ((axis.place(at) - window.from) / span) * tall,
    at: (y) => window.from + ((y - top) / tall) * span,
    from: axis.time(window.from),
    until: axis.time(window.until),
  };
}

/** What is drawn: the diagram, where times are counted from, and which points are hidden. */
export interface Subject {
  readonly all: Sequence;
  readonly axis: Axis;
  readonly start: number;
  readonly hidden: ReadonlySet<string>;
}

/** Lines at round times, and the silences. `span`: of the axis in sight. */
function rulers(context: CanvasRenderingContext2D, { all, start }: Subject, look: View, span: number) {
  const colours = palette();
  context.font = "11px system-ui, sans-serif";
  const rough = span / 8;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  context.textAlign = "right";
  context.lineWidth = 1;
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
  context.textAlign = "center";
  for (const silence of all.silences) {
    if (silence.until < look.from || silence.from > look.until) continue;
    const [top, bottom] = [look.y(silence.from), look.y(silence.until)];
    context.fillStyle = colours.grid;
    context.fillRect(LEFT - 6, top + 2, look.width - LEFT - RIGHT + 12, bottom - top - 4);
    context.fillStyle = colours.ink;
    context.fillText(`nothing for ${time(silence.until - silence.from)}`, (LEFT + look.width - RIGHT) / 2, (top + bottom) / 2 + 4);
  }
}

/** The columns with their names. */
function columns(context: CanvasRenderingContext2D, all: Sequence, look: View) {
  const colours = palette();
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.lineWidth = 1;
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

/** How many packets are in sight decides how they are drawn. */
interface Density {
  readonly arrows: boolean;
  readonly dense: boolean;
}

function density(all: Sequence, look: View): Density {
  const seen = all.legs.reduce((count, leg) => count + Number(leg.to >= look.from && leg.from <= look.until), 0);
  return { arrows: seen < 600, dense: seen > 3000 };
}

/** One stroke for all that look alike: thousands of strokes would take longer than a frame. */
function drawLegs(context: CanvasRenderingContext2D, all: Sequence, look: View, { arrows, dense }: Density) {
  const colours = palette();
  const alike = new Map<string, { readonly leg: Leg; readonly path: Path2D; readonly heads: Path2D; ends: [number, number] }>();
  for (const leg of all.legs) {
    if (leg.to < look.from || leg.from > look.until) continue;
    const [ax, ay, bx, by] = [look.x(leg.fromColumn), look.y(leg.from), look.x(leg.toColumn), look.y(leg.to)];
    // In a dense drawing lines of one link that would lie on each other are drawn once; they come in order of time.
    const key = dense ? `${leg.kind}\n${leg.retransmission}\n${leg.fromColumn}\n${leg.toColumn}` : `${leg.kind}\n${leg.retransmission}`;
    let group = alike.get(key);
    if (!group) alike.set(key, (group = { leg, path: new Path2D(), heads: new Path2D(), ends: [-Infinity, -Infinity] }));
    else if (dense && Math.abs(ay - group.ends[0]) < 0.75 && Math.abs(by - group.ends[1]) < 0.75) continue;
    group.ends = [ay, by];
    group.path.moveTo(ax, ay);
    group.path.lineTo(bx, by);
    if (arrows) head(group.heads, Math.atan2(by - ay, bx - ax), bx, by);
  }
  for (const { leg, path } of alike.values()) {
    context.strokeStyle = colourOf(all.kinds, leg.kind, colours);
    context.lineWidth = dense ? 0.6 : widthOf(leg.kind);
    context.setLineDash(leg.retransmission ? [5, 3] : []);
    context.stroke(path);
  }
  context.setLineDash([]);
  for (const { leg, heads } of alike.values()) {
    context.fillStyle = colourOf(all.kinds, leg.kind, colours);
    context.fill(heads);
  }
}

/** The head of an arrow that ends at a place. */
function head(path: Path2D, angle: number, x: number, y: number) {
  path.moveTo(x, y);
  path.lineTo(x - 6 * Math.cos(angle - 0.35), y - 6 * Math.sin(angle - 0.35));
  path.lineTo(x - 6 * Math.cos(angle + 0.35), y - 6 * Math.sin(angle + 0.35));
  path.closePath();
}

/** Waits of a column that overlap are one bar. */
function drawWaits(context: CanvasRenderingContext2D, all: Sequence, look: View) {
  const colours = palette();
  context.globalAlpha = 0.55;
  context.fillStyle = colours.heat[2] ?? colours.alarm;
  const open = new Map<number, [number, number]>();
  const bar = (column: number, [from, until]: readonly [number, number]) => {
    const [top, bottom] = [look.y(from), look.y(until)];
    context.fillRect(look.x(column) - 2, top, 4, bottom - top);
  };
  for (const wait of all.waits) {
    if (wait.to < look.from || wait.from > look.until) continue;
    const last = open.get(wait.column);
    if (last && wait.from <= last[1]) last[1] = Math.max(last[1], wait.to);
    else {
      if (last) bar(wait.column, last);
      open.set(wait.column, [wait.from, wait.to]);
    }
  }
  open.forEach((last, column) => bar(column, last));
  context.globalAlpha = 1;
}

/** Signs of one kind in a column that would lie on each other are drawn once. */
function drawPoints(context: CanvasRenderingContext2D, { all, hidden }: Subject, look: View) {
  const colours = palette();
  context.textAlign = "center";
  const last = new Map<string, number>();
  for (const alarms of [false, true]) {
    context.font = alarms ? "bold 15px system-ui, sans-serif" : "10px system-ui, sans-serif";
    context.fillStyle = alarms ? colours.alarm : colours.ink;
    for (const point of all.points) {
      const [sign, alarm] = SIGNS[point.what] ?? ["·", false];
      if (alarm !== alarms || point.at < look.from || point.at > look.until || hidden.has(point.what)) continue;
      const [key, y] = [`${point.what}\n${point.column}`, look.y(point.at)];
      if (y - (last.get(key) ?? -Infinity) < 1) continue;
      last.set(key, y);
      context.fillText(sign, look.x(point.column), y + 4);
    }
  }
}

/** All that moves with time. `span`: of the axis in sight. */
function moving(context: CanvasRenderingContext2D, subject: Subject, look: View, span: number, how: Density) {
  rulers(context, subject, look, span);
  drawWaits(context, subject.all, look);
  drawLegs(context, subject.all, look, how);
  drawPoints(context, subject, look);
}

/** A picture of the window and of what is before and after it. */
interface Strip {
  readonly canvas: OffscreenCanvas;
  readonly subject: Subject;
  readonly colours: Palette;
  readonly width: number;
  readonly from: number;
  readonly span: number;
}

/** Draws; where the window only moves, from a picture of more than is in sight. */
export class Drawing {
  private strip: Strip | undefined;
  private last: { readonly subject: Subject; readonly window: Window; readonly width: number } | undefined;

  draw(canvas: HTMLCanvasElement, subject: Subject, window: Window, width: number): void {
    const ratio = pixelRatio();
    const context = cleared(canvas, width, HEIGHT, ratio);
    if (!context) return;
    const look = view(subject.all, subject.axis, window, width);
    const span = window.until - window.from;
    const { last } = this;
    this.last = { subject, window, width };
    columns(context, subject.all, look);
    const moved = last && last.subject === subject && last.width === width && last.window.from !== window.from
      && Math.abs(last.window.until - last.window.from - span) < span * 1e-9;
    if (moved) return this.shifted(context, subject, window, width, ratio);
    this.strip = undefined;
    context.save();
    context.beginPath();
    context.rect(0, TOP - 2, width, HEIGHT - TOP);
    context.clip();
    moving(context, subject, look, span, density(subject.all, look));
    context.restore();
  }

  private shifted(context: CanvasRenderingContext2D, subject: Subject, window: Window, width: number, ratio: number): void {
    const span = window.until - window.from;
    const inside = (strip: Strip) => strip.subject === subject && strip.colours === palette() && strip.width === width
      && window.from >= strip.from && window.until <= strip.from + (1 + 2 * BESIDE) * strip.span * (1 + 1e-9);
    const strip = this.strip && inside(this.strip) ? this.strip : this.made(subject, window, width, ratio);
    if (!strip) return;
    this.strip = strip;
    const y = Math.round(((window.from - strip.from) / span) * TALL * ratio);
    context.drawImage(strip.canvas, 0, y, Math.round(width * ratio), Math.round(TALL * ratio), 0, TOP, width, TALL);
  }

  private made(subject: Subject, window: Window, width: number, ratio: number): Strip | undefined {
    const span = window.until - window.from;
    const whole = { from: window.from - BESIDE * span, until: window.until + BESIDE * span };
    const tall = TALL * (1 + 2 * BESIDE);
    const canvas = new OffscreenCanvas(Math.round(width * ratio), Math.round(tall * ratio));
    const context = canvas.getContext("2d") as unknown as CanvasRenderingContext2D | null;
    if (!context) return undefined;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const how = density(subject.all, view(subject.all, subject.axis, window, width));
    moving(context, subject, view(subject.all, subject.axis, whole, width, 0, tall), span, how);
    return { canvas, subject, colours: palette(), width, from: whole.from, span };
  }
}
