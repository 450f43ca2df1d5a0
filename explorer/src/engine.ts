/** The engine's code: unpacked and compiled once, then given to every worker. */

let compiled: Promise<WebAssembly.Module> | undefined;

/** What to do in a browser that cannot run the engine. */
export const NO_WEBASSEMBLY =
  "This browser has no WebAssembly, which reads results and runs scenarios here. Open the page in a current " +
  "Firefox, Chrome, Edge or Safari (some block WebAssembly in their strictest modes), or use `incast explain` " +
  "and report.html, which need none.";

/** The engine as a module that `postMessage` can carry. */
export function engineModule(): Promise<WebAssembly.Module> {
  compiled ??= compile();
  return compiled;
}

async function compile(): Promise<WebAssembly.Module> {
  if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function") {
    throw new Error(NO_WEBASSEMBLY);
  }
  const { default: packed } = await import("virtual:engine");
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
}
