/** Areas on top of each other, such as the bytes of a queue by flow. */
import { scaleLinear } from "d3-scale";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { palette, theme } from "../theme";
import { cleared } from "./canvas";
import "./stack.css";

export interface StackProps {
  /** First the times, in µs, then one list per area, from the bottom up. */
  readonly data: readonly ArrayLike<number>[];
  readonly names: readonly string[];
  readonly unit: string;
  readonly label: string;
  readonly height?: number;
}

const LEFT = 58;
const BOTTOM = 34;

/** Areas with a colour of their own; the last area beyond them is grey. */
export const SHADES = 6;

function shade(at: number): string {
  const { series, quiet } = palette();
  return at < SHADES ? (series[at] ?? quiet) : quiet;
}

function draw(context: CanvasRenderingContext2D, { data, unit }: StackProps, width: number, height: number) {
  const colours = palette();
  const [times = [], ...areas] = data;
  const count = times.length;
  const base = new Float64Array(count);
  let most = 0;
  for (let at = 0; at < count; at++) most = Math.max(most, areas.reduce((sum, area) => sum + (area[at] ?? 0), 0));
  const x = scaleLinear().domain([times[0] ?? 0, times[count - 1] || 1]).range([LEFT, width - 8]);
  const y = scaleLinear().domain([0, most || 1]).nice().range([height - BOTTOM, 8]);
  context.font = "11px system-ui, sans-serif";
  for (const tick of y.ticks(4)) {
    context.strokeStyle = colours.grid;
    context.beginPath();
    context.moveTo(LEFT, y(tick));
    context.lineTo(width - 8, y(tick));
    context.stroke();
    context.fillStyle = colours.quiet;
    context.textAlign = "right";
    context.fillText(tick.toLocaleString("en"), LEFT - 5, y(tick) + 4);
  }
  context.textAlign = "center";
  for (const tick of x.ticks(Math.max(width / 110, 2))) context.fillText(tick.toLocaleString("en"), x(tick), height - BOTTOM + 14);
  context.fillStyle = colours.ink;
  context.fillText("µs", (LEFT + width) / 2, height - 4);
  context.save();
  context.translate(11, height / 2 - 10);
  context.rotate(-Math.PI / 2);
  context.fillText(unit, 0, 0);
  context.restore();
  areas.forEach((area, index) => {
    context.fillStyle = shade(index);
    context.strokeStyle = colours.paper;
    context.lineWidth = 0.7;
    context.beginPath();
    for (let at = 0; at < count; at++) context.lineTo(x(times[at] ?? 0), y((base[at] ?? 0) + (area[at] ?? 0)));
    for (let at = count - 1; at >= 0; at--) context.lineTo(x(times[at] ?? 0), y(base[at] ?? 0));
    context.closePath();
    context.fill();
    context.stroke();
    for (let at = 0; at < count; at++) base[at] = (base[at] ?? 0) + (area[at] ?? 0);
  });
}

/** The chart with its names. */
export function Stack(props: StackProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(500);
  const height = props.height ?? 190;
  useEffect(() => {
    const element = canvas.current?.parentElement;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setWidth(Math.max(element.clientWidth, 160)));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    const context = cleared(canvas.current, width, height);
    if (context) draw(context, props, width, height);
  }, [props.data, width, height, theme.value]);
  return (
    <div class="stacked">
      <canvas ref={canvas} style={{ height: `${height}px` }} role="img" aria-label={props.label} />
      <div class="row small">
        {props.names.map((name, at) => <span><i style={{ background: shade(at) }} />{name}</span>)}
      </div>
    </div>
  );
}
