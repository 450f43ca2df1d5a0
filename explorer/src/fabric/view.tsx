/** A fabric drawn by tiers on a canvas; each link is two lines, one per direction. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { cleared } from "../parts/canvas";
import { heat, palette, theme, type Palette } from "../theme";
import { layout, type FabricShape, type Layout } from "./shape";
import "./view.css";

export interface FabricViewProps {
  readonly shape: FabricShape;
  /** Per port, 0 (idle) to 1 (full); NaN where it is unknown. Read at every drawing. */
  readonly values: Float32Array;
  /** Changes whenever `values` has changed in place. */
  readonly tick?: number;
  /** The value of a port in words, with its unit. */
  readonly describe: (port: number) => string;
  /** Ports drawn strongly, such as the path of a flow. */
  readonly marked?: ReadonlySet<number> | undefined;
  /** The port that is chosen. */
  readonly chosen?: number | undefined;
  /** Told when a port is chosen by click or Enter. */
  readonly onPort?: ((port: number) => void) | undefined;
  /** What the drawing shows, for those who do not see it. */
  readonly label: string;
  /** Height in pixels; by default from the number of tiers. */
  readonly height?: number;
  /** Draws on top, such as packets on their way. */
  readonly over?: ((context: CanvasRenderingContext2D, place: Placed) => void) | undefined;
}

/** Where things are drawn, in CSS pixels. */
export interface Placed {
  /** Of a node. */
  node(index: number): [number, number];
  /** On a port's line: `share` 0 at the sending node, 1 at the other end. */
  along(port: number, share: number): [number, number];
  readonly palette: Palette;
}

const MARGIN = 24;
/** Room for the name of the highest tier. */
const TOP = 36;

function placed(shape: FabricShape, where: Layout, width: number, height: number): Placed {
  const node = (index: number): [number, number] => [
    MARGIN + (where.x[index] ?? 0) * (width - 2 * MARGIN),
    TOP + (where.y[index] ?? 0) * (height - TOP - MARGIN),
  ];
  // The two directions lie side by side, each on its right.
  const gap = where.widest > 128 ? 0.6 : where.widest > 48 ? 1.2 : 2;
  const along = (port: number, share: number): [number, number] => {
    const { from, to } = shape.ports[port] ?? { from: 0, to: 0 };
    const [ax, ay] = node(from);
    const [bx, by] = node(to);
    const length = Math.hypot(bx - ax, by - ay) || 1;
    const sx = (-(by - ay) / length) * gap;
    const sy = ((bx - ax) / length) * gap;
    return [ax + (bx - ax) * share + sx, ay + (by - ay) * share + sy];
  };
  return { node, along, palette: palette() };
}

/** The port whose line is nearest to a point, within a few pixels. */
function nearest(shape: FabricShape, place: Placed, x: number, y: number): number | undefined {
  let best: number | undefined;
  let least = 8;
  for (let port = 0; port < shape.ports.length; port++) {
    const [ax, ay] = place.along(port, 0);
    const [bx, by] = place.along(port, 1);
    const [dx, dy] = [bx - ax, by - ay];
    const share = Math.min(Math.max(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1), 0), 1);
    const distance = Math.hypot(ax + dx * share - x, ay + dy * share - y);
    if (distance < least) [least, best] = [distance, port];
  }
  return best;
}

/** Steps of colour and width, so that thousands of links are drawn in a few strokes. */
const LEVELS = 24;
/** Links of one step that are drawn as single lines, however wide. */
const FEW = 4;

/** Both ends of every port's line: four numbers per port. */
function ends(shape: FabricShape, place: Placed): Float32Array {
  const all = new Float32Array(shape.ports.length * 4);
  shape.ports.forEach((_, port) => {
    all.set(place.along(port, 0), port * 4);
    all.set(place.along(port, 1), port * 4 + 2);
  });
  return all;
}

/** Draws idle links first, so that the busy ones lie on top. */
function drawPorts(context: CanvasRenderingContext2D, props: FabricViewProps, place: Placed, lines: Float32Array, thick: number) {
  const { shape, values, marked, chosen } = props;
  const colours = place.palette;
  const level = (port: number) => {
    const value = values[port] ?? NaN;
    return Number.isNaN(value) ? -1 : Math.round(Math.min(Math.max(value, 0), 1) * LEVELS);
  };
  const trace = (port: number, aside: number) => {
    const at = port * 4;
    const [ax, ay, bx, by] = [lines[at] ?? 0, lines[at + 1] ?? 0, lines[at + 2] ?? 0, lines[at + 3] ?? 0];
    const share = aside / (Math.hypot(bx - ax, by - ay) || 1);
    const [dx, dy] = [(by - ay) * share, (ax - bx) * share];
    context.moveTo(ax + dx, ay + dy);
    context.lineTo(bx + dx, by + dy);
  };
  const stroke = (ports: readonly number[], colour: string, width: number) => {
    // Without a GPU a line of up to one pixel takes a quarter of the time of a wider one: hundreds are drawn as such, side by side.
    const strands = ports.length > FEW ? Math.ceil(width) : 1;
    context.strokeStyle = colour;
    context.lineWidth = width / strands;
    context.beginPath();
    for (let strand = 0; strand < strands; strand++) {
      const aside = ((strand + 0.5) / strands - 0.5) * width;
      for (const port of ports) trace(port, aside);
    }
    context.stroke();
  };
  const strong = [...(marked ?? [])];
  stroke(strong, colours.accent, thick * 2 + 3);
  if (chosen !== undefined) stroke([chosen], colours.accent, thick * 2 + 6);
  const levels: number[][] = Array.from({ length: LEVELS + 2 }, () => []);
  for (let port = 0; port < shape.ports.length; port++) levels[level(port) + 1]?.push(port);
  levels.forEach((ports, step) => {
    if (!ports.length) return;
    const share = (step - 1) / LEVELS;
    stroke(ports, step === 0 ? colours.grid : heat(colours.heat, share), thick * (1 + 1.6 * Math.max(share, 0)));
  });
}

const NAMES: Readonly<Record<string, string>> = { host: "hosts", edge: "edge", aggregation: "aggregation", core: "core" };

/** The outlines of all hosts, and of all switches. */
function outlines(shape: FabricShape, where: Layout, place: Placed, width: number): [Path2D, Path2D] {
  const [hosts, switches] = [new Path2D(), new Path2D()];
  const room = (width - 2 * MARGIN) / where.widest;
  const host = Math.min(Math.max(room * 0.32, 1.2), 6);
  shape.nodes.forEach((node, index) => {
    const [x, y] = place.node(index);
    if (node.tier !== "host") return switches.roundRect(x - 6, y - 5, 12, 10, 2);
    hosts.moveTo(x + host, y);
    hosts.arc(x, y, host, 0, 2 * Math.PI);
  });
  return [hosts, switches];
}

/** The names of the tiers, under everything else. */
function drawTiers(context: CanvasRenderingContext2D, shape: FabricShape, place: Placed) {
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.fillStyle = place.palette.quiet;
  const seen = new Set<string>();
  shape.nodes.forEach((node, index) => {
    if (seen.has(node.tier)) return;
    seen.add(node.tier);
    context.fillText(NAMES[node.tier] ?? node.tier, 0, place.node(index)[1] - (node.tier === "host" ? 16 : 28));
  });
}

/** Room between two names. */
const APART = 8;

/** The names of a tier's nodes as short as they must be: whole, their numbers, or those of every second, fifth, ... node. */
function names(context: CanvasRenderingContext2D, all: readonly string[], room: number): string[] {
  const widest = (texts: readonly string[]) => Math.max(...texts.map((text) => context.measureText(text).width)) + APART;
  if (widest(all) <= room) return [...all];
  const short = all.map((name) => /\d+$/.exec(name)?.[0] ?? name);
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((each) => widest(short) <= each * room) ?? all.length;
  return short.map((name, at) => (at % step === 0 ? name : ""));
}

/** The names of nodes: of hosts under them, of switches above. */
function drawNames(context: CanvasRenderingContext2D, shape: FabricShape, where: Layout, place: Placed, width: number) {
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3;
  context.strokeStyle = place.palette.paper;
  context.fillStyle = place.palette.quiet;
  for (const tier of where.tiers) {
    const own = shape.nodes.flatMap((node, index) => (node.tier === tier ? [index] : []));
    own.sort((a, b) => place.node(a)[0] - place.node(b)[0]);
    const texts = names(context, own.map((index) => shape.nodes[index]?.name ?? ""), (width - 2 * MARGIN) / own.length);
    own.forEach((index, at) => {
      const text = texts[at];
      if (!text) return;
      const [x, y] = place.node(index);
      const above = tier === "host" ? 14 : -13;
      context.strokeText(text, x, y + above);
      context.fillText(text, x, y + above);
    });
  }
  context.textAlign = "start";
}

/** The fabric. Arrow keys go from port to port, Enter chooses. */
export function FabricView(props: FabricViewProps) {
  const { shape, values, tick, describe, marked, chosen, onPort, label, over } = props;
  const where = useMemo(() => layout(shape), [shape]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(600);
  const [point, setPoint] = useState<number | undefined>();
  const height = props.height ?? (where.tiers.length > 3 ? 330 : where.tiers.length > 2 ? 260 : 200);
  const place = useMemo(() => placed(shape, where, width, height), [shape, where, width, height, theme.value]);

  const lines = useMemo(() => ends(shape, place), [shape, place]);
  const nodes = useMemo(() => outlines(shape, where, place, width), [shape, where, place, width]);

  useEffect(() => {
    const element = canvas.current?.parentElement;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setWidth(Math.max(element.clientWidth, 120)));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);

  // Before the frame is shown: an effect after it would draw in every other frame only.
  useLayoutEffect(() => {
    const context = cleared(canvas.current, width, height);
    if (!context) return;
    const thick = where.widest > 128 ? 0.7 : where.widest > 48 ? 1.1 : 1.8;
    drawTiers(context, shape, place);
    drawPorts(context, { ...props, chosen: point ?? chosen }, place, lines, thick);
    nodes.forEach((outline, at) => {
      context.fillStyle = at ? place.palette.ink : place.palette.quiet;
      context.fill(outline);
    });
    drawNames(context, shape, where, place, width);
    over?.(context, place);
  }, [place, values, tick, marked, chosen, point, over, width, height]);

  const at = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return nearest(shape, place, event.clientX - box.left, event.clientY - box.top);
  };
  const step = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const move = moves[event.key];
    const now = point ?? chosen ?? -1;
    if (move !== undefined) {
      const count = shape.ports.length;
      setPoint((((now < 0 && move < 0 ? 0 : now) + move) % count + count) % count);
    } else if (event.key === "Enter" && now >= 0) onPort?.(now);
    else if (event.key === "Escape") setPoint(undefined);
    else return;
    event.preventDefault();
  };
  const shown = point ?? chosen;
  return (
    <div class="fabric">
      <canvas
        ref={canvas}
        style={{ height: `${height}px` }}
        role="application"
        aria-roledescription="fabric"
        aria-label={`${label}. ${shape.nodes.length} nodes, ${shape.ports.length} ports. Arrow keys go from port to port, Enter chooses.`}
        tabIndex={0}
        onPointerMove={(event) => setPoint(at(event))}
        onPointerLeave={() => setPoint(undefined)}
        onBlur={() => setPoint(undefined)}
        onClick={(event) => {
          const port = at(event);
          if (port !== undefined) onPort?.(port);
        }}
        onKeyDown={step}
      />
      <output class="fabric-value small figures" aria-live="polite">
        {shown === undefined ? "Point at a link for its value." : describe(shown)}
      </output>
    </div>
  );
}

/** The colours with their meaning at both ends. */
export function HeatLegend({ low, high }: { readonly low: string; readonly high: string }) {
  const stops = palette().heat.join(", ");
  return (
    <span class="legend small quiet">
      {low}
      <span class="ramp" style={{ background: `linear-gradient(90deg, ${stops})` }} aria-hidden="true" />
      {high}
    </span>
  );
}
