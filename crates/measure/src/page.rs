//! What every page consists of: a head with style and the charts' library, and sections with figures.

use crate::figures::Figure;
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

/// A figure with its title and caption.
pub(crate) fn section(figure: &Figure) -> String {
    let Figure { name, title, caption, height, plot } = figure;
    let mut layout = plot["layout"].clone();
    // The page has headings of its own.
    layout["title"] = serde_json::Value::Null;
    layout["autosize"] = true.into();
    // A menu of the page's own can be read aloud and reached with keys.
    let menu = layout.as_object_mut().and_then(|layout| layout.remove("updatemenus"));
    let (choice, chosen) =
        menu.map_or_else(Default::default, |menu| choice(name, &menu[0]["buttons"]));
    let (data, layout) = (script_json(&plot["data"]), script_json(&layout));
    let id = format!("figure-{name}");
    // Titles of figures are escaped already where they contain a label: they are Plotly's markup.
    format!(
        "<h2>{title}</h2>\n<div id=\"{id}\" class=\"figure\" style=\"height:{height}px\"></div>\n\
         {choice}<script>charts.then(()=>{{Plotly.newPlot(...fitted(\"{id}\",{data},{layout}),\
         {{responsive:true,displaylogo:false,\
         modeBarButtonsToRemove:[\"select2d\",\"lasso2d\",\"autoScale2d\"]}});{chosen}}});</script>\n\
         <p class=\"caption\">{}</p>\n",
        escape(caption)
    )
}

/// A choice of what the lines of a figure show, from Plotly's buttons: the control, and its script.
fn choice(name: &str, buttons: &serde_json::Value) -> (String, String) {
    let buttons = buttons.as_array().map_or(&[][..], Vec::as_slice);
    let option = |(at, button): (usize, &serde_json::Value)| {
        // Labels of buttons are escaped already: they are Plotly's markup.
        format!("<option value=\"{at}\">{}</option>", button["label"].as_str().unwrap_or(""))
    };
    let options: String = buttons.iter().enumerate().map(option).collect();
    let changes: Vec<_> = buttons.iter().map(|button| &button["args"]).collect();
    let changes = script_json(&serde_json::json!(changes));
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
