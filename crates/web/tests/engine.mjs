// The module under Node, asked by wasm.rs: node engine.mjs PACKAGE < request.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const wasm = new WebAssembly.Module(readFileSync(join(folder, "incast_web_bg.wasm")));
let instances = 0;

/** A new instance of the module. */
async function instance() {
  const url = `${pathToFileURL(join(folder, "incast_web.js")).href}?${instances++}`;
  const bindings = await import(url);
  const exports = bindings.initSync({ module: wasm });
  return { ...bindings, memory: exports.memory };
}

function hash(results) {
  const files = results.files();
  const sum = createHash("sha256");
  for (const name of Object.keys(files).sort()) {
    if (name !== "manifest.json") sum.update(files[name]);
  }
  return sum.digest("hex");
}

/** Runs a scenario in steps, looking at everything in between. */
function ran(engine, toml) {
  const lab = new engine.Lab(toml);
  const flows = lab.flowSize().length;
  const all = Uint32Array.from({ length: flows }, (_, flow) => flow);
  let sent = 0;
  for (let at = 1; !lab.step(at * 7_000_003, 500 + (at % 7) * 311); at++) {
    const now = lab.sentBytes().reduce((sum, one) => sum + one, 0);
    assert.ok(now >= sent, "sent bytes only grow");
    sent = now;
    assert.ok(lab.queueBytes().every((bytes) => bytes >= 0));
    lab.observe(all);
    assert.ok(at < 1e6, "the run ends");
  }
  const delivered = lab.flowDelivered();
  const sizes = lab.flowSize();
  lab.flowCompleted().forEach((at, flow) => {
    if (!Number.isNaN(at)) assert.equal(delivered[flow], sizes[flow]);
  });
  const results = lab.results();
  lab.free();
  return results;
}

async function records(cases) {
  const engine = await instance();
  return cases.map(({ name, toml }) => {
    const results = ran(engine, toml);
    const answer = { name, hash: hash(results), exported: engine.toToml(engine.toTable(toml)) };
    results.free();
    return answer;
  });
}

const SCENARIO = `[fabric]
topology = "leaf-spine:2x2x4"
[transport]
names = ["dctcp", "ren"]
[[traffic]]
kind = "incast"
receiver = 0
senders = 5
size = "200KB"
`;

function fault(kind, text, call) {
  assert.throws(call, (error) => {
    assert.equal(error.name, "Fault", String(error));
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, text);
    return true;
  });
}

function faults(engine) {
  const check = (toml) => JSON.parse(engine.check(toml));
  const wrong = check(SCENARIO.replace("dctcp", "dctpc"));
  assert.equal(wrong.ok, false);
  assert.deepEqual(
    [wrong.fault.key, wrong.fault.line, wrong.fault.suggestion],
    ["transport.names", 4, "dctcp"],
  );
  assert.equal(check(SCENARIO).flows, 5);
  const large = SCENARIO.replace("2x2x4", "8x8x300");
  assert.equal(check(large).fault.kind, "too-large");
  fault("too-large", /at most 1024 hosts; `incast run` runs it/, () => new engine.Lab(large));
  fault("input", /did you mean `ren`\? Expected one of dctcp, ren/, () => new engine.Lab(SCENARIO, "rn"));
  fault("input", /fabric.topolgy/, () => engine.toToml('{"fabric":{"topolgy":"star:4"}}'));
  fault("no-manifest", /no manifest.json. Choose one that `incast run`/, () =>
    new engine.Results({ "a.txt": new Uint8Array(3) }));
  const fromFile = SCENARIO.replace('topology = "leaf-spine:2x2x4"', 'file = "net.topo"');
  assert.equal(check(fromFile).fault.kind, "missing-file");
}

function results(engine) {
  const lab = new engine.Lab(SCENARIO, "ren");
  const beside = new engine.Lab(SCENARIO);
  // Two runs on one clock.
  for (let at = 20e6; at <= 100e6; at += 20e6) {
    lab.step(at, 1e9);
    beside.step(at, 1e9);
    assert.deepEqual([lab.now(), beside.now()], [at, at]);
  }
  const early = beside.results();
  assert.equal(JSON.parse(early.info()).runs[0].complete, false);
  assert.throws(() => beside.now(), /has been used up/);
  assert.ok(lab.step(Number.MAX_SAFE_INTEGER, 1e9));
  const completed = lab.flowCompleted();
  const started = lab.flowStarted();
  const whole = lab.results();
  const ps = whole.numbers(0, "flows", "fct_ns").map((ns, flow) => ns * 1e3 - (completed[flow] - started[flow]));
  assert.ok(ps.every((rest) => Math.abs(rest) < 1));
  const fabric = JSON.parse(whole.fabric(0));
  assert.deepEqual(whole.texts(0, "flows", "path").names[0].split(">")[0], "host2");
  const names = [...whole.path(0, 0)].map((port) => fabric.ports[port].name);
  assert.deepEqual(names, ["host2->leaf0", "leaf0->host0"]);
  const told = [];
  const explained = whole.explain(0, new Uint32Array([1]), (now) => void told.push(now));
  const [explanation] = JSON.parse(explained.json());
  const parts = explanation.parts.reduce((sum, part) => sum + part.ps, 0);
  assert.equal(parts, explanation.flow.fct_ps);
  assert.ok(told.length > 0 && explained.text().includes("Flow 1"));
  assert.equal(explained.numbers("time_ps").length, explained.rows());
  fault("no-such-flow", /expected 0 to 4/, () => whole.explain(0, new Uint32Array([5])));
  const port = fabric.ports.findIndex((one) => one.name === "leaf0->host0");
  const filling = JSON.parse(whole.filling(0, port, 0, 100e6));
  assert.deepEqual(filling.flows.map((one) => one.flow).sort(), [0, 1, 2, 3, 4]);
  const shares = filling.flows.reduce((sum, one) => sum + one.share, 0);
  assert.ok(Math.abs(shares - 1) < 1e-9);
  const again = whole.lab(0);
  again.step(Number.MAX_SAFE_INTEGER, 1e9);
  assert.equal(hash(again.results()), hash(whole));
  // A folder as a browser gives it: its own name in front, one file cut off.
  const files = Object.fromEntries(Object.entries(whole.files()).map(([name, bytes]) => [`0001-x/${name}`, bytes]));
  assert.equal(new engine.Results(files).rows(0, "flows"), 5);
  const cut = { ...files, "0001-x/ports.parquet": files["0001-x/ports.parquet"].slice(0, 99) };
  fault("truncated", /^ports.parquet: damaged or truncated/, () => new engine.Results(cut));
  const { "0001-x/flows.parquet": _, ...without } = files;
  fault("incomplete", /repeat the run with `incast run FOLDER`/, () => new engine.Results(without));
}

function memory(engine) {
  const once = () => {
    const results = ran(engine, SCENARIO);
    results.numbers(0, "flows", "fct_ns");
    results.free();
  };
  for (let i = 0; i < 3; i++) once();
  const before = engine.memory.buffer.byteLength;
  for (let i = 0; i < 10; i++) once();
  assert.equal(engine.memory.buffer.byteLength, before, "what is freed is used again");
}

async function panics() {
  const engine = await instance();
  assert.throws(() => engine.provoke("on purpose"), (error) => {
    assert.equal(error.name, "Panic");
    assert.match(error.message, /on purpose/);
    assert.match(error.message, /panics.rs:\d+/);
    return true;
  });
  assert.throws(() => new engine.Lab(SCENARIO), { name: "Panic", message: /make a new one/ });
  const next = await instance();
  assert.ok(JSON.parse(next.check(SCENARIO)).ok);
}

/** Every method that is declared is there. */
function declared(engine, text) {
  for (const [, name, body] of text.matchAll(/export class (\w+) \{([\s\S]*?)\n\}/g)) {
    for (const [, method] of body.matchAll(/^ {2}(\w+)\(/gm)) {
      if (method !== "constructor") assert.equal(typeof engine[name].prototype[method], "function", `${name}.${method}`);
    }
  }
  for (const [, name] of text.matchAll(/export function (\w+)\(/g)) assert.equal(typeof engine[name], "function", name);
}

async function behaviour(text) {
  const engine = await instance();
  declared(engine, text);
  faults(engine);
  results(engine);
  memory(engine);
  await panics();
  return "good";
}

const request = JSON.parse(readFileSync(0, "utf8"));
const answer = request.task === "records" ? await records(request.cases) : await behaviour(request.declared);
process.stdout.write(JSON.stringify(answer));
