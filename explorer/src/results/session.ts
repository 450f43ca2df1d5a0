/** What the worker of a results folder does; the page calls it through comlink. */
import { transfer } from "comlink";
import {
  initSync, Results,
  type Explanation, type Fabric, type Fault, type Filling, type Folder, type ResultsInfo, type TableInfo, type Texts,
} from "incast-web";
import { TRACE_COLUMNS, type Wanted } from "./session-columns";

/** What went wrong, as it can be posted. */
export interface Problem {
  readonly kind: string;
  readonly message: string;
}

/** An answer, or what went wrong: an error would lose its kind on the way. */
export type Answer<T> = { readonly ok: T } | { readonly problem: Problem };

/** Columns of a table by name. */
export interface Columns {
  readonly rows: number;
  readonly numbers: Readonly<Record<string, Float64Array>>;
  readonly texts: Readonly<Record<string, Texts>>;
}

/** An explanation with the events of its flow. */
export interface Told {
  readonly text: string;
  readonly explanation: Explanation;
  readonly trace: Columns;
  readonly cut: boolean;
}

/** Told how far a repetition is: simulated ps, flows completed, flows. */
export type Heard = (now: number, completed: number, flows: number) => void;

let results: Results | undefined;

function open(): Results {
  if (!results) throw new Error("no folder is open");
  return results;
}

function answer<T>(work: () => T): Answer<T> {
  try {
    return { ok: work() };
  } catch (error) {
    const fault = error as Partial<Fault>;
    return { problem: { kind: fault.kind ?? fault.name ?? "error", message: fault.message ?? String(error) } };
  }
}

/** What a table's columns are in memory. */
function buffers({ numbers, texts }: Columns): ArrayBuffer[] {
  const all = [...Object.values(numbers), ...Object.values(texts).map((text) => text.codes)];
  return all.map((array) => array.buffer as ArrayBuffer);
}

function read(run: number, table: string, wanted: Wanted): Columns {
  const numbers = Object.fromEntries(wanted.numbers.map((name) => [name, open().numbers(run, table, name)]));
  const texts = Object.fromEntries(wanted.texts.map((name) => [name, open().texts(run, table, name)]));
  return { rows: open().rows(run, table), numbers, texts };
}

/** The rows of a trace that are of one flow; `undefined` if all are. */
function rowsOf(flows: Float64Array, flow: number): Uint32Array | undefined {
  const rows = new Uint32Array(flows.length);
  let found = 0;
  for (let row = 0; row < flows.length; row++) if (flows[row] === flow) rows[found++] = row;
  return found === flows.length ? undefined : rows.subarray(0, found);
}

/** What `rows` lists of `all`, in a new array of its kind. */
function taken<T extends Float64Array | Uint32Array>(all: T, rows: Uint32Array | undefined, into: T): T {
  if (!rows) return all;
  for (let at = 0; at < rows.length; at++) into[at] = all[rows[at] as number] as number;
  return into;
}

/** The events of one flow in a trace. */
function ofFlow(run: number, flow: number): Columns {
  const flows = open().numbers(run, "trace", "flow_id");
  const rows = rowsOf(flows, flow);
  const length = (rows ?? flows).length;
  const numbers = Object.fromEntries(TRACE_COLUMNS.numbers.map((name) =>
    [name, taken(open().numbers(run, "trace", name), rows, new Float64Array(rows ? length : 0))]));
  const texts = Object.fromEntries(TRACE_COLUMNS.texts.map((name) => {
    const { names, codes } = open().texts(run, "trace", name);
    return [name, { names, codes: taken(codes, rows, new Uint32Array(rows ? length : 0)) }];
  }));
  return { rows: length, numbers, texts };
}

const session = {
  /** Starts the engine and opens a folder. */
  start(module: WebAssembly.Module, files: Folder): Answer<ResultsInfo> {
    return answer(() => {
      initSync({ module });
      results = new Results(files);
      return JSON.parse(results.info()) as ResultsInfo;
    });
  },
  tables(run: number): Answer<TableInfo[]> {
    return answer(() => JSON.parse(open().tables(run)) as TableInfo[]);
  },
  scenario(): Answer<string> {
    return answer(() => open().scenario());
  },
  fabric(run: number): Answer<Fabric> {
    return answer(() => JSON.parse(open().fabric(run)) as Fabric);
  },
  columns(run: number, table: string, wanted: Wanted): Answer<Columns> {
    const all = answer(() => read(run, table, wanted));
    if ("ok" in all) transfer(all, buffers(all.ok));
    return all;
  },
  path(run: number, flow: number): Answer<Uint32Array> {
    return answer(() => open().path(run, flow));
  },
  trace(run: number, flow: number): Answer<Columns> {
    const all = answer(() => ofFlow(run, flow));
    if ("ok" in all) transfer(all, buffers(all.ok));
    return all;
  },
  addInput(name: string, bytes: Uint8Array): Answer<ResultsInfo> {
    return answer(() => {
      open().addInput(name, bytes);
      return JSON.parse(open().info()) as ResultsInfo;
    });
  },
  /** Repeats a run and explains a flow. */
  explain(run: number, flow: number, heard: Heard): Answer<Told> {
    const all = answer(() => {
      const told = open().explain(run, Uint32Array.of(flow), (now, done, flows) => heard(now, done, flows));
      const numbers = Object.fromEntries(TRACE_COLUMNS.numbers.map((name) => [name, told.numbers(name)]));
      const texts = Object.fromEntries(TRACE_COLUMNS.texts.map((name) => [name, told.texts(name)]));
      const [explanation] = JSON.parse(told.json()) as Explanation[];
      if (!explanation) throw new Error("the engine explained no flow");
      const own = { text: told.text(), explanation, trace: { rows: told.rows(), numbers, texts }, cut: told.cut() };
      told.free();
      return own;
    });
    if ("ok" in all) transfer(all, buffers(all.ok.trace));
    return all;
  },
  /** Repeats a run and tells who filled a queue. */
  filling(run: number, port: number, from: number, until: number, heard: Heard): Answer<Filling> {
    return answer(() =>
      JSON.parse(open().filling(run, port, from, until, (now, done, flows) => heard(now, done, flows))) as Filling);
  },
};

export type Session = typeof session;
export { session };
