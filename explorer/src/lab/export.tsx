/** The scenario as TOML: out of the page and into it. */
import { useState } from "preact/hooks";
import { address, route } from "../route";
import { edit, sound } from "./draft";
import { packed, type Entry } from "./setup";
import { COMMAND } from "./size";

function download(text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  link.download = "scenario.toml";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A button that copies, and says so. */
export function Copy({ text, title }: { readonly text: () => string | Promise<string>; readonly title: string }) {
  const [said, say] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await text());
      say("Copied");
    } catch {
      say("Your browser does not let this page copy");
    }
    setTimeout(() => say(""), 2_500);
  };
  return <button type="button" onClick={() => void copy()}><span aria-live="polite">{said || title}</span></button>;
}

/** The address of a setup. */
export async function addressOf(entries: readonly Entry[], port: string): Promise<string> {
  return address("lab/run", { s: await packed({ entries, port }) });
}

/** Export of a scenario, as text, file and command. */
export function Export({ toml }: { readonly toml: string }) {
  return (
    <div class="export">
      <p>On your machine this command gives the same records, to the picosecond: <code>{COMMAND}</code></p>
      <div class="row">
        <button type="button" onClick={() => download(toml)}>Download scenario.toml</button>
        <Copy title="Copy the TOML" text={() => toml} />
        <Copy title="Copy the command" text={() => COMMAND} />
        <Copy title="Copy the address of this page" text={() => location.href.split("#")[0] + (location.hash || address(route.value.view))} />
      </div>
      <pre class="panel" tabIndex={0} aria-label="The scenario as TOML">{toml}</pre>
    </div>
  );
}

/** Takes a scenario from a file or from text. */
export function Import() {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const use = async (toml: string) => {
    try {
      await edit(toml);
      setProblem("");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const read = async (event: Event) => {
    const file = (event.currentTarget as HTMLInputElement).files?.[0];
    if (file) await use(await file.text());
  };
  return (
    <details>
      <summary>Use a scenario that you have</summary>
      <p><label>A file: <input type="file" accept=".toml" onChange={(event) => void read(event)} /></label></p>
      <label for="toml-text">Or its text:</label>
      <textarea id="toml-text" rows={8} value={text} onInput={(event) => setText(event.currentTarget.value)} spellcheck={false} />
      <p><button type="button" disabled={!text.trim()} onClick={() => void use(text)}>Use this text</button></p>
      {problem && <div class="notice" role="alert">{problem}</div>}
    </details>
  );
}

/** The TOML of the form, if it is sound. */
export function DraftExport() {
  const own = sound.value;
  return (
    <details>
      <summary>The scenario as TOML, and the command that runs it</summary>
      {own ? <Export toml={own.toml} /> : <p class="quiet">First fix what is marked in the form.</p>}
    </details>
  );
}
