/** The scenario that the form edits, checked by the engine after every change. */
import { effect, signal } from "@preact/signals";
import type { Check } from "incast-web";
import { type Answer } from "./bench";
import { engine, Refused, told } from "./engine";
import { tooLarge } from "./size";

export type Table = Record<string, unknown>;
export type Path = readonly (string | number)[];

/** The scenario as a table. */
export const draft = signal<Table | undefined>(undefined);
/** What is wrong with it: the key and the engine's sentence. */
export const wrong = signal<{ readonly key: string; readonly message: string } | undefined>(undefined);
/** Its TOML and what it would run, if nothing is wrong. */
export const sound = signal<{ readonly toml: string; readonly check: Check & { ok: true } } | undefined>(undefined);

/** The value at a path. */
export function at(table: unknown, path: Path): unknown {
  return path.reduce<unknown>((place, step) => (place as Record<string | number, unknown> | undefined)?.[step], table);
}

/** Tables that are there only for what they hold. */
const TABLES = new Set(["routings"]);

/** Sets a value in the draft; `undefined` removes the key. */
export function put(path: Path, value: unknown): void {
  const all = structuredClone(draft.peek() ?? {});
  let place = all as Record<string | number, unknown>;
  path.slice(0, -1).forEach((step) => {
    place[step] ??= {};
    place = place[step] as Record<string | number, unknown>;
  });
  const last = path.at(-1) as string | number;
  if (value !== undefined) place[last] = value;
  else {
    delete place[last];
    // A table that became empty would be said to differ.
    const [owner, parent] = [at(all, path.slice(0, -2)) as Record<string | number, unknown> | undefined, path.at(-2)];
    if (parent !== undefined && owner && TABLES.has(String(parent)) && !Object.keys(place).length) delete owner[parent];
  }
  draft.value = all;
}

/** Takes a scenario's TOML over into the form. Throws if it is none. */
export async function edit(toml: string): Promise<void> {
  const { bench } = await engine();
  draft.value = await told(bench.table(toml) as Promise<Answer<Table>>);
}

let checking = 0;

async function judge(table: Table): Promise<void> {
  const own = ++checking;
  const { bench } = await engine();
  try {
    const toml = await told(bench.toml(table) as Promise<Answer<string>>);
    const check = await bench.check(toml);
    if (own !== checking) return;
    const large = check.ok && tooLarge(toml, check);
    if (large) [wrong.value, sound.value] = [large, undefined];
    else if (check.ok) [wrong.value, sound.value] = [undefined, { toml, check }];
    else [wrong.value, sound.value] = [{ key: check.fault.key, message: check.fault.message }, undefined];
  } catch (error) {
    if (own !== checking) return;
    const key = error instanceof Refused ? error.trouble.key : "";
    [wrong.value, sound.value] = [{ key, message: error instanceof Error ? error.message : String(error) }, undefined];
  }
}

effect(() => {
  const table = draft.value;
  if (!table) return undefined;
  const timer = setTimeout(() => { judge(table).catch(() => undefined); }, 200);
  return () => clearTimeout(timer);
});

/** All values of a table by their path. */
function flat(value: unknown, path: string, into: Map<string, string>): Map<string, string> {
  if (value && typeof value === "object" && !(Array.isArray(value) && value.every((one) => typeof one !== "object"))) {
    Object.entries(value).forEach(([key, one]) => flat(one, path ? `${path}.${key}` : key, into));
  } else into.set(path, Array.isArray(value) ? value.join(" ") : String(value));
  return into;
}

/** Entries of lists of sections that only `one` has: "failures 50us leaf0 spine0". */
function entries(one: Map<string, string>, other: Map<string, string>, sign: string): string[] {
  const all = new Map<string, string[]>();
  for (const [key, value] of one) {
    const [, entry, list] = /^((?:\w+\.)*?(\w+)\.\d+)\.\w+$/.exec(key) ?? [];
    if (!entry || [...other.keys()].some((own) => own.startsWith(`${entry}.`))) continue;
    all.set(entry, [...(all.get(entry) ?? [`${sign}${list}`]), value]);
    one.delete(key);
  }
  return [...all.values()].map((words) => words.slice(0, 4).join(" "));
}

/** What differs between two scenarios, in a few words: `buffer 512KiB`. */
export function difference(before: Table, after: Table): string {
  const [a, b] = [flat(before, "", new Map()), flat(after, "", new Map())];
  a.delete("title");
  b.delete("title");
  const whole = [...entries(b, a, ""), ...entries(a, b, "without ")];
  const keys = [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key));
  const words = [...whole, ...keys.map((key) => `${key.split(".").at(-1) ?? key} ${b.get(key) ?? "default"}`)];
  return words.length > 2 ? `${words.slice(0, 2).join(", ")}, …` : words.join(", ");
}
