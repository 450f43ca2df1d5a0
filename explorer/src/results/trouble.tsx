/** What cannot be shown, and what the reader can do. */
import { useState } from "preact/hooks";
import { coded } from "../parts/coded";
import type { RunData } from "./data";
import { Refused } from "./store";

/** Why a run cannot be repeated; where only an input file is missing, a place to give it. */
export function NotRepeatable({ data }: { data: RunData }) {
  const { info: { not_repeatable: why }, folder } = data;
  if (!why) return null;
  const missing = folder.info.value.inputs.some(({ given }) => !given);
  return missing ? <Trouble problem={new Refused("missing-file", why)} data={data} /> : <p>{coded(why)}</p>;
}

/** The problem; where an input file is missing, a place to give it. */
export function Trouble({ problem, data, again }: { problem: Error; data?: RunData | undefined; again?: () => void }) {
  const [wrong, setWrong] = useState("");
  const missing = problem instanceof Refused && /missing-file|changed-file/.test(problem.kind);
  const needed = missing ? (data?.folder.info.value.inputs.filter(({ given }) => !given) ?? []) : [];
  const give = (name: string) => async (event: Event) => {
    const file = (event.currentTarget as HTMLInputElement).files?.[0];
    if (!file || !data) return;
    try {
      await data.folder.addInput(name, new Uint8Array(await file.arrayBuffer()));
      setWrong("");
      again?.();
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  return (
    <div class="notice" role="alert">
      <p>{coded(problem.message)}</p>
      {needed.map(({ name, role }) => (
        <p><label>{name} ({role}): <input type="file" onChange={give(name)} /></label></p>
      ))}
      {wrong && <p><strong>{wrong}</strong></p>}
    </div>
  );
}
