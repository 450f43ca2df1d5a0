import { after, test } from "node:test";
import assert from "node:assert/strict";
import { AxeBuilder } from "@axe-core/playwright";
import { ended, opened, page } from "./page.mjs";

after(ended);

const VIEWS = ["#/results/fabric?t=300000000", "#/results/flows", "#/results/flow?flow=3", "#/results/ports", "#/results/queue?port=8"];

// Colours and names are the same at every width; what is judged once in the dark is not judged in every view again.
for (const [name, options, judged] of [
  ["light", {}, VIEWS],
  ["dark, at a phone's width", { colorScheme: "dark", viewport: { width: 390, height: 844 } }, [VIEWS[0], VIEWS[2]]],
]) {
  test(`no serious fault and nothing beside the screen: ${name}`, async () => {
    const own = await opened(VIEWS[0], options);
    const theme = await own.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(theme, options.colorScheme ?? "light");
    for (const view of VIEWS) {
      await own.evaluate((hash) => { location.hash = hash; }, view);
      await own.locator("main .panel, main .table").first().waitFor();
      await own.waitForTimeout(150);
      const wide = await own.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${view} is ${wide} pixels too wide`);
      if (!judged.includes(view)) continue;
      const { violations } = await new AxeBuilder({ page: own }).options({ resultTypes: ["violations"] }).exclude("option").analyze();
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(serious.map(({ id, nodes }) => [view, id, nodes[0].html]), []);
    }
    await own.check();
  });
}

test("the theme is chosen and kept", async () => {
  const own = await page({ colorScheme: "light" });
  await own.getByRole("button", { name: "Dark" }).click();
  const paper = await own.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(paper, "rgb(20, 24, 29)");
  await own.reload();
  await own.getByRole("button", { name: "Light" }).waitFor();
  await own.check();
});
