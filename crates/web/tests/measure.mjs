// Figures of docs/performance.md: node measure.mjs PACKAGE SCENARIO.toml [FOLDER]
// Speed of a run, and of opening a results folder with the columns that a page reads first.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [pkg, scenario, folder] = process.argv.slice(2);
const engine = await import(pathToFileURL(join(pkg, "incast_web.js")).href);
const bytes = readFileSync(join(pkg, "incast_web_bg.wasm"));
// Seconds of CPU, all threads of Node: a busy machine does not move them much.
const seconds = (call) => {
  const begin = process.cpuUsage();
  const value = call();
  const { user, system } = process.cpuUsage(begin);
  return [value, (user + system) / 1e6];
};

console.log(`size ${bytes.length} B, gzipped ${gzipSync(bytes, { level: 9 }).length} B`);
const [module, compiled] = seconds(() => new WebAssembly.Module(bytes));
const [, started] = seconds(() => engine.initSync({ module }));
console.log(`compiled in ${compiled.toFixed(2)} s, started in ${started.toFixed(3)} s`);
if (scenario) {
  const toml = readFileSync(scenario, "utf8");
  for (let i = 0; i < 3; i++) {
    const lab = new engine.Lab(toml);
    const [, run] = seconds(() => { while (!lab.step(Number.MAX_SAFE_INTEGER, 1e6)); });
    console.log(`run ${run.toFixed(2)} s, ${(lab.hops() / run / 1e6).toFixed(2)} million packet-hops per second`);
    lab.free();
  }
}
if (folder) {
  const files = {};
  const add = (place) => {
    for (const name of readdirSync(place)) {
      const path = join(place, name);
      if (statSync(path).isDirectory()) add(path);
      else files[relative(folder, path)] = new Uint8Array(readFileSync(path));
    }
  };
  add(folder);
  const [results, open] = seconds(() => new engine.Results(files));
  console.log(`opened in ${open.toFixed(2)} s`);
  for (const table of JSON.parse(results.tables(0))) {
    const [, read] = seconds(() => {
      for (const column of table.columns) {
        if (column.type === "string") results.texts(0, table.name, column.name);
        else results.numbers(0, table.name, column.name);
      }
    });
    console.log(`${table.name}: ${table.rows} rows, all ${table.columns.length} columns in ${read.toFixed(2)} s`);
  }
  const [, network] = seconds(() => results.fabric(0));
  console.log(`fabric in ${network.toFixed(2)} s`);
}
