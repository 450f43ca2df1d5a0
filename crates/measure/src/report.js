
const dark = window.matchMedia("(prefers-color-scheme: dark)");

/* Colours that would vanish at night, by day and by night. */
const INKS = [["#000000", "#f2f2f2"], ["#444444", "#b4b9c1"], ["#777777", "#9aa0a8"], ["#e4e4e4", "#33373f"], ["#ffffff", "#16181c"]];

/* Colours of a chart for day or night, in place. Every part keeps its hue; ink and paper change sides. */
function tint(data, layout, night) {
  const changed = (colour) => {
    const pair = typeof colour === "string" && INKS.find((inks) => inks.includes(colour.toLowerCase()));
    return pair ? pair[night ? 1 : 0] : colour;
  };
  const walk = (part) => {
    if (part === null || typeof part !== "object" || ArrayBuffer.isView(part)) return;
    for (const [key, value] of Object.entries(part)) {
      if (/color$/.test(key)) part[key] = Array.isArray(value) ? value.map(changed) : changed(value);
      else if (!/^(x|y|text|customdata|meta)$/.test(key)) walk(value);
    }
  };
  walk(data);
  walk(layout);
  const ink = night ? "#d8dbe0" : "#1a1a1a";
  layout.font = { ...layout.font, color: ink };
  layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: "#9aa0a8", activecolor: ink };
}

/* Draws all charts again in the colours of day or night. */
function shade(night) {
  for (const figure of document.querySelectorAll(".figure")) {
    if (!figure.layout) continue;
    tint(figure.data, figure.layout, night);
    Plotly.react(figure, figure.data, figure.layout);
  }
}
dark.addEventListener("change", () => shade(dark.matches));
window.addEventListener("beforeprint", () => shade(false));
window.addEventListener("afterprint", () => shade(dark.matches));

/* On a narrow screen the legend goes below the chart, which grows by it. */
function fitted(id, data, layout) {
  tint(data, layout, dark.matches);
  if (layout.meta?.facets) {
    layout.autosize = false;
    layout.width = document.getElementById(id).clientWidth;
  } else if (window.innerWidth < 640) {
    const shown = data.filter(trace => trace.showlegend !== false).length;
    const box = document.getElementById(id);
    const below = 26 * shown + 20;
    const height = parseInt(box.style.height, 10);
    box.style.height = height + below + "px";
    layout.height = height + below;
    layout.legend = { ...layout.legend, orientation: "h", x: 0, xanchor: "left",
      y: 0, yref: "container", yanchor: "bottom" };
    layout.margin = { l: 48, r: 10, t: 16, b: 54 + below };
    layout.font = { ...layout.font, size: 12 };
  }
  return [id, data, layout];
}

/* Small multiples side by side as the page is wide. */
const span = (at, of, gap) => {
  const each = (1 - gap * (of - 1)) / of, from = at * (each + gap);
  return [from, Math.min(1, from + each)];
};
/* On paper a figure must fit the page. */
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
const draw = (width) => document.querySelectorAll(".figure").forEach((figure) => {
  if (figure.layout?.meta?.facets) arrange(figure, width || figure.clientWidth);
});
let last = 0;
window.addEventListener("resize", () => {
  if (innerWidth !== last) { last = innerWidth; draw(); }
});
window.addEventListener("beforeprint", () => draw(PAPER));
window.addEventListener("afterprint", () => draw());
window.addEventListener("load", () => charts.then(() => draw()));
