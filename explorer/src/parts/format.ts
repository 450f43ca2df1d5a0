/** Numbers with units, for people. */

/** Made once: making one takes longer than writing a thousand numbers. By digits behind the point. */
const WRITERS = [0, 1, 2, 3].map((digits) => new Intl.NumberFormat("en", { maximumFractionDigits: digits }));
const write = (value: number, digits: number) => WRITERS[digits]?.format(value) ?? String(value);

function short(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < 0.001) return value.toPrecision(2);
  const digits = size >= 1000 || size === 0 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return write(value, digits);
}

/** A number with four digits at most behind a nonzero one; a dash for what is missing. */
export function number(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? "–" : short(value);
}

/** A count, exact. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? "–" : write(value, 3);
}

/** A time in picoseconds with the unit that suits it. */
export function time(ps: number | null | undefined): string {
  if (ps === null || ps === undefined || Number.isNaN(ps)) return "–";
  const size = Math.abs(ps);
  if (size === 0) return "0";
  if (size >= 1e12) return `${short(ps / 1e12)} s`;
  if (size >= 1e9) return `${short(ps / 1e9)} ms`;
  if (size >= 1e6) return `${short(ps / 1e6)} µs`;
  return size >= 1e3 ? `${short(ps / 1e3)} ns` : `${short(ps)} ps`;
}

/** A volume in bytes with the unit that suits it; 1 KB = 1000 bytes. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e9) return `${short(value / 1e9)} GB`;
  if (size >= 1e6) return `${short(value / 1e6)} MB`;
  return size >= 1e3 ? `${short(value / 1e3)} KB` : `${short(value)} B`;
}

/** A rate in bit/s with the unit that suits it. */
export function rate(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value >= 1e9) return `${short(value / 1e9)} Gb/s`;
  return value >= 1e6 ? `${short(value / 1e6)} Mb/s` : `${short(value / 1e3)} kb/s`;
}

/** A share as a percentage. */
export function percent(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? "–" : `${short(value * 100)} %`;
}
