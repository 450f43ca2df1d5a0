import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const ENGINE = here("pkg/incast_web_bg.wasm");
const ENGINE_MODULE = "virtual:engine";

/** The engine's bytes as compressed base64, so that the page needs no second file. */
function engine(): Plugin {
  return {
    name: "incast-engine",
    resolveId: (id) => (id === ENGINE_MODULE ? `\0${ENGINE_MODULE}` : undefined),
    load(id) {
      if (id !== `\0${ENGINE_MODULE}`) return undefined;
      if (!existsSync(ENGINE)) this.error(`${ENGINE} is missing: run \`make explorer\``);
      const packed = gzipSync(readFileSync(ENGINE), { level: 9 }).toString("base64");
      return `export default ${JSON.stringify(packed)};`;
    },
    // The bindings name their file for those who do not bring the bytes; here they are always brought.
    transform(code, id) {
      if (!id.endsWith("incast_web.js")) return undefined;
      return code.replace(/new URL\(['"][^'"]*_bg\.wasm['"],\s*import\.meta\.url\)/g, "undefined");
    },
  };
}

/** The page may ask only the server that it came from, and load nothing. */
function policy(): Plugin {
  const rules = [
    "default-src 'none'",
    "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:",
    "worker-src blob:",
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
  ];
  return {
    name: "incast-policy",
    apply: "build",
    transformIndexHtml: () => [
      {
        tag: "meta",
        attrs: { "http-equiv": "Content-Security-Policy", content: rules.join("; ") },
        injectTo: "head-prepend",
      },
    ],
  };
}

export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [engine(), policy(), viteSingleFile()],
  resolve: { alias: { "incast-web": here("pkg/incast_web.js") } },
  worker: { format: "iife", plugins: () => [engine()] },
  build: { target: "es2022", emptyOutDir: false, chunkSizeWarningLimit: 8192, reportCompressedSize: false },
});
