/** The guided scenes, as they lie in `explorer/scenes`. */
import { parse } from "smol-toml";

/** The scene's scenario with some keys changed. */
export interface SceneCase {
  readonly name: string;
  readonly set?: readonly string[];
}

export interface Scene {
  /** Its folder: `01-incast`. */
  readonly name: string;
  readonly scenario: string;
  readonly title: string;
  readonly summary: string;
  /** The question that the picture answers, before it plays. */
  readonly ask: string;
  readonly text: string;
  readonly watch: readonly string[];
  readonly question: string;
  readonly answer: string;
  readonly view: {
    readonly port: string;
    readonly ports?: readonly string[];
    readonly flows?: readonly number[];
    readonly transport: string;
    /** Simulated time that a second of play shows. */
    readonly speed: string;
  };
  readonly cases: readonly SceneCase[];
  readonly tries: readonly SceneCase[];
}

interface Written extends Omit<Scene, "name" | "scenario" | "cases" | "tries"> {
  readonly case?: readonly SceneCase[];
  readonly try?: readonly SceneCase[];
  readonly fact: readonly { readonly name: string; readonly says: string }[];
}

const TEXTS = import.meta.glob<string>("../../scenes/*/scene.toml", { query: "?raw", import: "default", eager: true });
const SCENARIOS = import.meta.glob<string>("../../scenes/*/scenario.toml", { query: "?raw", import: "default", eager: true });

function scene(path: string, text: string): Scene {
  const { case: cases, try: tries, fact, ...written } = parse(text) as unknown as Written;
  const says = new Map(fact.map((one) => [one.name, one.says]));
  const told = (line: string) => line.trim().replace(/\{(\w+)\}/g, (_, name: string) => readable(says.get(name) ?? name));
  return {
    ...written,
    name: path.split("/").at(-2) ?? path,
    scenario: SCENARIOS[path.replace(/scene\.toml$/, "scenario.toml")] ?? "",
    title: told(written.title),
    summary: told(written.summary),
    ask: told(written.ask),
    text: told(written.text),
    watch: written.watch.map(told),
    question: told(written.question),
    answer: told(written.answer),
    cases: cases ?? [{ name: "" }],
    tries: tries ?? [],
  };
}

/** Scenario values as people write them: `64KB` is 64 KB, `10Gbps` is 10 Gb/s. */
function readable(text: string): string {
  const spaced = text.replace(/^(\d[\d.]*)([A-Za-z]+)$/, "$1 $2").replace(/ (\w)bps$/, " $1b/s").replace(/ us$/, " µs");
  return spaced.replace(" ", "\u00a0");
}

/** All of them, in order. */
export const SCENES: readonly Scene[] = Object.entries(TEXTS)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([path, text]) => scene(path, text));

/** A time such as `60us`, in picoseconds. */
export function picoseconds(text: string): number {
  const [, digits = "1", unit = "us"] = /^([\d.]+)(ns|us|ms|s)$/.exec(text) ?? [];
  return Number(digits) * { ns: 1e3, us: 1e6, ms: 1e9, s: 1e12 }[unit as "us"];
}
