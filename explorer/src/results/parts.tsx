/** Small parts of the views of results. */
import { useEffect, useState } from "preact/hooks";
import { time } from "../parts/format";
import { amend, route } from "../route";
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
