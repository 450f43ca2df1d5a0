/**
 * How fast the page is: node tests/speed.mjs FOLDER [PAGE]
 *                       node tests/speed.mjs --flow N FOLDER [PAGE]
 *
 * Opens a results folder in headless Chromium and prints how long that takes, and the frames per second of the time slider,
 * of play, of brushing and of scrolling the table; with --flow, of the packets of one flow that the folder's trace has. A frame counts if
 * something was drawn in it. Not part of the tests: the figures
 * depend on the machine. PAGE is dist/index.html by default; build it with `make explorer`.
 */
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values: { flow }, positionals } = parseArgs({ options: { flow: { type: "string" } }, allowPositionals: true });
const [folder, file = fileURLToPath(new URL("../dist/index.html", import.meta.url))] = positionals;
if (!folder) throw new Error("usage: node tests/speed.mjs [--flow N] FOLDER [PAGE]");
const page = await (async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  return (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
})();
page.setDefaultTimeout(60_000);
page.on("console", (message) => console.log(message.text()));
// Canvases say when they are drawn: every drawing clears one, or gives it a size.
await page.addInitScript(() => {
  window.drawn = 0;
  const { clearRect, setTransform } = CanvasRenderingContext2D.prototype;
  Object.assign(CanvasRenderingContext2D.prototype, {
    clearRect(...all) { window.drawn++; return clearRect.apply(this, all); },
    setTransform(...all) { window.drawn++; return setTransform.apply(this, all); },
  });
});

/** From the choice of the folder until `ready` is there, in seconds. */
async function opening(hash, ready) {
  await page.goto("about:blank");
  await page.goto(pathToFileURL(resolve(file)).href + hash);
  await page.locator("input[type=file]").first().waitFor({ state: "attached" });
  await page.evaluate((selector) => {
    document.querySelector("input[type=file]").addEventListener("change", () => { window.begun = performance.now(); }, { capture: true, once: true });
    new MutationObserver((_, self) => {
      if (!document.querySelector(selector)) return;
      self.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => { window.took = performance.now() - window.begun; }));
    }).observe(document.body, { childList: true, subtree: true });
  }, ready);
  await page.locator("input[type=file]").first().setInputFiles(folder);
  await page.waitForFunction(() => window.took !== undefined);
  return (await page.evaluate(() => window.took)) / 1000;
}

const session = await page.context().newCDPSession(page);
await session.send("Performance.enable", { timeDomain: "threadTicks" });

/** Seconds of CPU that the page's thread has taken. */
async function spent() {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value;
}

/** Frames per second while `step` is called once per frame; the slowest of a hundred, and CPU per frame, which a busy machine does not move. */
async function frames(what, step, count = 200) {
  const before = await spent();
  const { fps, drawings, late } = await page.evaluate(async ([body, count]) => {
    const step = new Function("at", "share", body);
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const times = [];
    let last = await frame();
    let [drawings, seen] = [0, window.drawn];
    for (let at = 0; at < count; at++) {
      step(at, at / count);
      const now = await frame();
      times.push(now - last);
      last = now;
      if (window.drawn !== seen) drawings++;
      seen = window.drawn;
    }
    const sum = times.reduce((all, one) => all + one, 0);
    const late = [...times].sort((a, b) => a - b)[Math.floor(count * 0.99)];
    return { fps: (count / sum) * 1000, drawings: (drawings / sum) * 1000, late };
  }, [step, count]);
  console.log(`${what}: ${fps.toFixed(1)} frames/s, ${drawings.toFixed(1)} drawn, slowest of 100 ${late.toFixed(1)} ms, CPU of the page's thread ${(((await spent()) - before) / count * 1000).toFixed(1)} ms per frame`);
}

async function oneFlow() {
  for (let time = 0; time < 3; time++) {
    console.log(`one flow opened in ${(await opening(`#/results/flow?b=none&flow=${flow}`, ".diagram canvas")).toFixed(2)} s`);
  }
  console.log(await page.locator(".diagram .quiet").first().textContent());
  const pointer = `const own = document.querySelector(".diagram canvas"); const box = own.getBoundingClientRect();
    own.setPointerCapture = () => {};
    const send = (name, y) => own.dispatchEvent(new PointerEvent(name, { bubbles: true, pointerId: 1, clientX: box.left + 300, clientY: box.top + y }));`;
  const drag = `${pointer} if (at === 0) send("pointerdown", 100); send("pointermove", 100 + (at % 50) * 4); if (share > 0.99) send("pointerup", 100);`;
  await frames("move at the start", drag, 100);
  await frames("point at packets", `${pointer} send("pointermove", 60 + share * 300);`, 100);
  await page.getByRole("button", { name: "All of it" }).click();
  await frames("move the whole", drag, 100);
  await frames("zoom into the whole", `document.querySelector(at % 40 < 20 ? '[aria-label="Closer"]' : '[aria-label="Farther"]').click();`, 100);
  await frames("point at the whole", `${pointer} send("pointermove", 60 + share * 300);`, 100);
  if (await page.getByRole("slider", { name: "Part" }).count()) {
    await frames("part slider", `const own = document.querySelector('[aria-label="Part"]');
      own.value = String(Number(own.max) * share); own.dispatchEvent(new Event("input", { bubbles: true }));`, 100);
  }
  const listed = await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const begun = performance.now();
    [...document.querySelectorAll("summary")].find((one) => one.textContent.startsWith("The same as a table")).click();
    while (!document.querySelector("details .table tbody td")) await frame();
    return performance.now() - begun;
  });
  console.log(`listed as a table in ${listed.toFixed(0)} ms`);
}

async function all() {
  for (let time = 0; time < 3; time++) console.log(`fabric opened in ${(await opening("#/results/fabric?b=none", ".clock input")).toFixed(2)} s`);
  await frames("slider", `const own = document.querySelector(".clock input");
    own.value = String(Number(own.max) * share); own.dispatchEvent(new Event("input", { bubbles: true }));`);
  // From the start: where the slider has stopped, play would be over at once.
  await page.evaluate(() => {
    const own = document.querySelector(".clock input");
    own.value = "0";
    own.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const clock = () => page.locator(".clock input").inputValue().then(Number);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await frames("play", "");
  console.log(`play went to ${((await clock()) / Number(await page.locator(".clock input").getAttribute("max")) * 100).toFixed(1)} % of the run`);
  console.log(`flows opened in ${(await opening("#/results/flows?b=none", ".table tbody td")).toFixed(2)} s`);
  await frames("brush", `const own = document.querySelector(".scatter"); const box = own.getBoundingClientRect();
    own.setPointerCapture = () => {};
    const send = (name, x, y) => own.dispatchEvent(new PointerEvent(name, { bubbles: true, pointerId: 1, clientX: box.left + x, clientY: box.top + y }));
    if (at === 0) send("pointerdown", 80, 20);
    send("pointermove", 90 + share * (box.width - 110), 40 + share * (box.height - 90));
    if (share > 0.99) send("pointerup", 300, 200);`);
  await frames("scroll", `document.querySelector(".table").scrollTop = at * 400;`);
  await page.locator(".table thead button").nth(3).click();
  const sorted = await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const begun = performance.now();
    document.querySelectorAll(".table thead button")[5].click();
    await frame();
    return performance.now() - begun;
  });
  console.log(`sorted in ${sorted.toFixed(0)} ms`);
}

await (flow === undefined ? all() : oneFlow());
await page.context().browser().close();
