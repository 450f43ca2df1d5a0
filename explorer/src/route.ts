/** Where the reader is: the address after `#`, such as `#/results/flow?flow=7&t=120us`. */
import { computed, signal } from "@preact/signals";

/** A view and what it shows. */
export interface Route {
  /** The view's path, without the slash at its head: `results/flows`. */
  readonly view: string;
  /** What the view shows. */
  readonly params: ReadonlyMap<string, string>;
}

function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { view: path, params: new Map(new URLSearchParams(query)) };
}

/** The address now. */
export const route = signal<Route>(parse(location.hash));

/** The first part of the view: `results`, `lab`. */
export const section = computed(() => route.value.view.split("/")[0] || "results");

window.addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});

/** The address of a view. `undefined` and empty values are left out. */
export function address(view: string, params: Readonly<Record<string, string | number | undefined>> = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== undefined && value !== "") query.set(key, String(value));
  }
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

/** Goes to a view, as a link would. */
export function go(view: string, params: Readonly<Record<string, string | number | undefined>> = {}): void {
  location.hash = address(view, params);
}

/** Changes what the view shows, without a new entry in the history. */
export function amend(params: Readonly<Record<string, string | number | undefined>>): void {
  const all = { ...Object.fromEntries(route.peek().params), ...params };
  const next = address(route.peek().view, all);
  if (next === location.hash) return;
  history.replaceState(null, "", next);
  route.value = parse(next);
}
