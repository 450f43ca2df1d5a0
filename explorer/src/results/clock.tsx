/** One clock for everything that is shown. */
import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { time as timeText } from "../parts/format";
import { amend, route } from "../route";
import { folders, sides } from "./store";

/** The time that is shown, picoseconds since the start of the runs. */
export const now = signal(Number(route.peek().params.get("t") ?? 0) || 0);
export const playing = signal(false);
/** The share of the whole that a second of play shows. */
const speed = signal(0.05);

const SPEEDS = [0.0025, 0.01, 0.025, 0.05, 0.1, 0.25] as const;

/** The end of the longest run that is shown. */
export function end(): number {
  return Math.max(1, ...sides.value.map(({ data }) => data.info.simulated_ps));
}

/** The unit of time axes: its name, and its picoseconds. */
export function axisUnit(): { readonly timeUnit: string; readonly ps: number } {
  const length = end();
  if (length >= 2e12) return { timeUnit: "s", ps: 1e12 };
  return length >= 2e9 ? { timeUnit: "ms", ps: 1e9 } : { timeUnit: "µs", ps: 1e6 };
}

/** Goes to a time and writes it into the address. */
export function seek(time: number): void {
  now.value = Math.min(Math.max(Math.round(time), 0), end());
  keep();
}

let waiting: ReturnType<typeof setTimeout> | undefined;

/** Writes the time into the address, at most a few times per second: browsers allow no more. */
function keep(): void {
  waiting ??= setTimeout(() => {
    waiting = undefined;
    if (route.peek().view.startsWith("results/")) amend({ t: now.peek() || undefined });
  }, 250);
}

// Back and forward in the history move the clock too.
effect(() => {
  const text = route.value.params.get("t");
  if (text !== undefined && waiting === undefined && !playing.peek()) now.value = Number(text) || 0;
});

/** Plays: each frame moves the clock by the time that has passed. */
effect(() => {
  if (!playing.value) return undefined;
  let last: number | undefined;
  let frame = requestAnimationFrame(function next(at) {
    const passed = last === undefined ? 0 : at - last;
    last = at;
    const moved = now.peek() + end() * speed.peek() * (passed / 1000);
    now.value = Math.min(moved, end());
    if (moved >= end()) {
      playing.value = false;
      keep();
    } else frame = requestAnimationFrame(next);
  });
  return () => cancelAnimationFrame(frame);
});

function toggle(): void {
  if (!playing.value && now.value >= end()) now.value = 0;
  playing.value = !playing.value;
  if (!playing.value) seek(now.value);
}

/** Slider, play, steps and speed. `step`: the interval of the shown series. */
export function Clock({ step }: { readonly step: number }) {
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      const inField = (event.target as HTMLElement).closest("input, select, textarea, button, [role=application]");
      if (event.key !== " " || inField) return;
      event.preventDefault();
      toggle();
    };
    window.addEventListener("keydown", keys);
    return () => {
      window.removeEventListener("keydown", keys);
      playing.value = false;
    };
  }, []);
  const last = end();
  const by = (steps: number) => {
    playing.value = false;
    seek((Math.floor(now.value / step + 1e-9) + steps) * step);
  };
  return (
    <div class="row clock" role="group" aria-label="Clock">
      <button type="button" class="primary" onClick={toggle} aria-pressed={playing.value} aria-keyshortcuts="Space">
        {playing.value ? "Pause" : "Play"}
      </button>
      <button type="button" onClick={() => by(-1)} aria-label="One interval back">‹</button>
      <button type="button" onClick={() => by(1)} aria-label="One interval forward">›</button>
      <input
        type="range" class="grow" min={0} max={last} step={1} value={now.value} aria-label="Time"
        aria-valuetext={timeText(now.value)}
        onInput={(event) => {
          playing.value = false;
          seek(Number(event.currentTarget.value));
        }}
        onKeyDown={(event) => {
          const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
          if (steps === undefined) return;
          event.preventDefault();
          by(steps);
        }}
      />
      <output class="figures now">{timeText(now.value)} <span class="quiet">of {timeText(last)}</span></output>
      <label class="row small">
        <span class="quiet">1 s shows</span>
        <select value={String(speed.value)} onChange={(event) => { speed.value = Number(event.currentTarget.value); }}>
          {SPEEDS.map((share) => <option value={String(share)}>{timeText(last * share)}</option>)}
        </select>
      </label>
    </div>
  );
}

// Another folder begins at its start, unless the address says otherwise.
effect(() => {
  if (folders.value.length && now.peek() > end()) now.value = 0;
});
