/** A form for scenarios, made from what the engine declares. */
import type { Declarations, Key, TransportInfo } from "incast-web";
import { at, draft, put, wrong, type Table } from "./draft";
import { Lists } from "./entries";
import { Field, KeyField, name, plain } from "./field";
import { HOSTS_MOST } from "./size";

/** Keys that are shown first; the others are behind "More". */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  "[fabric]": ["topology", "rate", "propagation", "buffer", "oversubscription", "loss"],
  "[run]": ["title", "seed", "until", "interval"],
};
/** What has no meaning in a page. */
const ABSENT = new Set(["fabric.file", "run.threads", "run.world", "transport.names", "transport.paths"]);

function Section({ all, section, title }: { readonly all: Declarations; readonly section: string; readonly title: string }) {
  const own = (one: Key) => one.section === section || (section === "[run]" && one.path === "title");
  const keys = all.keys.filter((one) => own(one) && plain(one) && !ABSENT.has(one.path));
  const wanted = FIRST[section] ?? keys.map(name);
  const first = wanted.flatMap((own) => keys.filter((one) => name(one) === own));
  const rest = keys.filter((one) => !first.includes(one));
  const transports = { choices: all.transports.map((one) => one.name) };
  const fields = (list: readonly Key[]) => list.map((one) =>
    <KeyField one={one} path={one.path.split(".")} key={one.path} {...(one.path === "transport.marking" ? transports : {})} />);
  return (
    <fieldset>
      <legend>{title}</legend>
      {section === "[fabric]" && <p class="small quiet">Topologies: {all.topologies.map(({ form }) => form).join(", ")}; at most {HOSTS_MOST} hosts here.</p>}
      <div class="fields">{fields(first)}</div>
      {section === "[transport]" && <Routings all={all} />}
      {section === "[fabric]" && <Pfc all={all} />}
      {section === "[fabric]" && <Lists all={all} section={section} />}
      {rest.length > 0 && (
        <details>
          <summary>More of {title.toLowerCase()} ({rest.length})</summary>
          <div class="fields">{fields(rest)}</div>
        </details>
      )}
    </fieldset>
  );
}

/** The transports of the runs: those that are chosen, and those that some flows are assigned to. */
function inUse(): unknown[] {
  const chosen = (at(draft.value, ["transport", "names"]) as string[] | undefined) ?? [];
  const assigned = (at(draft.value, ["transport", "assign"]) as Table[] | undefined) ?? [];
  return [...new Set([...chosen, ...assigned.map((one) => one["name"])])];
}

/** Load balancing of single transports. */
function Routings({ all }: { readonly all: Declarations }) {
  const [each, whole] = ["transport.routings", "transport.routing"].map((path) => all.keys.find((one) => one.path === path));
  const names = inUse().map(String);
  if (!each || !whole || !names.length) return null;
  const set = at(draft.value, ["transport", "routing"]);
  return (
    <div class="part" role="group" aria-label="Routing of single transports">
      <p class="small quiet">{each.meaning}</p>
      <div class="fields">
        {names.map((own) => (
          <Field
            key={own} path={["transport", "routings", own]} label={`routings.${own}`} type="choice" choices={whole.choices}
            standard={String(set ?? all.transports.find((one) => one.name === own)?.routing ?? "")} help=""
          />
        ))}
      </div>
    </div>
  );
}

/** Pauses and the shared buffer are sections of their own, there or not. */
function Pfc({ all }: { readonly all: Declarations }) {
  const sections = all.keys.filter(({ section, type }) => section === "[fabric]" && type === "section");
  return sections.map((one) => {
    const path = one.path.split(".");
    const on = at(draft.value, path) !== undefined;
    const keys = all.keys.filter(({ section }) => section === `[${one.path}]`).filter(plain);
    const standard = keys.some(({ default: own }) => own.required) ? { pool: "2MB" } : {};
    return (
      <div class="part">
        <label class="row">
          <input type="checkbox" checked={on} onChange={() => put(path, on ? undefined : standard)} />
          {name(one)} <span class="small quiet">{one.meaning}</span>
        </label>
        {on && <div class="fields">{keys.map((key) => <KeyField one={key} path={key.path.split(".")} key={key.path} />)}</div>}
      </div>
    );
  });
}

/** The choice of transports, and the parameters of those that are chosen. */
function Transports({ all }: { readonly all: Declarations }) {
  const chosen = (at(draft.value, ["transport", "names"]) as string[] | undefined) ?? [];
  const toggle = (own: string) =>
    put(["transport", "names"], chosen.includes(own) ? chosen.filter((one) => one !== own) : [...chosen, own]);
  const problem = wrong.value?.key.startsWith("transport.names") ? wrong.value.message : "";
  const parametrised = all.transports.filter((one) => inUse().includes(one.name) || at(draft.value, ["transport", "parameters", one.name]));
  return (
    <fieldset>
      <legend>Transports</legend>
      <p class="small quiet">Each has its own run, side by side on one clock; arrivals are identical.</p>
      <div class="choices">
        {all.transports.map((one) => (
          <label class="row" title={`${one.title}. ${one.kind}; switches: ${one.switch_support}`}>
            <input type="checkbox" checked={chosen.includes(one.name)} onChange={() => toggle(one.name)} />{one.name}
          </label>
        ))}
      </div>
      {problem && <p class="small"><strong role="alert">{problem}</strong></p>}
      <Lists all={all} section="[transport]" />
      {parametrised.map((one) => <Parameters one={one} key={one.name} />)}
    </fieldset>
  );
}

function Parameters({ one }: { readonly one: TransportInfo }) {
  const prefix = `transport.parameters.${one.name}.`;
  const set = Object.keys((at(draft.value, ["transport", "parameters", one.name]) as Table | undefined) ?? {}).length;
  return (
    <details open={wrong.value?.key.startsWith(prefix) || undefined}>
      <summary>Parameters of {one.name}{set ? ` (${set} changed)` : ""}</summary>
      <div class="fields">
        {one.parameters.map((own) => (
          <Field
            key={own.name} path={["transport", "parameters", one.name, own.name]} label={own.name} type="parameter" choices={[]}
            standard={own.default} help={`${own.doc} Accepted: ${own.accepts}. Source: ${own.source}.`}
          />
        ))}
      </div>
    </details>
  );
}

function Traffic({ all }: { readonly all: Declarations }) {
  const entries = (at(draft.value, ["traffic"]) as Table[] | undefined) ?? [];
  const kinds = all.traffic.filter(({ kind }) => kind !== "file");
  const replace = (next: readonly Table[]) => put(["traffic"], next);
  const start = (kind: string): Table =>
    Object.fromEntries([["kind", kind], ...all.keys
      .filter((one) => one.kind === kind && one.default.required)
      .map((one) => [name(one), BEGIN[name(one)] ?? (one.type === "hosts" ? "0-1" : one.type === "bytes" ? "64KB" : one.type === "text" ? "web_search" : 0)])]);
  return (
    <fieldset>
      <legend>Traffic</legend>
      {entries.map((entry, place) => {
        const kind = String(entry["kind"] ?? "");
        const keys = all.keys.filter((one) => one.kind === kind);
        return (
          <div class="entry" key={place}>
            <div class="row">
              <label class="row">Kind
                <select value={kind} onChange={(event) => replace(entries.map((one, at) => (at === place ? start(event.currentTarget.value) : one)))}>
                  {kinds.map((one) => <option value={one.kind}>{one.kind}</option>)}
                </select>
              </label>
              <span class="small quiet grow">{all.traffic.find((one) => one.kind === kind)?.meaning}</span>
              {entries.length > 1 && (
                <button type="button" onClick={() => replace(entries.filter((_, at) => at !== place))} aria-label={`Remove traffic ${place}`}>Remove</button>
              )}
            </div>
            <div class="fields">{keys.map((one) => <KeyField one={one} path={["traffic", place, name(one)]} key={one.path} />)}</div>
          </div>
        );
      })}
      <button type="button" onClick={() => replace([...entries, start("long")])}>Add traffic</button>
    </fieldset>
  );
}

/** Values to begin with where a key has no default. */
const BEGIN: Readonly<Record<string, unknown>> = { from: "0", to: "1", to_second: "1", receiver: 0, load: 0.5, flows: 200, size: "64KB" };

/** The whole form. */
export function Form({ all }: { readonly all: Declarations }) {
  return (
    <div class="form">
      <Transports all={all} />
      <Section all={all} section="[fabric]" title="Fabric" />
      <Traffic all={all} />
      <Section all={all} section="[transport]" title="Sharing and routing" />
      <Section all={all} section="[run]" title="Run" />
    </div>
  );
}
