
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
  if (window.innerWidth < 640) {
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
