import { after, test } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { choose, copy, ended, INCAST, opened, page, RESULTS } from "./page.mjs";

after(ended);

/** What the page says of a folder. */
async function said(folder, options) {
  const own = await page(options);
  await choose(own, folder);
  const text = await own.getByRole("alert").textContent();
  await own.check();
  return text;
}

test("a folder without manifest, and one with a truncated table, are refused with what to do", async () => {
  const empty = copy("empty");
  for (const file of ["manifest.json", "dctcp/manifest.json", "ndp/manifest.json"]) rmSync(join(empty, file));
  assert.match(await said(empty), /manifest/);
  const cut = copy("cut");
  truncateSync(join(cut, "dctcp/flows.parquet"), 2000);
  assert.match(await said(cut), /dctcp\/flows\.parquet/);
});

test("results of another version open, and the page says so", async () => {
  const folder = copy("older");
  const file = join(folder, "manifest.json");
  writeFileSync(file, readFileSync(file, "utf8").replace(/"version": "[^"]*"/g, '"version": "0.0.1"'));
  const own = await page();
  await choose(own, folder);
  await own.getByText(/0\.0\.1/).first().waitFor();
  await own.check();
});

test("a flow and a port that do not exist are named with the range", async () => {
  const own = await opened("#/results/flow?flow=4000&b=none");
  assert.match(await own.getByRole("alert").textContent(), /no flow 4000: expected 0 to 46/);
  await own.evaluate(() => { location.hash = "#/results/queue?port=99&b=none"; });
  await own.getByRole("alert").filter({ hasText: "no port 99: expected 0 to 23" }).waitFor();
  await own.check();
});

test("a browser without WebAssembly is told what to use", async () => {
  const told = await said(RESULTS, { before: () => { delete globalThis.WebAssembly; } });
  assert.match(told, /no WebAssembly.*incast explain/s);
});

test("`incast explore` opens its folder by itself, explains natively and ends", { timeout: 60_000 }, async () => {
  const server = spawn(INCAST, ["explore", RESULTS, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
  try {
    const [line] = await Promise.race([once(server.stdout, "data"), once(server, "exit").then(([code]) => assert.fail(`it ended with ${code}`))]);
    const url = String(line).trim();
    const own = await page({ url, hash: "#/results/flow?flow=3&b=none", allowed: new RegExp(`^(${url}|blob:|data:)`) });
    await own.locator(".verdict li").first().waitFor();
    await own.getByRole("application", { name: /Packets of flow 3/ }).waitFor();
    await own.check();
  } finally {
    server.kill("SIGINT");
  }
  const [code] = await once(server, "exit");
  assert.equal(code, 0);
});
