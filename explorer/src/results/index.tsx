/** Opens results folders: their fabric over time, flows, ports, one flow, one queue. */
import { useEffect } from "preact/hooks";
import type { Warning } from "incast-web";
import { coded } from "../parts/coded";
import { Warnings, type Shown } from "../parts/warnings";
import { address, amend, route } from "../route";
import { FabricPage } from "./fabric";
import { FlowPage } from "./flow";
import { FlowsPage } from "./flows";
import { ofServer, SERVED } from "./folder";
import { Open, ChooseFolder, Reading, show } from "./open";
import { PortsPage } from "./ports";
import { QueuePage } from "./queue";
import { choices, folders, refused, sides, type Side } from "./store";
import "./results.css";

const VIEWS = [
  { view: "results/fabric", title: "Fabric", page: FabricPage },
  { view: "results/flows", title: "Flows", page: FlowsPage },
  { view: "results/flow", title: "One flow", page: FlowPage },
  { view: "results/ports", title: "Ports", page: PortsPage },
  { view: "results/queue", title: "One queue", page: QueuePage },
] as const;

let asked = false;

/** The section. */
export function Results() {
  useEffect(() => {
    if (!SERVED || asked) return;
    asked = true;
    ofServer().then(
      (chosen) => show(chosen, false),
      (error: Error) => { refused.value = { name: "", message: error.message }; },
    );
  }, []);
  if (!folders.value.length || route.value.view === "results/open") return <Open />;
  const here = VIEWS.find(({ view }) => view === route.value.view) ?? VIEWS[0];
  return (
    <>
      <Head />
      <nav class="views" aria-label="Views of the results">
        {VIEWS.map(({ view, title }) => (
          <a class="tab" href={address(view, Object.fromEntries(route.value.params))} aria-current={view === here.view ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <here.page />
    </>
  );
}

/** The warnings of the shown runs: one of each kind, with the runs that have it. */
function grouped(all: readonly Side[]): Shown[] {
  const kinds = new Map<string, { of: string[]; warning: Warning; more: { of: string; text: string }[] }>();
  for (const { title, data } of all) {
    for (const warning of data.info.warnings) {
      const kind = warning.name || warning.text;
      const known = kinds.get(kind);
      if (!known) kinds.set(kind, { of: [title], warning, more: [] });
      else if (known.warning.text === warning.text) known.of.push(title);
      else known.more.push({ of: title, text: warning.text });
    }
  }
  return [...kinds.values()].map(({ of, warning, more }) => ({ of: of.length < all.length ? of.join(", ") : "", warning, more }));
}

function Head() {
  const all = choices.value;
  const [a, b] = sides.value;
  const notes = folders.value.flatMap(({ info, left }) => [...info.value.notes, ...left]);
  const warnings = grouped(sides.value);
  const pick = (side: "a" | "b") => (event: Event) => amend({ [side]: (event.currentTarget as HTMLSelectElement).value });
  return (
    <>
      <div class="head">
        <h2>{[...new Set(folders.value.map(({ info, chosen }) => info.value.title || chosen.name))].join(" and ")}</h2>
        <div class="row grow">
          <label class="row small">Run
            <select value={a?.key ?? ""} onChange={pick("a")}>
              {all.map(({ key, title }) => <option value={key}>{title}</option>)}
            </select>
          </label>
          {all.length > 1 && (
            <label class="row small">beside
              <select value={b?.key ?? "none"} onChange={pick("b")}>
                <option value="none">none</option>
                {all.filter(({ key }) => key !== a?.key).map(({ key, title }) => <option value={key}>{title}</option>)}
              </select>
            </label>
          )}
          <details class="small">
            <summary>Other folders</summary>
            <div class="drop">
              <p><ChooseFolder beside={false} title="Open another folder" /></p>
              <p><ChooseFolder beside={true} title="Open a folder beside this one" /></p>
            </div>
          </details>
        </div>
      </div>
      <Reading />
      {notes.map((note) => <div class="notice" role="status">{coded(note)}</div>)}
      <Warnings all={warnings} />
    </>
  );
}
