/** When links are down, as the scenario says. */
import { parse as parseToml } from "smol-toml";
import type { FabricShape } from "../fabric/shape";

/** A link that fails `times` times: down for `length` ps from `at`, then again every `every` ps. */
export interface Outage {
  /** Both directions. */
  readonly ports: readonly number[];
  readonly at: number;
  readonly length: number;
  readonly every: number;
  readonly times: number;
}

const UNITS: Readonly<Record<string, number>> = { ps: 1, ns: 1e3, us: 1e6, µs: 1e6, ms: 1e9, s: 1e12 };

function ps(value: unknown): number | undefined {
  const [, number, unit = ""] = /^\s*([\d.]+)\s*(ps|ns|us|µs|ms|s)\s*$/.exec(String(value ?? "")) ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit] ?? NaN);
}

/** The outages of a scenario that the engine has accepted. */
export function outages(toml: string, shape: FabricShape): Outage[] {
  const fabric = parseToml(toml)["fabric"] as { failures?: Record<string, unknown>[] } | undefined;
  const name = (node: number) => shape.nodes[node]?.name;
  return (fabric?.failures ?? []).map((one) => {
    const length = ps(one["repair_after"]) ?? Infinity;
    const ports = shape.ports.flatMap(({ from, to }, port) => {
      const ends = [name(from), name(to)];
      return ends.includes(one["a"] as string) && ends.includes(one["b"] as string) ? [port] : [];
    });
    return { ports, at: ps(one["at"]) ?? NaN, length, every: length + (ps(one["up_for"]) ?? 0), times: Number(one["times"] ?? 1) };
  });
}

/** The ports whose links are down at a time. */
export function down(all: readonly Outage[], time: number): number[] {
  return all.flatMap(({ ports, at, length, every, times }) => {
    if (!(time >= at)) return [];
    const round = times > 1 ? Math.min(Math.floor((time - at) / every), times - 1) : 0;
    return time < at + (round ? round * every : 0) + length ? ports : [];
  });
}
