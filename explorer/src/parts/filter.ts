/** The text by which a table is filtered: `slowdown>10 size<100KB src=3 dctcp`. */
import type { Texts } from "incast-web";

/** A column that a filter can name. */
export type Field =
  | { readonly kind: "number"; readonly values: ArrayLike<number>; readonly unit?: "bytes" | "ps" | "ns" }
  | { readonly kind: "text"; readonly values: Texts };

export type Test = (row: number) => boolean;

const BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 1024, mib: 1 << 20 };
const SECONDS: Readonly<Record<string, number>> = { ps: 1, ns: 1e3, us: 1e6, "µs": 1e6, ms: 1e9, s: 1e12 };

function value(text: string, unit: "bytes" | "ps" | "ns" | undefined): number {
  const [, digits = "", suffix = ""] = /^([-+0-9.e]+)\s*([a-zµ]*)$/i.exec(text) ?? [];
  const plain = Number(digits);
  if (!digits || Number.isNaN(plain)) return NaN;
  if (!suffix) return plain;
  const scale = unit === "bytes" ? BYTES[suffix.toLowerCase()] : unit ? SECONDS[suffix.toLowerCase()] : undefined;
  return scale === undefined ? NaN : (plain * scale) / (unit === "ns" ? 1e3 : 1);
}

const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};

function codes(texts: Texts, word: string, same: boolean): Set<number> {
  const low = word.toLowerCase();
  return new Set(texts.names.flatMap((name, code) => {
    const own = name.toLowerCase();
    return (same ? own === low : own.includes(low)) ? [code] : [];
  }));
}

function comparison(word: string, fields: Readonly<Record<string, Field>>): Test | string | undefined {
  const [, name = "", sign = "", right = ""] = /^([a-z_]+)(<=|>=|!=|=|<|>)(.+)$/i.exec(word) ?? [];
  if (!sign) return undefined;
  const field = fields[name];
  if (!field) return `no column ${name}: expected one of ${Object.keys(fields).join(", ")}`;
  if (field.kind === "text") {
    if (sign !== "=" && sign !== "!=") return `${name} is text: expected = or !=`;
    const found = codes(field.values, right, true);
    return (row) => found.has(field.values.codes[row] ?? -1) === (sign === "=");
  }
  const limit = value(right, field.unit);
  const example = field.unit === "bytes" ? "64KB" : field.unit ? "100us" : "10";
  if (Number.isNaN(limit)) return `${name}${sign}${right}: expected a number such as ${example}`;
  const holds = COMPARE[sign] ?? (() => false);
  return (row) => holds(field.values[row] ?? NaN, limit);
}

/** The test that a text asks for, none if it asks for nothing, or what is wrong with the text. Words without a sign are looked for in texts. */
export function filter(text: string, fields: Readonly<Record<string, Field>>): Test | string | undefined {
  const tests: Test[] = [];
  for (const word of text.trim().split(/\s+/).filter(Boolean)) {
    const compared = comparison(word, fields);
    if (typeof compared === "string") return compared;
    if (compared) {
      tests.push(compared);
      continue;
    }
    const texts = Object.values(fields).filter((field) => field.kind === "text");
    const found = texts.map((field) => [field.values.codes, codes(field.values, word, false)] as const);
    tests.push((row) => found.some(([own, sought]) => sought.has(own[row] ?? -1)));
  }
  return tests.length ? (row) => tests.every((test) => test(row)) : undefined;
}
