
/* On a narrow screen the legend goes below the chart, which grows by it. */
function fitted(id, data, layout) {
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
