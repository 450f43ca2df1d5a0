//! A figure: what Plotly draws, with its title and caption.

use plotly::Plot;
use serde_json::Value;

/// A picture with what it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name, fit for a file: `slowdown_by_size`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What is shown, in a sentence or two; plain text.
    pub caption: String,
    /// Height on the page in pixels.
    pub height: usize,
    /// The Plotly figure: an object with `data` and `layout`.
    pub plot: Value,
}

impl Figure {
    pub(crate) fn new(
        name: &str,
        title: &str,
        caption: String,
        height: usize,
        plot: &Plot,
    ) -> Figure {
        let mut value = serde_json::to_value(plot).expect("a figure becomes JSON");
        if let Value::Object(object) = &mut value {
            // Other readers do not know the configuration, and no figure moves.
            object.remove("config");
            object.remove("frames");
        }
        let (name, title) = (name.to_string(), title.to_string());
        Figure { name, title, caption, height, plot: value }
    }
}
