/** Light and dark, and the colours that drawings on a canvas need. */
import { effect, signal } from "@preact/signals";

export type Theme = "light" | "dark";

const KEY = "incast-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function stored(): Theme | undefined {
  try {
    const text = localStorage.getItem(KEY);
    return text === "light" || text === "dark" ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The theme that the page is drawn in. Drawings on a canvas read it, so that they follow it. */
export const theme = signal<Theme>(stored() ?? (system.matches ? "dark" : "light"));

system.addEventListener("change", () => {
  if (!stored()) theme.value = system.matches ? "dark" : "light";
});

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});

/** Changes to the other theme and keeps it. */
export function toggleTheme(): void {
  theme.value = theme.value === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // A page opened as a file may have no storage; the theme then lasts as long as the page.
  }
}

/** Colours of drawings. */
export interface Palette {
  readonly paper: string;
  readonly ink: string;
  readonly quiet: string;
  readonly grid: string;
  readonly accent: string;
  readonly alarm: string;
  /** From idle to full; lightness changes in one direction, so that it survives greyscale. */
  readonly heat: readonly string[];
  /** Told apart with any colour vision (Okabe and Ito), in the order of the program's reports. */
  readonly series: readonly string[];
}

const LIGHT: Palette = {
  paper: "#ffffff",
  ink: "#1a1a1a",
  quiet: "#5a6470",
  grid: "#dfe3e8",
  accent: "#0060a8",
  alarm: "#b3400a",
  heat: ["#d3d9e0", "#f1c27a", "#e5823a", "#bf3a2b", "#6b1044"],
  series: ["#0072b2", "#d55e00", "#009e73", "#a8558a", "#8a6d00", "#3a87b8", "#1a1a1a"],
};

const DARK: Palette = {
  paper: "#14181d",
  ink: "#e8eaed",
  quiet: "#a3adb8",
  grid: "#2c333b",
  accent: "#6db8f2",
  alarm: "#ff9a5c",
  heat: ["#3b444f", "#8a3a6c", "#d5553d", "#f39c3c", "#fde98a"],
  series: ["#4ba3e3", "#f0803c", "#2fc79b", "#dd8fbf", "#e8c12e", "#a5d4f5", "#ffffff"],
};

/** The colours of the theme now. Within a component or an effect, reading it follows the theme. */
export function palette(): Palette {
  return theme.value === "dark" ? DARK : LIGHT;
}

/** Decides the colour of a name, as in the program's reports (`looks` of crates/measure). */
const SEED = 42_093;

/** The number of the colour of each name: a transport has the same everywhere. Where another has it, the next that is free. */
export function looks(names: readonly string[]): number[] {
  const count = LIGHT.series.length;
  const taken: number[] = [];
  for (const name of names) {
    let hash = SEED;
    for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 16_777_619) >>> 0;
    const own = ((hash >>> 16) ^ hash) >>> 0;
    const turn = Math.floor(taken.length / count) * count;
    let look = turn + (own % count);
    for (let by = 1; taken.includes(look); by++) look = turn + ((own + by) % count);
    taken.push(look);
  }
  return taken;
}

function channels(colour: string): [number, number, number] {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** A colour for 0 (idle) to 1 (full) from `stops`. */
export function heat(stops: readonly string[], share: number): string {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const from = channels(stops[low] ?? "#000000");
  const to = channels(stops[low + 1] ?? "#000000");
  const mix = from.map((value, i) => Math.round(value + ((to[i] ?? 0) - value) * (at - low)));
  return `rgb(${mix.join(" ")})`;
}
