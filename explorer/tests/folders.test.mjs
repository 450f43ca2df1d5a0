// Folders that are dropped, two at a time, incomplete, too large, or with an input file that is not there.
import { after, test } from "node:test";
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { choose, copy, ended, opened, page, ran, RESULTS } from "./page.mjs";

after(ended);

/** Drops files and folders of the disk on the middle of the page's target. */
async function drop(own, files) {
  const box = await own.locator(".drop").first().boundingBox();
  const session = await own.context().newCDPSession(own);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await session.send("Input.dispatchDragEvent", { type, x: box.x + box.width / 2, y: box.y + box.height / 2, data });
  }
}

const panel = (own, name) => own.getByRole("region", { name, exact: true });
const notices = async (own) => (await own.locator(".notice").allTextContents()).join("\n");

/** A copy with a file changed. */
function changed(name, file, change) {
  const folder = copy(name);
  const place = join(folder, file);
  writeFileSync(place, change(readFileSync(place, "utf8")));
  return folder;
}

test("two folders that are dropped are shown side by side on one clock", async () => {
  const own = await page();
  await drop(own, [RESULTS, copy("again")]);
  await panel(own, "results: dctcp").waitFor();
  await panel(own, "again: dctcp").waitFor();
  const clock = own.getByRole("slider", { name: "Time" });
  const shown = async (name) => panel(own, name).locator(".busiest").textContent();
  const before = await shown("results: dctcp");
  for (let step = 0; step < 3; step++) await clock.press("PageUp");
  // Both show the same time.
  await own.waitForFunction((old) => {
    const [one, other] = Array.from(document.querySelectorAll(".busiest"), ({ textContent }) => textContent);
    return one !== old && one === other;
  }, before);
  await own.getByRole("combobox", { name: "beside" }).selectOption("1/ndp");
  await panel(own, "again: ndp").waitFor();
  assert.notEqual(await shown("again: ndp"), await shown("results: dctcp"));
  await own.check();
});

test("a comparison begins with the two runs whose slowest flows differ most", async () => {
  const { folder } = ran("three", "sizes.cdf", "1000 0\n40000 1\n", `fabric.topology = "star:9"
transport.names = ["dctcp", "ren", "ndp"]
traffic = [{ kind = "incast", senders = 8, size = "64KB" }]
`);
  const tails = ["dctcp", "ren", "ndp"].map((name) => [name, JSON.parse(readFileSync(join(folder, name, "summary.json"), "utf8")).all.slowdown.p99]);
  tails.sort((one, other) => one[1] - other[1]);
  const own = await opened("", { folder });
  const shown = await own.locator(".head select").evaluateAll((all) => all.map(({ value }) => value.split("/")[1]));
  assert.deepEqual(shown.sort(), [tails[0][0], tails[2][0]].sort());
  await own.check();
});

test("a dropped folder that is none is refused, and the page still takes another", async () => {
  const none = join(RESULTS, "..", "none");
  mkdirSync(none);
  writeFileSync(join(none, "notes.txt"), "nothing");
  const own = await page();
  await drop(own, [none]);
  assert.match(await own.getByRole("alert").textContent(), /none cannot be opened.*manifest\.json.*incast run/s);
  await drop(own, [RESULTS]);
  await own.getByRole("heading", { name: "Eight answers at once" }).waitFor();
  assert.equal(await own.getByRole("alert").count(), 0);
  await own.check();
});

test("an interrupted run is shown as far as it went, with what to do", async () => {
  const folder = changed("half", "dctcp/manifest.json", (text) => text.replace('"complete": true', '"complete": false'));
  for (const name of ["flows", "ports", "fairness"]) rmSync(join(folder, "ndp", `${name}.parquet`));
  const own = await opened("", { folder });
  assert.match(await notices(own), /run of dctcp is not complete.*run of ndp has no results.*repeat it with incast run/s);
  assert.equal(await own.getByRole("combobox", { name: "beside" }).count(), 0, "there is one run");
  await own.check();
});

test("a trace beyond memory is left out and the rest is shown", async () => {
  const folder = copy("large");
  truncateSync(join(folder, "dctcp/trace.parquet"), 1.5 * 2 ** 30);
  const own = await opened("#/results/flow?flow=3&b=none", { folder });
  assert.match(await notices(own), /dctcp\/trace\.parquet: 1\.611 GB are too large.*left out.*output\.trace\.flows.*polars/s);
  await own.locator(".falls").first().waitFor();
  await own.check();
  truncateSync(join(folder, "ndp/flows.parquet"), 1.5 * 2 ** 30);
  const other = await page();
  await choose(other, folder);
  assert.match(await other.getByRole("alert").textContent(), /ndp\/flows\.parquet: 1\.611 GB are too large.*incast explain/s);
  await other.check();
});

test("a run that is too large for the page is explained on the command line", async () => {
  const folder = changed("wide", "manifest.json", (text) => text.replaceAll("leaf-spine:2x2x4", "leaf-spine:2x2x520"));
  const own = await opened("#/results/flow?flow=3&b=none", { folder });
  const told = await own.getByRole("alert").textContent();
  assert.match(told, /fabric\.topology.*too large for a page: expected at most 1024 hosts/);
  assert.match(await own.locator("pre.command").textContent(), /^incast explain wide --transport dctcp --flow 3$/);
  await own.check();
});

test("an input file that is missing or has changed is asked for where it is needed", async () => {
  const { folder, input } = ran("input", "sizes.cdf", "1000 0\n40000 1\n", `fabric.topology = "star:3"
transport.names = ["dctcp"]
traffic = [{ kind = "poisson", workload = "sizes.cdf", load = 0.3, flows = 5 }]
`);
  rmSync(join(folder, "inputs"), { recursive: true });
  const own = await opened("#/results/flow?flow=1", { folder });
  const asked = own.locator('.notice input[type="file"]');
  assert.match(await own.getByRole("alert").textContent(), /sizes\.cdf.*workload file.*not in the folder/);
  const other = join(folder, "..", "other.cdf");
  writeFileSync(other, "1000 0\n50000 1\n");
  await asked.setInputFiles(other);
  await own.getByText(/changed since the run: expected SHA-256.*--allow-changed-files/).waitFor();
  await asked.setInputFiles(input);
  await own.getByRole("button", { name: "Explain" }).click();
  await own.locator(".verdict li").first().waitFor();
  await own.check();
});

test("the packets of a flow are a table too, which keys reach", async () => {
  const own = await opened("#/results/flow?flow=3&b=none");
  await own.getByRole("application", { name: /Packets of flow 3/ }).focus();
  const summary = own.getByText(/The same as a table: [\d,]+ events/);
  for (let tab = 0; tab < 3 && !(await summary.evaluate((element) => element === document.activeElement)); tab++) await own.keyboard.press("Tab");
  await own.keyboard.press("Enter");
  const list = own.getByRole("region", { name: "Events of flow 3 in dctcp" });
  await list.locator("tbody tr:not(.space)").first().waitFor();
  const first = await list.locator("tbody tr:not(.space)").first().locator("td").allTextContents();
  assert.deepEqual([first[0], first[1]], ["0", "opened"]);
  await own.keyboard.press("Tab");
  await list.focus();
  await own.keyboard.press("End");
  await list.getByRole("cell", { name: /^(completed|acknowledged|sent)$/ }).last().waitFor();
  const rows = Number(await list.locator("table").getAttribute("aria-rowcount"));
  assert.equal(rows - 1, Number((await summary.textContent()).match(/[\d,]+/)[0].replaceAll(",", "")));
  await own.check();
});

test("copies of tables in text are not read", async () => {
  const own = await opened("#/results/flows?b=none", {
    before: () => {
      const read = Blob.prototype.arrayBuffer;
      globalThis.seen = [];
      Blob.prototype.arrayBuffer = function arrayBuffer() {
        globalThis.seen.push(this.name);
        return read.call(this);
      };
    },
  });
  const seen = await own.evaluate(() => globalThis.seen);
  assert.ok(seen.includes("flows.parquet") && !seen.some((name) => name.endsWith(".csv")), String(seen));
  await own.check();
});
