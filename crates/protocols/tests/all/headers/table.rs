//! The part of the dissector that is generated from the declared views.

use incast_protocols::CATALOGUE;
use incast_transport::{HeaderView, Info};
use incast_wire::LAYOUTS;
use std::fmt::Write;
use std::path::PathBuf;

/// Every transport with its packets, by id.
pub fn transports() -> Vec<(&'static Info, &'static [HeaderView])> {
    let infos = CATALOGUE.iter().map(|entry| entry.info());
    let mut all: Vec<_> = infos.map(|info| (info, info.headers)).collect();
    all.sort_by_key(|(info, _)| info.id);
    all
}

/// Removes the final full stop of a description, if there is one.
fn sentence(doc: &str) -> &str {
    doc.trim().trim_end_matches('.')
}

/// The tables of the dissector.
fn lua() -> String {
    let mut text = String::from("local layouts = {\n");
    for layout in LAYOUTS.iter().filter(|layout| layout.name != "Pause") {
        let mut first = 0;
        write!(text, "    [{}] = {{ {:?}, {{", layout.kind, layout.name).unwrap();
        for (name, width) in layout.fields {
            write!(text, " {{ {name:?}, {first}, {width} }},").unwrap();
            first += width;
        }
        text.push_str(" } },\n");
    }
    text.push_str("}\nlocal transports = {\n");
    for (info, views) in transports() {
        writeln!(text, "    [{}] = {{ name = {:?}, views = {{", info.id.0, info.name).unwrap();
        views.iter().for_each(|view| lua_view(&mut text, view));
        text.push_str("    }");
        if let Some(view) = views.iter().find(|view| !view.codes.is_empty()) {
            text.push_str(", codes = {\n");
            for code in view.codes {
                let (mark, name, doc) = (code.mark, code.name, sentence(code.doc));
                writeln!(text, "        [{mark}] = {{ {name:?}, {doc:?} }},").unwrap();
            }
            text.push_str("    }");
        }
        text.push_str(" },\n");
    }
    text.push_str("}\n");
    text
}

fn lua_view(text: &mut String, view: &HeaderView) {
    let HeaderView { name, kind, set, clear, .. } = *view;
    writeln!(text, "        {{ name = {name:?}, text = {:?},", sentence(view.doc)).unwrap();
    write!(text, "            kind = {kind}, set = {set}, clear = {clear}").unwrap();
    if let Some(payload) = view.payload {
        write!(text, ", payload = {payload}").unwrap();
    }
    if !view.codes.is_empty() {
        text.push_str(", coded = true");
    }
    text.push_str(", fields = {\n");
    for field in view.fields() {
        let (offset, width, bit) = (field.offset, field.width, field.bit);
        let (unit, doc) = (field.unit, sentence(field.doc));
        writeln!(
            text,
            "            {{ {:?}, {offset}, {width}, {bit}, {unit:?}, {doc:?} }},",
            field.name
        )
        .unwrap();
    }
    text.push_str("        } },\n");
}

/// Compares the part of the dissector between two lines with the declarations, or regenerates it.
fn agree(begin: &str, end: &str, declared: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/wireshark/incast.lua");
    let text = std::fs::read_to_string(&path).expect("readable");
    let begin = text.find(begin).expect("the line before") + begin.len();
    let begin = begin + text[begin..].find('\n').expect("a line") + 1;
    let end = begin + text[begin..].find(end).expect("the line behind");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let renewed = format!("{}{declared}{}", &text[..begin], &text[end..]);
        std::fs::write(&path, renewed).expect("writable");
        return;
    }
    const HINT: &str =
        "UPDATE_DOCS=1 cargo test -p incast-protocols --test all headers:: renews it";
    for (number, (found, declared)) in text[begin..end].lines().zip(declared.lines()).enumerate() {
        assert_eq!(found, declared, "line {number} of the generated part; {HINT}");
    }
    assert_eq!(&text[begin..end], declared, "{HINT}");
}

#[test]
fn the_dissector_has_the_declared_headers() {
    agree("-- begin of declared headers", "-- end of declared headers", &lua());
}

#[test]
fn a_transport_declares_one_set_of_codes() {
    for (info, views) in transports() {
        let mut coded = views.iter().filter(|view| !view.codes.is_empty());
        let first = coded.next().map(|view| view.codes);
        assert!(coded.all(|view| Some(view.codes) == first), "{}", info.name);
        let own = info.ecn == incast_transport::EcnUse::OwnCode;
        assert_eq!(first.is_some(), own, "{}: codes of its own are declared", info.name);
    }
}
