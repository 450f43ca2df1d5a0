/** Lists of sections in the form: link failures, single links, assigned transports. */
import type { Declarations, Key } from "incast-web";
import { at, draft, put, wrong, type Table } from "./draft";
import { KeyField, name } from "./field";
import { runs } from "./store";

/** What a list is called, one of it, and what an entry begins with. */
interface About {
  readonly title: string;
  readonly one: string;
  readonly begin: (all: Declarations) => Table;
}

/** Both ends of a link between switches, or of the first one, in the fabric that was run last. */
function link(): Table {
  const shape = runs.peek()[0]?.shape;
  const ports = shape?.ports.map(({ from, to }) => [shape.nodes[from], shape.nodes[to]] as const) ?? [];
  const [a, b] = ports.find((nodes) => nodes.every((node) => node?.tier !== "host")) ?? ports[0] ?? [];
  return { a: a?.name ?? "host0", b: b?.name ?? "leaf0" };
}

/** A transport that is not among those chosen. */
function another(all: Declarations): string {
  const chosen = (at(draft.peek(), ["transport", "names"]) as string[] | undefined) ?? [];
  return ["cubic", ...all.transports.map((one) => one.name)].find((one) => !chosen.includes(one)) ?? "cubic";
}

const ABOUT: Readonly<Record<string, About>> = {
  "fabric.failures": { title: "Link failures", one: "link failure", begin: () => ({ at: "50us", ...link() }) },
  "fabric.links": { title: "Single links", one: "single link", begin: () => ({ ...link(), rate: "1Gbps" }) },
  "transport.assign": { title: "Mixed deployment", one: "assigned transport", begin: (all) => ({ name: another(all), hosts: "1" }) },
};

/** Lists of sections that a section declares. */
function listsOf(all: Declarations, section: string): Key[] {
  return all.keys.filter((one) => one.section === section && ABOUT[one.path] && all.keys.some((own) => own.section === `[[${one.path}]]`));
}

function List({ all, list }: { readonly all: Declarations; readonly list: Key }) {
  const path = list.path.split(".");
  const about = ABOUT[list.path] as About;
  const entries = (at(draft.value, path) as Table[] | undefined) ?? [];
  const keys = all.keys.filter(({ section }) => section === `[[${list.path}]]`);
  const nodes = runs.value[0]?.shape.nodes.map((node) => node.name) ?? [];
  const replace = (next: readonly Table[]) => put(path, next.length ? next : undefined);
  return (
    <section class="part" aria-label={about.title}>
      <p class="row">{about.title} {list.meaning !== `${about.title}.` && <span class="small quiet">{list.meaning}</span>}</p>
      {entries.map((_, place) => {
        const title = `${about.one} ${place + 1}`;
        const own = wrong.value?.key === `${list.path}.${place}` ? wrong.value.message : "";
        return (
          <div class="entry" role="group" aria-label={title} key={place}>
            <div class="row">
              <span class="grow small">{title}</span>
              <button type="button" onClick={() => replace(entries.filter((_, one) => one !== place))} aria-label={`Remove ${title}`}>Remove</button>
            </div>
            {own && <p class="small bad"><strong role="alert">{own}</strong></p>}
            <div class="fields">
              {keys.map((one) => (
                <KeyField
                  one={one} path={[...path, place, name(one)]} key={one.path} hints={["a", "b"].includes(name(one)) ? nodes : []}
                  {...(one.path === "transport.assign.name" ? { choices: all.transports.map((own) => own.name) } : {})}
                />
              ))}
            </div>
          </div>
        );
      })}
      <button type="button" onClick={() => replace([...entries, about.begin(all)])}>Add {about.one}</button>
    </section>
  );
}

/** Every list of a section. */
export function Lists({ all, section }: { readonly all: Declarations; readonly section: string }) {
  return <>{listsOf(all, section).map((list) => <List all={all} list={list} key={list.path} />)}</>;
}
