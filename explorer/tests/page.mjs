/** What the tests share: results that the program has made, a browser, and a page that watches itself. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

export const INCAST = process.env.INCAST ? resolve("..", process.env.INCAST) : "incast";
const PAGE = pathToFileURL(fileURLToPath(new URL("../dist/index.html", import.meta.url))).href;

/** Two transports, an incast of eight into background: losses, marks and waits within a second. */
const SCENARIO = `title = "Eight answers at once"
fabric.topology = "leaf-spine:2x2x4"
fabric.rate = "10Gbps"
fabric.buffer = "48KB"
transport.names = ["dctcp", "ndp"]
traffic = [
  { kind = "poisson", workload = "web_search", load = 0.5, flows = 40 },
  { kind = "incast", senders = 7, size = "64KB", receiver = 0, at = "100us" },
]
output = { csv = true, trace = { flows = [3] } }
`;

const home = mkdtempSync(join(tmpdir(), "incast-explorer-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
writeFileSync(join(home, "scenario.toml"), SCENARIO);
/** The results. */
export const RESULTS = join(home, "results");
execFileSync(INCAST, ["run", join(home, "scenario.toml"), "--out", RESULTS], { stdio: "pipe" });

/** Results of a scenario that reads a file: the folder, and the file, which is not in it. */
export function ran(name, file, content, scenario) {
  const place = join(home, `${name}-run`);
  mkdirSync(place);
  writeFileSync(join(place, file), content);
  writeFileSync(join(place, "scenario.toml"), scenario);
  execFileSync(INCAST, ["run", "scenario.toml", "--out", name], { stdio: "pipe", cwd: place });
  return { folder: join(place, name), input: join(place, file) };
}

/** A copy of the results that a test may spoil. */
export function copy(name) {
  const folder = join(home, name);
  cpSync(RESULTS, folder, { recursive: true });
  return folder;
}

/** A table of the results as the program wrote it in text: one object per row. */
export function table(run, name) {
  const [head, ...rows] = readFileSync(join(RESULTS, run, `${name}.csv`), "utf8").trim().split("\n");
  const names = head.split(",");
  return rows.map((row) => Object.fromEntries(row.split(",").map((cell, at) => [names[at], cell])));
}

let browser;

/** The browser, once. */
export async function started() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  return browser;
}

/** Ends the browser. */
export async function ended() {
  await browser?.close();
}

/** A page with what it said wrongly and whom it asked; `check` fails on either. */
export async function page({ url = PAGE, hash = "", before, allowed = /^(file|blob|data):/, ...options } = {}) {
  const context = await (await started()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const own = await context.newPage();
  own.setDefaultTimeout(15_000);
  const wrong = [];
  own.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(message.text()));
  own.on("pageerror", (error) => wrong.push(String(error.stack ?? error)));
  own.on("request", (request) => allowed.test(request.url()) || wrong.push(`asked ${request.url()}`));
  if (before) await own.addInitScript(before);
  await own.goto(url + hash);
  own.check = async () => {
    assert.deepEqual(wrong, []);
    await context.close();
  };
  return own;
}

/** Chooses a folder as a person would. */
export async function choose(own, folder = RESULTS) {
  await own.locator('input[type="file"]').first().setInputFiles(folder);
}

/** A page that shows the results at a view. */
export async function opened(hash, options = {}) {
  const { folder = RESULTS, ...others } = options;
  const own = await page({ hash, ...others });
  await choose(own, folder);
  await own.getByRole("navigation", { name: "Views of the results" }).waitFor();
  return own;
}
