/** The built site (target/site) in a browser, opened as files: `tests/site look`. */
import { after, test } from "node:test";
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

const SITE = fileURLToPath(new URL("../../target/site", import.meta.url));
/** Pixels beyond which nobody scrolls, as in `make shots`. */
const LONGEST = 20_000;
/** Pages that a test of sizes opens: the largest files. */
const LARGEST = 12;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
after(() => browser.close());

/** A page of the site, with the errors of its scripts. */
async function opened(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(pathToFileURL(join(SITE, name)).href);
  return { page, errors };
}

async function serious(page) {
  const { violations } = await new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).exclude("iframe").analyze();
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => [id, nodes[0].html]);
}

test("the front page moves, and has the laboratory when asked", async () => {
  const { page, errors } = await opened("index.html");
  assert.equal(await page.locator("figure.incast svg").count(), 2);
  assert.equal(await page.locator("iframe.laboratory").count(), 0, "the laboratory is loaded before anybody asks");
  const wide = () => page.locator("figure.incast .until").first().evaluate((clip) => getComputedStyle(clip).transform);
  const before = await wide();
  await page.waitForTimeout(500);
  assert.notEqual(await wide(), before, "the picture stands still");
  const here = page.locator("figure.incast a.here");
  if ((await here.count()) > 0) {
    await here.click();
    const play = page.frameLocator("iframe.laboratory").getByRole("button", { name: "Play" });
    await play.waitFor();
  }
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("the picture stands still for who wants no motion, and is whole", async () => {
  const { page } = await opened("index.html", { reducedMotion: "reduce" });
  const style = await page.locator("figure.incast .until").first().evaluate((clip) => getComputedStyle(clip).animationName);
  assert.equal(style, "none");
  await page.context().close();
});

test("the search finds in a page opened as a file", async () => {
  const { page, errors } = await opened("start.html");
  await page.locator(".md-search__input").click();
  await page.locator(".md-search__input").pressSequentially("retransmission");
  await page.locator(".md-search-result__item").first().waitFor();
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("cards of transports can be filtered", async () => {
  const { page } = await opened("transports.html");
  const shown = () => page.locator("a.card:visible").count();
  const all = await shown();
  await page.locator("select[name=kind]").selectOption({ index: 1 });
  const some = await shown();
  assert.ok(some > 0 && some < all, `${some} of ${all}`);
  await page.locator("select[name=from]").selectOption({ label: "2020" });
  assert.ok((await shown()) < all);
  await page.context().close();
});

test("parts of reference pages are closed on a phone, and open where a link leads", async () => {
  const { page, errors } = await opened("scenario.html", { viewport: { width: 390, height: 844 } });
  const part = page.locator("details.part", { has: page.locator("#fabricpfc") });
  assert.equal(await part.evaluate((own) => own.open), false);
  await page.evaluate(() => { location.hash = "#fabricpfc"; });
  await page.waitForFunction(() => document.querySelector("#fabricpfc").closest("details").open);
  await page.context().close();
  const wide = await opened("scenario.html");
  const open = wide.page.locator("details.part", { has: wide.page.locator("#fabricpfc") });
  assert.equal(await open.evaluate((own) => own.open), true);
  assert.deepEqual([...errors, ...wide.errors], []);
  await wide.page.context().close();
});

test("no page is wider than its window, none is too long", async () => {
  const size = (name) => statSync(join(SITE, name)).size;
  const pages = readdirSync(SITE, { recursive: true }).filter((name) => name.endsWith(".html") && !name.startsWith("laboratory/"));
  const largest = pages.sort((one, other) => size(other) - size(one)).slice(0, LARGEST);
  for (const width of [1440, 390]) {
    for (const name of ["index.html", "transports.html", ...largest]) {
      const { page } = await opened(name, { viewport: { width, height: 900 } });
      const [wide, tall] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]);
      assert.ok(wide <= width && tall <= LONGEST, `${name} at ${width}: ${wide} x ${tall} pixels`);
      await page.context().close();
    }
  }
});

for (const [name, options] of [["index.html", {}], ["transports.html", { colorScheme: "dark" }], ["scenario.html", { viewport: { width: 390, height: 844 } }]]) {
  test(`no serious fault in ${name}`, async () => {
    const { page } = await opened(name, { reducedMotion: "reduce", ...options });
    assert.deepEqual(await serious(page), []);
    await page.context().close();
  });
}
