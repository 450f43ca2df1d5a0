/** Values that arrive later. */
import { useEffect, useState } from "preact/hooks";

/** What has arrived, or what went wrong. */
export interface Loaded<T> {
  readonly value?: T;
  readonly problem?: Error;
}

/** What `work` gives, asked again when one of `on` changes. */
export function useLoaded<T>(work: () => Promise<T>, on: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { readonly on?: readonly unknown[] }>({});
  useEffect(() => {
    let wanted = true;
    work().then(
      (value) => wanted && setState({ value, on }),
      (error: unknown) => wanted && setState({ problem: error instanceof Error ? error : new Error(String(error)), on }),
    );
    return () => { wanted = false; };
  }, on);
  // What belongs to what was asked before is not shown.
  return state.on && state.on.every((one, at) => one === on[at]) ? state : {};
}
