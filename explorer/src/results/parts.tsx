/** Small parts of the views of results. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { count, number, time } from "../parts/format";
import { useLoaded } from "../parts/loaded";
import { address, amend, route } from "../route";
import type { Flows, RunData } from "./data";
import { sides } from "./store";

/** Which of the two shown runs a table is of. */
export function SideChoice() {
  const [a, b] = sides.value;
  if (!b) return null;
  const second = route.value.params.get("side") === "b";
  return (
    <div class="row small" role="group" aria-label="Run of the table">
      <button type="button" aria-pressed={!second} onClick={() => amend({ side: undefined })}>{a?.title}</button>
      <button type="button" aria-pressed={second} onClick={() => amend({ side: "b" })}>{b.title}</button>
    </div>
  );
}

/** The slowest flow of a run; -1 if none completed. */
export function useWorst(data: RunData | undefined): { readonly flows: Flows | undefined; readonly worst: number } {
  const { value: flows } = useLoaded(async () => data?.flows(), [data]);
  const worst = useMemo(() => {
    const slowdown = flows?.numbers.slowdown ?? [];
    let found = -1;
    slowdown.forEach((own, row) => { if (own > (slowdown[found] ?? 0)) found = row; });
    return found;
  }, [flows]);
  return { flows, worst };
}

/** The slowest flow of a run, with the way to why. */
export function Slowest({ data }: { readonly data: RunData }) {
  const { flows, worst } = useWorst(data);
  if (!flows || worst < 0) return <p class="small quiet">{flows ? "No flow completed." : "…"}</p>;
  const { fct_ps, slowdown } = flows.numbers;
  return (
    <p class="small">
      Slowest of {count(flows.rows)} flows: {time(fct_ps[worst])}, {number(slowdown[worst])} times as long as
      alone. <a href={address("results/flow", { ...Object.fromEntries(route.value.params), flow: worst, why: 1 })}>Why was flow {worst} slow?</a>
    </p>
  );
}

/** How far a repetition of a run is. */
export interface Progress {
  readonly now: number;
  readonly completed: number;
  readonly flows: number;
}

/** Shows it, with a button that stops it. */
export function Repeating({ progress, onStop }: { readonly progress: Progress | undefined; readonly onStop: () => void }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return null;
  return (
    <p class="row" role="status">
      <progress max={progress?.flows ?? 1} value={progress?.completed ?? 0} aria-label="Flows completed" />
      <span>Running the scenario again{progress ? `: ${time(progress.now)}, ${progress.completed} of ${progress.flows} flows` : ""}</span>
      <button type="button" onClick={onStop}>Stop</button>
    </p>
  );
}
