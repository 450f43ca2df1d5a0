/** Asking why a flow was slow: the server if there is one, else the engine in the page. */
import type { Columns, Told } from "./session";
import { TRACE_COLUMNS } from "./session-columns";
import { fetched } from "./folder";
import type { RunData } from "./data";
import type { Progress } from "./parts";

/** What `incast explore` answers. */
interface Answered {
  readonly text: string;
  readonly explanation: Told["explanation"];
  readonly cut: boolean;
  readonly trace: Readonly<Record<string, readonly (number | string | null)[]>>;
}

function columns(trace: Answered["trace"]): Columns {
  const numbers = Object.fromEntries(TRACE_COLUMNS.numbers.map((name) =>
    [name, Float64Array.from(trace[name] ?? [], (value) => (typeof value === "number" ? value : NaN))]));
  const texts = Object.fromEntries(TRACE_COLUMNS.texts.map((name) => {
    const codes = new Map<string, number>();
    const coded = Uint32Array.from(trace[name] ?? [], (value) => {
      const text = String(value ?? "");
      const code = codes.get(text) ?? codes.size;
      codes.set(text, code);
      return code;
    });
    return [name, { names: [...codes.keys()], codes: coded }];
  }));
  return { rows: trace["time_ps"]?.length ?? 0, numbers, texts };
}

/** Repeats the run with a trace of the flow. */
export async function explain(data: RunData, flow: number, heard: (progress: Progress) => void): Promise<Told> {
  const { served } = data.folder.chosen;
  if (served !== undefined) {
    const query = new URLSearchParams({ folder: String(served), run: data.info.label, flow: String(flow) });
    const answer = (await (await fetched(`explain?${query}`)).json()) as Answered;
    return { ...answer, trace: columns(answer.trace) };
  }
  return data.folder.repeat<Told>(
    (now, completed, flows) => heard({ now, completed, flows }),
    (session, told) => session.explain(data.run, flow, told) as Promise<{ ok: Told }>);
}

/** The command that explains a flow of a run without the page. */
export function command(data: RunData, flow: number): string {
  const several = data.folder.info.value.runs.length > 1;
  return `incast explain ${data.folder.chosen.name}${several ? ` --transport ${data.info.label}` : ""} --flow ${flow}`;
}
