//! What every page consists of: a head with style and the charts' library, and sections with figures.

use crate::chart::{Chart, Choice};
use crate::number::escape;
use incast_charts::PACKED;

const STYLE: &str = include_str!("report.css");
/// What fits charts to narrow screens.
const SCRIPT: &str = include_str!("report.js");

/// Forbids the page, and with it the charts' library, every request; what it needs is inside.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data: blob:; font-src data:";

/// The end of a page.
pub(crate) const END: &str = "</body></html>\n";

/// A page down to its title.
pub(crate) fn head(title: &str) -> String {
    head_with(title, "")
}

/// The same with a style of its own after the common one.
pub(crate) fn head_with(title: &str, style: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}{style}</style>\n</head><body>\n\
         <h1>{title}</h1>\n<script>{}\n{SCRIPT}</script>\n",
        UNPACK.replace("PACKED", PACKED)
    )
}

/// Unpacks the charts' library, which is half as large so; `charts` is kept when it is there,
/// and what follows it waits for that. Nothing is requested: the stream reads what the page has.
const UNPACK: &str = "const charts=(async()=>{\
    if(!window.DecompressionStream)throw Error(\"the charts need a browser of 2023 or later\");\
    const packed=Uint8Array.from(atob(\"PACKED\"),(one)=>one.charCodeAt(0));\
    const whole=new Blob([packed]).stream().pipeThrough(new DecompressionStream(\"gzip\"));\
    const script=document.createElement(\"script\");\
    script.textContent=await new Response(whole).text();\
    document.head.append(script);\
    })();\
    charts.catch((error)=>document.querySelectorAll(\".figure\").forEach((one)=>{one.textContent=error.message;}));";

/// A chart with its title and caption.
pub(crate) fn section(chart: &Chart) -> String {
    let plot = chart.plotly();
    let mut layout = plot["layout"].clone();
    // The page has headings of its own, and a menu that can be read aloud and reached with keys.
    layout["title"] = serde_json::Value::Null;
    layout["autosize"] = true.into();
    layout.as_object_mut().and_then(|layout| layout.remove("updatemenus"));
    let (choice, chosen) = choice(&chart.name, &chart.choices);
    let (data, layout) = (script_json(&plot["data"]), script_json(&layout));
    let id = format!("figure-{}", chart.name);
    format!(
        "<h2>{}</h2>\n<div id=\"{id}\" class=\"figure\" style=\"height:{}px\"></div>\n\
         {choice}<script>charts.then(()=>{{Plotly.newPlot(...fitted(\"{id}\",{data},{layout}),\
         {{responsive:true,displaylogo:false,\
         modeBarButtonsToRemove:[\"select2d\",\"lasso2d\",\"autoScale2d\"]}});{chosen}}});</script>\n\
         <p class=\"caption\">{}</p>\n",
        escape(&chart.title),
        chart.height(),
        escape(&chart.caption)
    )
}

/// A choice of what the lines of a chart show: the control, and its script. None of no choices.
fn choice(name: &str, choices: &[Choice]) -> (String, String) {
    if choices.is_empty() {
        return Default::default();
    }
    let option = |(at, one): (usize, &Choice)| {
        format!("<option value=\"{at}\">{}</option>", escape(&one.name))
    };
    let options: String = choices.iter().enumerate().map(option).collect();
    let change = |one: &Choice| {
        let which: Vec<usize> = (0..one.values.len()).collect();
        serde_json::json!([{ "y": one.values }, which])
    };
    let changes = script_json(&choices.iter().map(change).collect());
    let control = format!(
        "<p class=\"choice\"><label>Port: <select id=\"choice-{name}\">{options}</select></label></p>\n"
    );
    let script = format!(
        "{{const changes={changes};document.getElementById(\"choice-{name}\")\
         .addEventListener(\"change\",event=>Plotly.restyle(\"figure-{name}\",\
         ...changes[event.target.value]))}}"
    );
    (control, script)
}

/// JSON that cannot end the script it stands in.
fn script_json(value: &serde_json::Value) -> String {
    let text = value.to_string();
    text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}
