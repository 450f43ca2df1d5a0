/** Choosing results folders. */
import { useState } from "preact/hooks";
import { coded } from "../parts/coded";
import { address, go, route } from "../route";
import { ofDrop, ofInput, type Chosen } from "./folder";
import { folders, openFolders, reading, refused } from "./store";

/** Opens what was chosen and shows it, where the address said if it named a view. */
export async function show(chosen: readonly Chosen[], beside: boolean): Promise<void> {
  if (!chosen.length) return;
  const opened = await openFolders(chosen, beside);
  if (!opened) return;
  const view = route.value.view;
  if (!view.startsWith("results/")) go("results/fabric");
}

/** A button that lets the reader choose a folder. */
export function ChooseFolder({ beside, title }: { readonly beside: boolean; readonly title: string }) {
  return (
    <label class="button" tabIndex={-1}>
      {title}
      <input
        type="file" class="hidden" multiple {...{ webkitdirectory: true }} data-beside={String(beside)}
        onChange={(event) => {
          const input = event.currentTarget;
          const chosen = input.files ? ofInput(input.files) : [];
          void show(chosen, beside).then(() => { input.value = ""; });
        }}
      />
    </label>
  );
}

/** What went wrong with a folder, or what is being read. */
export function Reading() {
  const problem = refused.value;
  return (
    <>
      {reading.value && <p role="status">Reading {reading.value}…</p>}
      {problem && (
        <div class="notice" role="alert">
          <p><strong>{problem.name || "The folder"} cannot be opened.</strong></p>
          <p>{coded(problem.message)}</p>
        </div>
      )}
    </>
  );
}

/** The first view: a place to drop folders on. */
export function Open() {
  const [over, setOver] = useState(false);
  const waiting = route.value.view.startsWith("results/");
  return (
    <>
      <h2>Open results</h2>
      {waiting && !folders.value.length && !reading.value && (
        <p>This address shows a view of results. Choose their folder, and the view comes back.</p>
      )}
      <Reading />
      <div
        class={`drop${over ? " over" : ""}`}
        onDragOver={(event) => { event.preventDefault(); setOver(true); }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          if (!event.dataTransfer) return;
          ofDrop(event.dataTransfer).then((chosen) => show(chosen, false)).catch((error: Error) => {
            refused.value = { name: "What was dropped", message: `${error.message}; or choose the folder with the button` };
          });
        }}
      >
        <p><ChooseFolder beside={false} title="Choose a results folder" /></p>
        <p class="quiet">
          or drop it here: what <code>incast run</code> and <code>incast compare</code> write, such
          as <code>results/0001-demo</code>. Drop two folders to see them side by side.
        </p>
      </div>
      <p>
        No results yet? The <a href={address("lab")}>laboratory</a> runs the simulator in this page, with eleven scenes to begin with, such
        as <a href={address("lab/scene/01-incast")}>why a flow of 64 KB took 10 ms</a>.
      </p>
      <p class="quiet small">
        Files are read in this page and sent nowhere. <code>incast explore results/0001-demo</code> opens
        the page with the folder, and explains flows of runs that are too large for a browser.
      </p>
    </>
  );
}
