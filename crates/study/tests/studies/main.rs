//! Studies: which points they have, and how they are run, kept and resumed.

mod custom;
mod expansion;
mod joining;
mod running;
mod searching;
mod support;

/// The keys of `[study]` in docs/studies.md are those of the program.
#[test]
fn the_page_has_every_key() {
    const BEGIN: &str = "--test studies renews them -->\n";
    const END: &str = "<!-- end of keys -->";
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/studies.md");
    let text = std::fs::read_to_string(page).expect("docs/studies.md");
    let begin = text.find(BEGIN).expect("the marker before the tables") + BEGIN.len();
    let end = text.find(END).expect("the marker after the tables");
    let tables = incast_experiment::scenario::study_markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let renewed = format!("{}{tables}{}", &text[..begin], &text[end..]);
        std::fs::write(page, renewed).expect("writable");
        return;
    }
    assert_eq!(&text[begin..end], tables, "UPDATE_DOCS=1 renews the tables");
}
