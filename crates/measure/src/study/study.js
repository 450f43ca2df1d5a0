
"use strict";
// Small multiples side by side as the page is wide, texts to copy.
const figures = [...document.querySelectorAll(".figure")];
const span = (at, of, gap) => {
  const each = (1 - gap * (of - 1)) / of, from = at * (each + gap);
  return [from, Math.min(1, from + each)];
};
// On paper a figure must fit the page.
const PAPER = 700, TALLEST = 760;
function arrange(figure, width) {
  const { facets, x, y, rest, row: usual } = figure.layout.meta;
  const most = width < 620 ? 1 : width < 900 || facets === 2 || facets === 4 ? 2 : 3;
  const columns = Math.min(facets, most), rows = Math.ceil(facets / columns);
  const row = width === PAPER ? Math.min(usual, Math.floor((TALLEST - rest) / rows)) : usual;
  const names = new Set(figure.data.filter((trace) => trace.showlegend).map((trace) => trace.name));
  const letters = [...names].reduce((sum, name) => sum + name.length + 8, 0);
  const lines = Math.ceil((letters * 8) / Math.max(200, width - 90));
  const change = {
    width, height: rows * row + rest + 20 * (lines - 1), autosize: false, "legend.y": 1 + 26 / (rows * row - 30), "margin.t": 46 + 20 * lines,
    "margin.l": width < 620 ? 52 : 70,
  };
  for (let at = 0; at < facets; at++) {
    const id = at ? at + 1 : "", column = at % columns, line = Math.floor(at / columns);
    change[`xaxis${id}.domain`] = span(column, columns, 0.07);
    change[`yaxis${id}.domain`] = span(rows - 1 - line, rows, 78 / (rows * row));
    change[`xaxis${id}.title.text`] = at + columns >= facets ? x : "";
    change[`yaxis${id}.title.text`] = column ? "" : y;
  }
  figure.style.height = `${change.height}px`;
  Plotly.relayout(figure, change);
}
const draw = (width) => figures.forEach((figure) => arrange(figure, width || figure.clientWidth));
let last = 0;
window.addEventListener("resize", () => {
  if (innerWidth !== last) { last = innerWidth; draw(); }
});
window.addEventListener("beforeprint", () => draw(PAPER));
window.addEventListener("afterprint", () => draw());
draw();
document.querySelectorAll(".copy button").forEach((button) => button.addEventListener("click", () => {
  const range = document.createRange();
  range.selectNodeContents(button.nextElementSibling);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  button.textContent = document.execCommand("copy") ? "Copied" : "Selected: copy it with the keyboard";
}));
