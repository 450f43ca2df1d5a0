// The laboratory in a browser: a scene's numbers are the native ones, and so are the records of what it exports.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = pathToFileURL(here("../dist/index.html")).href;
const INCAST = resolve(here("../.."), process.env.INCAST ?? "target/debug/incast");
const CHROMIUM = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);

let browser;
let page;
let home;
const heard = [];

before(async () => {
  home = mkdtempSync(join(tmpdir(), "incast-lab-"));
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  page = await (await browser.newContext({ viewport: { width: 1300, height: 900 } })).newPage();
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) heard.push(message.text()); });
  page.on("pageerror", (error) => heard.push(String(error)));
  page.on("request", (request) => { if (!/^(file|blob|data):/.test(request.url())) heard.push(`asked for ${request.url()}`); });
});

after(async () => {
  await browser?.close();
  rmSync(home, { recursive: true, force: true });
});

async function accessible(what) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(serious.map(({ id, nodes }) => `${what}: ${id}: ${nodes[0]?.html}`), []);
}

/** The scenario run by the command line: its results folder. */
function native(toml, name) {
  const file = join(home, `${name}.toml`);
  writeFileSync(file, toml);
  const out = join(home, name);
  execFileSync(INCAST, ["run", file, "--out", out], { cwd: home });
  return out;
}

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

async function finish() {
  await page.getByRole("group", { name: "Clock" }).getByRole("button", { name: "Run to the end" }).click();
  await page.getByRole("row", { name: /Hash of the records/ }).waitFor();
  await page.waitForFunction(() => !document.querySelector(".outcomes table")?.textContent?.includes("…"));
}

/** Cells of a row of the results. */
const cells = async (name) => (await page.getByRole("row", { name }).getByRole("cell").allTextContents()).map((text) => text.trim());

test("the list of scenes", async () => {
  await page.goto(`${PAGE}#/lab`);
  assert.equal(await page.locator(".scenes li").count(), 11);
  await accessible("the list");
});

test("a scene asks before it answers, and its charts have axes before it plays", async () => {
  await page.getByRole("link", { name: /why a flow of 64 KB took 10 ms/ }).click();
  await page.locator(".picture").first().waitFor();
  await page.getByText("How long does the slowest one take, and what does it wait for?").waitFor();
  assert.equal(await page.getByText("98 % of it is that wait").isVisible(), false);
  assert.equal(await page.locator(".chart .u-axis").count(), 6);
  // A transport has the colour of the program's reports.
  const colour = (name) => page.locator(".chart").first().locator(".u-series", { hasText: name }).locator(".u-marker")
    .evaluate((marker) => getComputedStyle(marker).borderTopColor);
  assert.deepEqual([await colour("dctcp"), await colour("ndp")], ["rgb(58, 135, 184)", "rgb(0, 158, 115)"]);
  await page.getByRole("link", { name: "All scenes" }).click();
});

test("a scene plays, ends with the native numbers, and exports the same records", async () => {
  await page.getByRole("link", { name: /why a flow of 64 KB took 10 ms/ }).click();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.waitForFunction(() => !/^0(?![.\d])/.test(document.querySelector(".labclock output")?.textContent ?? ""));
  await page.getByRole("button", { name: "Pause" }).click();
  await finish();
  await page.getByText("98 % of it is that wait").waitFor();
  // NDP's life, a thirtieth of DCTCP's, is what the charts show at first.
  const first = page.getByRole("group", { name: "Charts show" }).getByRole("button", { name: /the first \d+/ });
  assert.equal(await first.getAttribute("aria-pressed"), "true");
  await page.getByText("The scenario as TOML").click();
  const toml = await page.locator(".export pre").textContent();
  const out = native(toml, "scene");
  const hashes = await cells(/Hash of the records/);
  for (const [at, transport] of ["dctcp", "ndp"].entries()) {
    const summary = JSON.parse(readFileSync(join(out, transport, "summary.json"), "utf8"));
    const ms = summary.all.fct_ns.max / 1e6;
    const [shown, unit] = ((await cells(/FCT of the slowest flow/))[at] ?? "").split(" ");
    assert.equal(Number(shown).toPrecision(3), (unit === "ms" ? ms : ms * 1e3).toPrecision(3), transport);
    assert.ok(sha256(readFileSync(join(out, transport, "flows.parquet"))).startsWith(hashes[at] ?? "?"), transport);
  }
  await page.getByRole("button", { name: /Why did flow \d+ take longest/ }).first().click();
  await page.getByText(/retransmission timeout, not queueing/).waitFor();
  // The bars are a column of the table: their lane is as wide as the stylesheet says, not as what is in it.
  const shares = await page.locator(".times").evaluate((table) => table.querySelector("td.bar").offsetWidth / table.offsetWidth);
  assert.ok(shares > 0.4, `bars have ${shares} of the table`);
  await accessible("a scene");
});

test("a try runs beside the scene", async () => {
  await page.getByRole("button", { name: "DCTCP, timer of 1 ms" }).click();
  await page.locator(".outcomes").getByRole("columnheader", { name: "DCTCP, timer of 1 ms", exact: true }).waitFor();
  await page.waitForFunction(() => !document.querySelector(".outcomes table")?.textContent?.includes("…"));
  const [before, , after] = await cells(/FCT of the slowest flow/);
  assert.match(before ?? "", /^10\.\d+ ms/);
  assert.match(after ?? "", /^1\.\d+ ms/);
});

test("every scene runs to its end", async () => {
  await page.goto(`${PAGE}#/lab`);
  const titles = await page.locator(".scenes a").allTextContents();
  for (const title of titles) {
    await page.getByRole("link", { name: title }).click();
    await page.getByRole("heading", { name: title }).waitFor();
    await finish();
    assert.equal(await page.getByRole("alert").count(), 0, title);
    await page.getByRole("link", { name: "All scenes" }).click();
  }
});

test("the form refuses in the engine's words, and a changed scenario runs", async () => {
  await page.goto(`${PAGE}#/lab/run`);
  const rate = page.locator("#key-fabric-rate");
  await rate.fill("fast");
  await page.locator(".field.bad").filter({ hasText: "fabric.rate = `fast`" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Run", exact: true }).isDisabled(), true);
  await accessible("the form");
  const topology = page.getByRole("textbox", { name: "topology", exact: true });
  await rate.fill("");
  await topology.fill("fat-tree:16");
  await page.locator(".field.bad").filter({ hasText: "incast run" }).waitFor();
  await topology.fill("star:9");
  await page.getByText("9 hosts, 8 flows").waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForFunction(() => document.querySelectorAll(".outcomes thead th").length === 5
    && !document.querySelector(".outcomes table")?.textContent?.includes("…"));
  assert.match(page.url(), /#\/lab\/run\?s=/);
  // The address alone brings both runs back.
  await page.reload();
  await page.locator(".picture").nth(3).waitFor();
});

test("links fail and transports are mixed by form, with the native records", async () => {
  await page.goto("about:blank");
  await page.goto(`${PAGE}#/lab/run`);
  await page.getByRole("textbox", { name: "topology", exact: true }).fill("leaf-spine:2x2x4");
  await page.getByRole("button", { name: "Add link failure" }).click();
  const failure = page.getByRole("group", { name: "link failure 1" });
  const fill = (of, name, text) => of.getByRole("textbox", { name, exact: true }).or(of.getByRole("combobox", { name, exact: true })).fill(text);
  const refused = (of, words) => of.locator(".bad").filter({ hasText: words }).waitFor();
  await fill(failure, "at", "");
  await refused(failure, "needs the key `at`");
  await fill(failure, "at", "30us");
  await fill(failure, "a", "leaf0");
  await fill(failure, "b", "spine9");
  await refused(failure, "no node `spine9`: expected spine0 to spine1");
  await fill(failure, "b", "leaf1");
  await refused(failure, "there is no link leaf0 - leaf1");
  await fill(failure, "b", "spine1");
  await fill(failure, "times", "3");
  await refused(failure, "a link that is never repaired fails once");
  await fill(failure, "repair_after", "40us");
  await refused(failure, "expected `up_for` beside it");
  await fill(failure, "up_for", "60us");
  await page.getByText("8 hosts, 7 flows").waitFor();
  await page.getByRole("button", { name: "Add assigned transport" }).click();
  const assigned = page.getByRole("group", { name: "assigned transport 1" });
  await assigned.getByRole("combobox", { name: "name" }).selectOption("timely");
  await fill(assigned, "hosts", "99");
  await refused(assigned, "expected hosts below 8");
  await fill(assigned, "hosts", "4-6");
  await page.getByText("8 hosts, 7 flows").waitFor();
  // One transport balances its load otherwise than all others.
  const routing = page.getByRole("combobox", { name: "routings.ndp" });
  await routing.locator("option").first().filter({ hasText: /^source-path/ }).waitFor({ state: "attached" });
  await routing.selectOption("ecmp");
  await page.getByText("[transport.routings]").waitFor({ state: "attached" });
  // Pauses for some classes, and a threshold by rate.
  await page.getByRole("checkbox", { name: /^pfc/ }).check();
  await page.getByRole("textbox", { name: "classes", exact: true }).fill("1, nine");
  await page.locator(".field.bad").filter({ hasText: "fabric.pfc.classes" }).waitFor();
  await page.getByRole("textbox", { name: "classes", exact: true }).fill("0, 1, 2");
  await page.getByRole("textbox", { name: "title", exact: true }).fill("Mixed and failing");
  // The form's text follows when the engine has read it.
  await page.locator(".export pre").filter({ hasText: "Mixed and failing" }).waitFor({ state: "attached" });
  assert.equal(await page.locator(".free .bad").count(), 0);
  await accessible("the form with lists");
  await page.getByText("The scenario as TOML, and the command").click();
  const toml = await page.locator(".export pre").textContent();
  assert.match(toml, /\[\[fabric.failures\]\]\nat = "30us"[^[]*times = 3/);
  assert.match(toml, /\[\[transport.assign\]\]\nname = "timely"\nhosts = "4-6"/);
  assert.match(toml, /\[transport.routings\]\nndp = "ecmp"/);
  assert.match(toml, /classes = \[0, 1, 2\]/);
  assert.match(toml, /^title = "Mixed and failing"/);
  await page.getByRole("checkbox", { name: /keep the former run/ }).uncheck();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("link down").waitFor();
  await page.waitForFunction(() => document.querySelector(".outcomes table") && !document.querySelector(".outcomes table").textContent.includes("…"));
  const hashes = await cells(/Hash of the records/);
  const out = native(toml, "lists");
  const own = ["dctcp", "ndp"].map((name) => sha256(readFileSync(join(out, name, "flows.parquet"))));
  assert.ok(hashes.length === 2 && hashes.every((hash, at) => own[at].startsWith(hash)), `${hashes}: ${own}`);
  const mixed = JSON.parse(readFileSync(join(out, "dctcp", "manifest.json"), "utf8"));
  assert.ok("timely" in mixed.parameters, Object.keys(mixed.parameters).join());
  assert.equal(mixed.scenario.transport.routings.ndp, "ecmp");
  // What was added can be taken away.
  await failure.getByRole("button", { name: "Remove link failure 1" }).click();
  await page.waitForFunction(() => !document.querySelector(".export pre")?.textContent?.includes("failures"));
});

test("nothing was complained about, and nothing asked for", () => assert.deepEqual(heard, []));
