/** The folders that are open, and which of their runs are shown. */
import { computed, signal } from "@preact/signals";
import { proxy, wrap, type Remote } from "comlink";
import type { ResultsInfo } from "incast-web";
import { engineModule } from "../engine";
import { bytes as size } from "../parts/format";
import { route } from "../route";
import { FILE_MOST, load, type Chosen } from "./folder";
import { RunData } from "./data";
import type { Answer, Heard, Problem, Session } from "./session";
import SessionWorker from "./worker?worker&inline";

/** What went wrong, with its kind. */
export class Refused extends Error {
  constructor(readonly kind: string, message: string) {
    super(message);
  }
}

/** What an answer holds; throws what went wrong. */
export async function told<T>(answer: Promise<Answer<T>>): Promise<T> {
  const got = await answer;
  if ("problem" in got) throw new Refused((got.problem as Problem).kind, got.problem.message);
  return got.ok;
}

/** A folder that is open: one worker reads its tables, another repeats its runs when asked. */
export class Opened {
  readonly info = signal<ResultsInfo>(undefined as unknown as ResultsInfo);
  readonly runs: RunData[] = [];
  /** How slow the slowest flows of each run were. */
  readonly tails: number[] = [];
  /** What was left out, in words. */
  readonly left: string[] = [];
  private readonly added: [string, Uint8Array][] = [];
  private repeating: { worker: Worker; session: Promise<Remote<Session>> } | undefined;

  private constructor(readonly chosen: Chosen, readonly reader: Remote<Session>, readonly worker: Worker) {}

  /** Reads a folder. Throws what is wrong with it. */
  static async open(chosen: Chosen): Promise<Opened> {
    const large = chosen.files.filter(({ path, bytes }) => bytes > FILE_MOST && /(flows|ports|fairness|trace)\.parquet$/.test(path));
    const needed = large.find(({ path }) => !/trace\.parquet$/.test(path));
    if (needed) {
      throw new Refused("too-large", `${needed.path}: ${size(needed.bytes)} are too large for a page, which holds ${size(FILE_MOST)} of one file: ` +
        "read it with polars or pandas, or explain its flows with `incast explain`");
    }
    const left = new Set(large);
    const own = { ...chosen, files: chosen.files.filter((file) => !left.has(file)) };
    const notes = large.map(({ path, bytes }) => `${path}: ${size(bytes)} are too large for a page, which holds ${size(FILE_MOST)} of one file. ` +
      "The trace is left out, all else is shown; trace fewer flows or a shorter time (output.trace.flows, from, until), or read it with polars or pandas.");
    const opened = await Opened.read(own);
    opened.left.push(...notes);
    return opened;
  }

  private static async read(chosen: Chosen): Promise<Opened> {
    const files = await load(chosen);
    if (!Object.keys(files).length) {
      throw new Refused("no-manifest", `${chosen.name} holds no results: choose a folder that \`incast run\` or \`incast compare\` wrote, with a manifest.json`);
    }
    const module = await engineModule();
    const worker = new SessionWorker();
    const reader = wrap<Session>(worker);
    try {
      const own = new Opened(chosen, reader, worker);
      own.info.value = await told<ResultsInfo>(reader.start(module, files));
      own.info.value.runs.forEach((_, run) => own.runs.push(new RunData(own, run)));
      own.tails.push(...own.info.value.runs.map(({ folder }) => tail(files[folder ? `${folder}/summary.json` : "summary.json"])));
      return own;
    } catch (error) {
      worker.terminate();
      throw error;
    }
  }

  /** Gives an input file that the manifest names. */
  async addInput(name: string, bytes: Uint8Array): Promise<void> {
    this.info.value = await told<ResultsInfo>(this.reader.addInput(name, bytes));
    this.added.push([name, bytes]);
    this.stop();
  }

  /** The worker that repeats runs. */
  private runner(): Promise<Remote<Session>> {
    if (!this.repeating) {
      const worker = new SessionWorker();
      const session = wrap<Session>(worker);
      const ready = async () => {
        const files = await load(this.chosen, /(ports|fairness|trace)\.parquet$/);
        await told(session.start(await engineModule(), files));
        for (const [name, bytes] of this.added) await told(session.addInput(name, bytes));
        return session;
      };
      // A remote object would be taken for a promise: it answers every name.
      this.repeating = { worker, session: ready().then(() => session) };
    }
    return this.repeating.session;
  }

  /** Repeats a run in the page, and tells how far it is. */
  async repeat<T>(heard: Heard, work: (session: Remote<Session>, heard: Heard) => Promise<Answer<T>>): Promise<T> {
    try {
      return await told(work(await this.runner(), proxy(heard)));
    } catch (error) {
      // After a fault of the engine itself its worker is of no use.
      this.stop();
      throw error;
    }
  }

  /** Ends a repetition. */
  stop(): void {
    this.repeating?.worker.terminate();
    this.repeating = undefined;
  }

  close(): void {
    this.stop();
    this.worker.terminate();
  }
}

/** The 99th percentile of the slowdown in a run's summary; NaN without. */
function tail(summary: Uint8Array | undefined): number {
  try {
    const text = JSON.parse(new TextDecoder().decode(summary)) as { all?: { slowdown?: { p99?: number } } };
    return text.all?.slowdown?.p99 ?? NaN;
  } catch {
    return NaN;
  }
}

/** The two runs of a folder that differ most in the slowdown of their slowest flows, in their order. */
function farthest({ tails }: Opened): readonly [number, number] {
  const known = tails.flatMap((own, run) => (own > 0 ? [run] : [])).sort((a, b) => (tails[a] ?? 0) - (tails[b] ?? 0));
  const [low, high] = [known[0] ?? 0, known.at(-1) ?? 0];
  return low === high ? [0, 1] : [Math.min(low, high), Math.max(low, high)];
}

/** The open folders, two at most. */
export const folders = signal<readonly Opened[]>([]);
/** What is being read, for the reader. */
export const reading = signal("");
/** Why a folder could not be opened. */
export const refused = signal<{ readonly name: string; readonly message: string } | undefined>(undefined);

/** Opens folders beside those that are open, or instead of them. */
export async function openFolders(chosen: readonly Chosen[], beside: boolean): Promise<boolean> {
  refused.value = undefined;
  const opened: Opened[] = [];
  for (const one of chosen) {
    reading.value = one.name;
    try {
      opened.push(await Opened.open(one));
    } catch (error) {
      refused.value = { name: one.name, message: error instanceof Error ? error.message : String(error) };
    }
  }
  reading.value = "";
  if (!opened.length) return false;
  const all = [...(beside ? folders.value.slice(0, 1) : []), ...opened];
  folders.value.filter((old) => !all.includes(old)).forEach((old) => old.close());
  all.slice(2).forEach((more) => more.close());
  folders.value = all.slice(0, 2);
  return true;
}

/** Every run of the open folders, with its name in the address: `0/dctcp`. */
export const choices = computed(() =>
  folders.value.flatMap((folder, at) =>
    folder.info.value.runs.map((info, run) => ({
      key: `${at}/${info.label}`,
      title: folders.value.length > 1 && folder.chosen.name !== info.label ? `${folder.chosen.name}: ${info.label}` : info.label,
      data: folder.runs[run] as RunData,
    }))));

/** One of the runs that are shown. */
export interface Side {
  readonly key: string;
  readonly title: string;
  readonly data: RunData;
}

/** The runs that are shown: one, or two side by side. The address names them; `b=none` shows one. */
export const sides = computed<readonly Side[]>(() => {
  const all = choices.value;
  const named = (name: string) => all.find(({ key }) => key === route.value.params.get(name));
  const [first, other] = folders.value.length === 1 && folders.value[0] ? farthest(folders.value[0]) : [0, 1];
  const a = named("a") ?? all[first];
  if (!a) return [];
  const wanted = route.value.params.get("b");
  const second = folders.value.length > 1 ? all.find(({ key }) => key.startsWith("1/")) : [all[other], all[first]].find((one) => one !== a);
  const b = wanted === "none" ? undefined : (named("b") ?? second);
  return b && b !== a ? [a, b] : [a];
});

/** The side that tables and single flows are of: `side=b`, else the first. */
export const side = computed<Side | undefined>(() =>
  route.value.params.get("side") === "b" ? (sides.value[1] ?? sides.value[0]) : sides.value[0]);
