import { after, test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { choose, ended, INCAST, opened, page, RESULTS, table } from "./page.mjs";

after(ended);

const PARTS = ["nic_own", "nic_other", "blocked_ready", "blocked_grant", "blocked_credit", "blocked_window", "blocked_pacing",
  "recovery", "serialisation", "propagation", "queue_nic", "queue_edge", "queue_aggregation", "queue_core"];
const count = (own) => own.locator("#flows-count").textContent();
const firstFlow = (own) => own.locator(".table tbody tr:not(.space) td:first-child").first().textContent();

/** The slowest flow of a run as the program's table has it. */
function slowest(run) {
  return table(run, "flows").reduce((worst, row) => (Number(row.slowdown) > Number(worst.slowdown) ? row : worst));
}

test("a folder opens, plays and is steered by keys", async () => {
  const own = await page();
  await choose(own);
  await own.getByRole("heading", { name: "Eight answers at once" }).waitFor();
  assert.equal(new URL(own.url()).hash.split("?")[0], "#/results/fabric");
  const clock = own.getByRole("slider", { name: "Time" });
  await clock.waitFor();
  await own.keyboard.press("Space");
  await own.waitForFunction(() => Number(document.querySelector(".clock input").value) > 0);
  await own.getByRole("button", { name: "Pause" }).click();
  const paused = Number(await clock.inputValue());
  await clock.press("ArrowRight");
  assert.ok(Number(await clock.inputValue()) > paused, "a key steps forward");
  await own.waitForFunction(() => /[?&]t=\d+/.test(location.hash));
  const fabric = own.getByRole("application", { name: /Fabric of dctcp/ });
  await fabric.focus();
  await fabric.press("ArrowRight");
  assert.match(await own.locator(".fabric-value").first().textContent(), /^host0->leaf0 \(10 Gb\/s\): use /);
  await fabric.press("Enter");
  await own.getByRole("heading", { name: /dctcp: host0->leaf0/ }).waitFor();
  await own.check();
});

test("play moves the picture in every frame, as fast as it says", async () => {
  const own = await opened("#/results/fabric?b=none", {
    before: () => {
      window.drawn = 0;
      const { clearRect } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.clearRect = function (...all) {
        if (this.canvas.closest?.(".fabric")) window.drawn++;
        return clearRect.apply(this, all);
      };
    },
  });
  await own.locator(".clock input").waitFor();
  await own.getByRole("button", { name: "Play", exact: true }).click();
  const { moved, seconds, drawn, pictures } = await own.evaluate(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const [input, canvas] = [document.querySelector(".clock input"), document.querySelector(".fabric canvas")];
    const [begun, from] = [await frame(), Number(input.value)];
    const before = window.drawn;
    const pictures = new Set();
    let at = begun;
    for (let count = 0; count < 60; count++) {
      at = await frame();
      if (count % 10 === 0) pictures.add(canvas.toDataURL());
    }
    return { moved: (input.value - from) / input.max, seconds: (at - begun) / 1000, drawn: window.drawn - before, pictures: pictures.size };
  });
  // One second shows a twentieth of the run.
  assert.ok(Math.abs(moved / seconds / 0.05 - 1) < 0.3, `${moved} of the run in ${seconds} s`);
  assert.ok(drawn >= 55, `${drawn} drawings in 60 frames`);
  assert.ok(pictures >= 4, `${pictures} pictures in 6 looks`);
  await own.check();
});

test("a warning says what it means and what to do, and on the docs site leads to its section", async () => {
  const own = await opened("#/results/fabric?b=none");
  const all = own.locator(".warnings details");
  const warning = all.filter({ hasText: "few_bytes_drawn" });
  await warning.locator("summary").filter({ hasText: "40 flows drawn carry 112 % of their expected bytes" }).click();
  assert.match(await warning.textContent(), /Every transport of the run gets the same flows.*What to do: More flows.*few_bytes_drawn/);
  assert.equal(await warning.getByRole("link").count(), 0);
  assert.match(await all.nth(1).textContent(), /spend most of their time on recovery.*timeout_tail/);
  assert.equal(await all.count(), 2, "what is normal for a small run is no warning");
  await own.check();
  // As docs/site/hooks.py puts it beside the pages.
  const html = readFileSync(new URL("../dist/index.html", import.meta.url), "utf8");
  const file = join(dirname(RESULTS), "site.html");
  writeFileSync(file, html.replace("<head>", '<head><meta name="incast-docs" content="../">'));
  const there = await opened("#/results/fabric?b=none", { url: pathToFileURL(file).href });
  await there.locator(".warnings summary").first().click();
  assert.equal(await there.getByRole("link", { name: "few_bytes_drawn" }).getAttribute("href"), "../warnings.html#few_bytes_drawn");
  await there.check();
});

test("the first view leads to why the slowest flow was slow", async () => {
  const flow = slowest("dctcp");
  const own = await opened("");
  const panel = own.getByRole("region", { name: "dctcp", exact: true });
  await panel.getByRole("link", { name: `Why was flow ${flow.flow_id} slow?` }).click();
  await own.getByRole("heading", { name: `dctcp: flow ${flow.flow_id}` }).waitFor();
  await panel.locator(".verdict li").nth(1).waitFor();
  await own.check();
});

test("without a number, one flow and one queue open on the worst", async () => {
  const flow = slowest("dctcp");
  const own = await opened("#/results/flow");
  await own.getByRole("heading", { name: `dctcp: flow ${flow.flow_id}` }).waitFor();
  await own.check();
  const ports = table("dctcp", "ports").filter((row) => row.tier !== "nic");
  const largest = Math.max(...ports.map((row) => Number(row.backlog_max_bytes)));
  const queue = await opened("#/results/queue");
  const shown = await queue.locator("label.row", { hasText: /^Port/ }).locator("select, input").first().inputValue();
  assert.ok(ports.some((row) => row.port === shown && Number(row.backlog_max_bytes) === largest), shown);
  await queue.check();
});

test("a click on a flow shows where its time went, as the tables have it, and why", async () => {
  const flow = slowest("dctcp");
  const own = await opened("#/results/flows");
  await own.locator(".table tbody tr:not(.space) td:nth-child(4)").first().click();
  await own.getByRole("heading", { name: `dctcp: flow ${flow.flow_id}` }).waitFor();
  for (const run of ["dctcp", "ndp"]) {
    const row = table(run, "flows")[Number(flow.flow_id)];
    const parts = own.getByRole("region", { name: run, exact: true }).locator(".falls [data-part]");
    await parts.first().waitFor();
    const shown = await parts.evaluateAll((rows) =>
      Object.fromEntries(rows.map((one) => [one.dataset.part, one.dataset.ps])));
    const expected = Object.fromEntries(PARTS.filter((part) => row[`${part}_ps`] !== "0").map((part) => [part, row[`${part}_ps`]]));
    assert.deepEqual(shown, expected, run);
  }
  const panel = own.getByRole("region", { name: "dctcp", exact: true });
  await panel.locator(".verdict li").first().waitFor();
  const told = execFileSync(INCAST, ["explain", RESULTS, "--transport", "dctcp", "--flow", flow.flow_id], { encoding: "utf8" });
  const prose = await panel.locator("pre.command").last().textContent();
  assert.equal(prose.trim(), told.trim(), "the page and the command say the same");
  await panel.getByRole("application", { name: /Packets of flow/ }).waitFor();
  // Each data packet crosses all links of the path, if it is not lost, and is answered.
  const legs = Number((await panel.locator(".diagram .quiet").textContent()).match(/([\d,]+) packets/)[1].replace(",", ""));
  const sure = (flow.path.split(">").length - 1) * (Number(flow.packets) - Number(flow.retransmits));
  assert.ok(sure > 10 && legs >= 1.5 * sure, `${legs} packets on links, ${sure} of data at least`);
  await own.check();
});

test("flows are sorted, filtered and brushed, and the address restores what was seen", async () => {
  const rows = table("dctcp", "flows");
  const own = await opened("#/results/flows?b=none");
  assert.equal(await count(own), `${rows.length} of ${rows.length} flows`);
  assert.equal(await firstFlow(own), slowest("dctcp").flow_id);
  await own.getByRole("button", { name: "Size", exact: true }).click();
  const sizes = rows.map((row) => Number(row.size_bytes));
  assert.equal(rows[Number(await firstFlow(own))].size_bytes, String(Math.max(...sizes)));
  await own.getByRole("searchbox").fill("size<=64KB dst=0");
  const kept = rows.filter((row) => Number(row.size_bytes) <= 64_000 && row.dst === "0").length;
  assert.equal(await count(own), `${kept} of ${rows.length} flows`);
  const box = await own.getByRole("application", { name: /slowdown against size/ }).boundingBox();
  await own.mouse.move(box.x + 70, box.y + 12);
  await own.mouse.down();
  await own.mouse.move(box.x + box.width - 12, box.y + 110, { steps: 4 });
  await own.mouse.up();
  await own.waitForFunction((all) => document.getElementById("flows-count").textContent !== all, `${kept} of ${rows.length} flows`);
  await own.waitForFunction(() => /size=/.test(location.hash));
  const [seen, first, hash] = [await count(own), await firstFlow(own), new URL(own.url()).hash];
  assert.ok(Number(seen.split(" ")[0]) < kept, seen);
  await own.check();
  const again = await opened(hash);
  assert.deepEqual([await count(again), await firstFlow(again)], [seen, first]);
  await again.getByRole("searchbox").fill("sise<1");
  assert.match(await again.getByRole("alert").textContent(), /no column sise: expected one of/);
  await again.check();
});

test("a queue tells who filled it", async () => {
  const ports = table("dctcp", "ports");
  const port = ports.find((row) => row.name === "leaf0->host0").port;
  const own = await opened(`#/results/queue?port=${port}&b=none`);
  await own.getByRole("button", { name: "Run it again and watch this queue" }).click();
  const flows = own.getByRole("region", { name: "Flows in the queue, dctcp" });
  await flows.waitFor();
  const links = await flows.locator("a").allTextContents();
  const all = table("dctcp", "flows");
  assert.ok(links.length > 1 && links.every((flow) => [all[Number(flow)].src, all[Number(flow)].dst].includes("0")),
    `${links} go to host 0, or are answered to it`);
  await own.check();
});

test("the table of ports has the largest queue of the run on top", async () => {
  const rows = table("dctcp", "ports");
  const most = rows.reduce((best, row) => (Number(row.backlog_max_bytes) > Number(best.backlog_max_bytes) ? row : best));
  const own = await opened("#/results/ports?b=none");
  await own.locator(".table").waitFor();
  assert.equal(await firstFlow(own), most.name);
  await own.check();
});
