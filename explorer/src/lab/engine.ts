/** The laboratory's worker, started once and again after a fault of the engine. */
import { signal } from "@preact/signals";
import { wrap, type Remote } from "comlink";
import type { Declarations } from "incast-web";
import { engineModule } from "../engine";
import type { Answer, Bench, Trouble } from "./bench";
import BenchWorker from "./worker?worker&inline";

/** What the engine refused, with the key of the scenario that it is about. */
export class Refused extends Error {
  constructor(readonly trouble: Trouble) {
    super(trouble.message);
  }
}

/** What an answer holds; throws what went wrong. */
export async function told<T>(answer: Promise<Answer<T>>): Promise<T> {
  const got = await answer;
  if ("trouble" in got) throw new Refused(got.trouble);
  return got.ok;
}

/** What the program declares, once the engine runs. */
export const declared = signal<Declarations | undefined>(undefined);
/** Why there is no engine. */
export const broken = signal("");

interface Started {
  readonly worker: Worker;
  readonly bench: Remote<Bench>;
}

let started: Promise<Started> | undefined;

async function start(): Promise<Started> {
  const module = await engineModule();
  const worker = new BenchWorker();
  const bench = wrap<Bench>(worker);
  declared.value = await told(bench.start(module) as Promise<Answer<Declarations>>);
  return { worker, bench };
}

/** The worker; starts it when it is first asked for. */
export async function engine(): Promise<Started> {
  started ??= start();
  try {
    return await started;
  } catch (error) {
    broken.value = error instanceof Error ? error.message : String(error);
    throw error;
  }
}

/** Ends the worker, whatever it does. The next call starts another. */
export function restart(): void {
  void started?.then(({ worker }) => worker.terminate(), () => undefined);
  started = undefined;
}
