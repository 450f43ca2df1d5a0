
"use strict";
// Small multiples side by side as the page is wide, colours as the reader's screen is, texts to copy.
const figures = [...document.querySelectorAll(".figure")];
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const span = (at, of, gap) => {
  const each = (1 - gap * (of - 1)) / of, from = at * (each + gap);
  return [from, Math.min(1, from + each)];
};
function arrange(figure, night, width) {
  const { facets, x, y, row, rest } = figure.layout.meta;
  const most = width < 620 ? 1 : width < 900 || facets === 2 || facets === 4 ? 2 : 3;
  const columns = Math.min(facets, most), rows = Math.ceil(facets / columns);
  const ink = night ? "#d8dbe0" : "#1a1a1a", grid = night ? "#33373f" : "#e4e4e4";
  const names = new Set(figure.data.filter((trace) => trace.showlegend).map((trace) => trace.name));
  const letters = [...names].reduce((sum, name) => sum + name.length + 8, 0);
  const lines = Math.ceil((letters * 8) / Math.max(200, width - 90));
  const change = {
    width, height: rows * row + rest + 20 * (lines - 1), autosize: false, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    "font.color": ink, "modebar.bgcolor": "rgba(0,0,0,0)", "modebar.color": "#9aa0a8", "modebar.activecolor": ink, "legend.y": 1 + 26 / (rows * row - 30), "margin.t": 46 + 20 * lines,
    "margin.l": width < 620 ? 52 : 70,
  };
  for (let at = 0; at < facets; at++) {
    const id = at ? at + 1 : "", column = at % columns, line = Math.floor(at / columns);
    change[`xaxis${id}.domain`] = span(column, columns, 0.07);
    change[`yaxis${id}.domain`] = span(rows - 1 - line, rows, 78 / (rows * row));
    change[`xaxis${id}.title.text`] = at + columns >= facets ? x : "";
    change[`yaxis${id}.title.text`] = column ? "" : y;
    for (const axis of ["xaxis", "yaxis"]) {
      change[`${axis}${id}.gridcolor`] = grid;
      change[`${axis}${id}.linecolor`] = night ? "#8b919c" : "#444444";
    }
  }
  figure.style.height = `${change.height}px`;
  Plotly.relayout(figure, change);
  figure.data.forEach((trace, at) => {
    // Black lines would vanish at night.
    if (["#000000", "#f2f2f2"].includes(trace.line.color)) {
      const colour = night ? "#f2f2f2" : "#000000", parts = { "line.color": colour, "marker.color": colour };
      Plotly.restyle(figure, trace.error_y ? { ...parts, "error_y.color": colour } : parts, [at]);
    }
  });
}
const draw = (night, width) => figures.forEach((figure) => arrange(figure, night, width || figure.clientWidth));
let last = 0;
window.addEventListener("resize", () => {
  if (innerWidth !== last) { last = innerWidth; draw(dark.matches); }
});
dark.addEventListener("change", () => draw(dark.matches));
window.addEventListener("beforeprint", () => draw(false, 700));
window.addEventListener("afterprint", () => draw(dark.matches));
draw(dark.matches);
document.querySelectorAll(".copy button").forEach((button) => button.addEventListener("click", () => {
  const range = document.createRange();
  range.selectNodeContents(button.nextElementSibling);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  button.textContent = document.execCommand("copy") ? "Copied" : "Selected: copy it with the keyboard";
}));
