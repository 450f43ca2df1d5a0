/** Warnings: what is said, what it means, and what to do. */
import type { Warning } from "incast-web";
import { coded } from "./coded";

/** Where the pages of the documentation are: only the docs site says so. */
const docs = document.querySelector<HTMLMetaElement>('meta[name="incast-docs"]')?.content;

/** The name, which leads to its section of the docs where the page is part of their site. */
function Name({ name }: { readonly name: string }) {
  if (docs === undefined) return <code>{name}</code>;
  return <a href={`${docs}warnings.html#${name}`} target="_top"><code>{name}</code></a>;
}

/** A warning, with the runs that have it if there are several. */
export interface Shown {
  readonly of: string;
  readonly warning: Warning;
  /** The same kind in other runs, with other numbers. */
  readonly more?: readonly { readonly of: string; readonly text: string }[];
}

/** Kinds that say what a run is, and ask for nothing. */
const NOTES = new Set(["flow_level", "against_packets"]);

/** One below the other, each with what it means when it is opened. */
export function Warnings({ all }: { readonly all: readonly Shown[] }) {
  if (!all.length) return null;
  const notes = all.filter(({ warning }) => NOTES.has(warning.name));
  return (
    <div class="warnings small">
      {all.filter((one) => !notes.includes(one)).map(({ of, warning: { name, text, means, remedy }, more = [] }) => (
        <details>
          <summary>{of && <strong>{of}: </strong>}{coded(text)}</summary>
          {more.map((other) => <p><strong>{other.of}: </strong>{coded(other.text)}</p>)}
          {means && <p class="quiet">{coded(means)}</p>}
          {remedy && <p><strong>What to do:</strong> {coded(remedy)}</p>}
          {name && <p><Name name={name} /></p>}
        </details>
      ))}
      {notes.map(({ of, warning, more = [] }) => [{ of, text: warning.text }, ...more].map((one) => (
        <p class="quiet">{one.of && `${one.of}: `}{coded(one.text)}</p>
      )))}
    </div>
  );
}
