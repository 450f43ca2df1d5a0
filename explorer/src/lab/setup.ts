/** What is run: scenarios, and the address that names them. */
import { parse as parseToml } from "smol-toml";

/** A scenario with a name. All transports of it are run. */
export interface Entry {
  readonly name: string;
  readonly toml: string;
}

/** What the laboratory shows. */
export interface Setup {
  readonly entries: readonly Entry[];
  /** Name of the port whose series are shown. */
  readonly port: string;
}

/** The transports of a scenario, in its order; none if it is no TOML or names none. */
export function transportsOf(toml: string): string[] {
  try {
    const names = (parseToml(toml)["transport"] as { names?: unknown } | undefined)?.names;
    return Array.isArray(names) ? names.filter((name): name is string => typeof name === "string") : [];
  } catch {
    return [];
  }
}

const toBytes = (stream: ReadableStream<Uint8Array>) => new Response(stream as BodyInit).arrayBuffer();

function base64(bytes: Uint8Array): string {
  let text = "";
  bytes.forEach((byte) => { text += String.fromCharCode(byte); });
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** A setup as text for an address. */
export async function packed(setup: Setup): Promise<string> {
  const text = new Blob([JSON.stringify([setup.port, ...setup.entries.flatMap(({ name, toml }) => [name, toml])])]);
  return base64(new Uint8Array(await toBytes(text.stream().pipeThrough(new CompressionStream("deflate-raw")))));
}

/** The setup of an address. Throws if it is none. */
export async function unpacked(text: string): Promise<Setup> {
  try {
    const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const stream = new Blob([Uint8Array.from(raw, (char) => char.charCodeAt(0))]).stream();
    const bytes = await toBytes(stream.pipeThrough(new DecompressionStream("deflate-raw")));
    const [port, ...rest] = JSON.parse(new TextDecoder().decode(bytes)) as string[];
    const entries: Entry[] = [];
    for (let at = 0; at + 1 < rest.length; at += 2) entries.push({ name: rest[at] as string, toml: rest[at + 1] as string });
    if (port === undefined || !entries.length) throw new Error();
    return { port, entries };
  } catch {
    throw new Error("This address holds no scenario: it was cut off or changed on the way. Ask for it again, or for the TOML.");
  }
}

/** Sets `a.0.b=VALUE` (VALUE as TOML) in a scenario's table. */
export function changed(table: Record<string, unknown>, set: string): Record<string, unknown> {
  const at = set.indexOf("=");
  const path = set.slice(0, at).split(".");
  const value = parseToml(`value = ${set.slice(at + 1)}`)["value"];
  const all = structuredClone(table);
  let place: Record<string, unknown> = all;
  for (const step of path.slice(0, -1)) {
    place[step] ??= {};
    place = place[step] as Record<string, unknown>;
  }
  place[path.at(-1) as string] = value;
  return all;
}
