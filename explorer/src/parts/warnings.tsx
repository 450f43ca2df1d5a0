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
}

/** A list of them; `open` shows it from the beginning. */
export function Warnings({ all, open = false }: { readonly all: readonly Shown[]; readonly open?: boolean }) {
  if (!all.length) return null;
  return (
    <details class="small warnings" open={open}>
      <summary>{all.length === 1 ? "1 warning" : `${all.length} warnings`}</summary>
      <ul>
        {all.map(({ of, warning: { name, text, means, remedy } }) => (
          <li>
            {of && <strong>{of}: </strong>}{coded(text)} {name && <>(<Name name={name} />)</>}
            {means && <p class="quiet">{coded(means)}</p>}
            {remedy && <p><strong>What to do:</strong> {coded(remedy)}</p>}
          </li>
        ))}
      </ul>
    </details>
  );
}
