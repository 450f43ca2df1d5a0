/**
 * Pictures of every page at three widths, light and dark: `make shots`, or `make shots PAGES='index transports/'` for a page and a
 * folder. Writes target/shots/PAGE-WIDTH-SCHEME.png and tells what a reader would refuse: pages wider than the window, pages
 * too long.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const TOP = fileURLToPath(new URL("../..", import.meta.url));
const SITE = join(TOP, "target/site");
const SHOTS = join(TOP, "target/shots");
const WIDTHS = [1440, 768, 390];
/** Pixels beyond which nobody scrolls. */
const LONGEST = 20_000;
/** What a PNG of Chromium can be tall. */
const TALLEST = 16_000;

const incast = (...words) => execFileSync(resolve(TOP, process.env.INCAST ?? "target/debug/incast"), words, { cwd: TOP, stdio: "pipe" });

const wanted = (process.env.PAGES ?? "").split(" ").filter(Boolean);

/** Name and address of each page: the site's, and those that the program writes. */
function pages() {
  rmSync(SHOTS, { recursive: true, force: true });
  mkdirSync(SHOTS, { recursive: true });
  const site = readdirSync(SITE, { recursive: true }).filter((page) => page.endsWith(".html") && !page.startsWith("laboratory/"));
  const all = site.sort().map((page) => [page.replace(/\.html$/, ""), pathToFileURL(join(SITE, page)).href]);
  return wanted.length > 0 && !wanted.some((path) => path.startsWith("made/")) ? all : [...all, ...written()];
}

/** What the program writes: report, study, explanation, explorer. */
function written() {
  const made = join(SHOTS, "made");
  const address = (file) => pathToFileURL(file).href;
  incast("run", "examples/scenarios/incast.toml", "--out", join(made, "run"));
  incast("study", "examples/scenarios/study.toml", "--out", join(made, "study"));
  incast("explain", join(made, "run"), "--transport", "dctcp", "--slowest", "1", "--html", join(made, "why.html"));
  return [
    ["made/report", address(join(made, "run/report.html"))],
    ["made/study", address(join(made, "study/study.html"))],
    ["made/explain", address(join(made, "why.html"))],
    ["made/explorer", address(join(TOP, "explorer/dist/index.html"))],
    ["made/laboratory", `${address(join(TOP, "explorer/dist/index.html"))}#/lab`],
  ];
}

const chosen = pages().filter(([name]) => wanted.length === 0 || wanted.some((path) => (path.endsWith("/") ? name.startsWith(path) : name === path)));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
let refused = 0;
for (const colorScheme of ["light", "dark"]) {
  for (const width of WIDTHS) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    for (const [name, address] of chosen) {
      const page = await context.newPage();
      await page.goto(address, { waitUntil: "load" });
      // The engine of the laboratory starts.
      if ((await page.locator("iframe").count()) > 0) await page.waitForTimeout(3000);
      const [wide, tall] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]);
      const path = join(SHOTS, `${name.replaceAll("/", "-")}-${width}-${colorScheme}.png`);
      const clip = { x: 0, y: 0, width, height: Math.min(tall, TALLEST) };
      await page.screenshot({ path, fullPage: true, clip });
      const faults = [wide > width && `${wide} px wide`, tall > LONGEST && `${tall} px tall`].filter(Boolean);
      if (faults.length > 0 && colorScheme === "light") console.log(`${name} at ${width}: ${faults.join(", ")}`);
      refused += faults.length;
      await page.close();
    }
    await context.close();
  }
}
await browser.close();
console.log(`${chosen.length * 2 * WIDTHS.length} pictures in ${relative(process.cwd(), SHOTS)}`);
process.exitCode = refused > 0 ? 1 : 0;
