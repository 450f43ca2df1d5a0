/** Dense series over time, drawn by uPlot. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./series.css";
import { palette, theme } from "../theme";

export interface SeriesProps {
  /** First the times, then one list per line; all of one length. `null` leaves a gap. */
  readonly data: readonly (ArrayLike<number | null | undefined>)[];
  /** One name per line. */
  readonly names: readonly string[];
  /** The number of each line's colour; by default its place. */
  readonly looks?: readonly number[] | undefined;
  /** What the vertical axis shows, with its unit. */
  readonly unit: string;
  /** The unit of the times; `µs` by default. */
  readonly timeUnit?: string;
  readonly height?: number;
  /** A line through this time. */
  readonly cursor?: number | undefined;
  /** Told the window that the reader has dragged over, in the unit of the times. */
  readonly onWindow?: ((from: number, until: number) => void) | undefined;
  /** Told the time that the reader has clicked. */
  readonly onTime?: ((time: number) => void) | undefined;
  /** Draws steps instead of straight lines between the values. */
  readonly steps?: boolean;
  /** The upper end of the vertical axis, where charts beside each other are compared. */
  readonly top?: number | undefined;
  /** The end of the horizontal axis, where charts share a clock. */
  readonly until?: number | undefined;
  readonly label: string;
}

/** Puts the line of the time now where it belongs; moving an element is cheaper than drawing the chart again. */
function placeCursor(plot: uPlot, line: HTMLElement, time: number | undefined): void {
  const x = time === undefined ? -1 : plot.valToPos(time, "x");
  const seen = x >= 0 && x <= plot.over.clientWidth;
  line.style.visibility = seen ? "visible" : "hidden";
  if (seen) line.style.transform = `translateX(${x}px)`;
}

function options(props: SeriesProps, width: number, placed: (plot: uPlot) => void): uPlot.Options {
  const colours = palette();
  const steps = props.steps ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  const axis = { stroke: colours.quiet, grid: { stroke: colours.grid, width: 1 }, ticks: { stroke: colours.grid, width: 1 } };
  return {
    width,
    height: props.height ?? 180,
    scales: { x: { time: false, ...(props.until ? { range: [0, props.until] as [number, number] } : {}) }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(props.top ?? 0, high ?? 1) * 1.05 || 1] } },
    cursor: { drag: { x: Boolean(props.onWindow), y: false, setScale: false }, points: { size: 5 } },
    legend: { live: true, isolate: true, markers: { width: 3, dash: (_, at) => (at > 1 ? "dashed" : "solid") } },
    axes: [
      { ...axis, label: props.timeUnit ?? "µs", labelSize: 18, size: 34 },
      { ...axis, label: props.unit, labelSize: 18, size: 58 },
    ],
    series: [
      { label: props.timeUnit ?? "µs", value: (_, value) => (value == null ? "" : value.toLocaleString("en", { maximumFractionDigits: 3 })) },
      ...props.names.map((name, at) => ({
        label: name,
        stroke: colours.series[(props.looks?.[at] ?? at) % colours.series.length] ?? colours.ink,
        width: 1.5,
        points: { show: false },
        // Lines beyond the first are told apart without colour too.
        ...(at > 0 ? { dash: [[8, 3], [2, 3], [10, 3, 2, 3]][(at - 1) % 3] ?? [] } : {}),
        ...(steps ? { paths: steps } : {}),
        value: (_: uPlot, value: number | null) => (value == null ? "" : value.toLocaleString("en", { maximumFractionDigits: 2 })),
      })),
    ],
    hooks: {
      draw: [placed],
      setSelect: [
        (plot) => {
          const { left, width: wide } = plot.select;
          if (wide < 2) return;
          props.onWindow?.(plot.posToVal(left, "x"), plot.posToVal(left + wide, "x"));
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}

/** A chart of lines over time. */
export function Series(props: SeriesProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const line = useRef<HTMLElement | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const kind = `${props.names.join("\n")}\n${props.unit}\n${props.timeUnit}\n${props.height}\n${props.steps}\n${props.top}\n${props.until}\n${props.looks?.join()}\n${theme.value}`;

  useEffect(() => {
    const element = holder.current;
    if (!element) return undefined;
    const own: SeriesProps = {
      ...props,
      onWindow: props.onWindow && ((from, until) => latest.current.onWindow?.(from, until)),
    };
    const cursor = document.createElement("div");
    cursor.className = "time-now";
    const made = new uPlot(
      options(own, Math.max(element.clientWidth, 120), (drawn) => placeCursor(drawn, cursor, latest.current.cursor)),
      latest.current.data as uPlot.AlignedData,
      element,
    );
    made.over.append(cursor);
    [plot.current, line.current] = [made, cursor];
    const click = () => {
      const { left } = made.cursor;
      if (left !== undefined && left !== null && left >= 0) latest.current.onTime?.(made.posToVal(left, "x"));
    };
    made.over.addEventListener("click", click);
    const watch = new ResizeObserver(() =>
      made.setSize({ width: Math.max(element.clientWidth, 120), height: props.height ?? 180 }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
      [plot.current, line.current] = [undefined, undefined];
    };
  }, [kind]);

  useEffect(() => plot.current?.setData(props.data as uPlot.AlignedData), [props.data]);
  useLayoutEffect(() => {
    if (plot.current && line.current) placeCursor(plot.current, line.current, props.cursor);
  }, [props.cursor]);
  return <div class="series" ref={holder} role="img" aria-label={props.label} />;
}
