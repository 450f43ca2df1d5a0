//! Invalid fabrics and their messages.

use incast_fabric::*;
use incast_units::{Rate, Span};
use std::collections::BTreeSet;

fn links() -> LinkDefaults {
    LinkDefaults { rate: Rate::from_gbps(10), propagation: Span::from_us(1), loss: 0.0 }
}

fn says(spec: &str) -> String {
    parse(spec, links()).expect_err(spec).to_string()
}

fn with(spec: &str, options: Options) -> String {
    parse_with(spec, links(), &options).expect_err(spec).to_string()
}

#[test]
fn topology_strings() {
    let form = "leaf-spine:<leaves>x<spines>x<hosts per leaf>, such as leaf-spine:8x8x48";
    for spec in
        ["leaf-spine:0x8x8", "leaf-spine:8x8", "leaf-spine:8x8x8x8", "leaf-spine", "leaf-spine:"]
    {
        assert!(says(spec).contains(form), "{}", says(spec));
        assert!(says(spec).contains(&format!("`{spec}`")));
    }
    assert!(says("leaf-spine:0x8x8").contains("not 0"));
    assert!(says("leaf-spine:8x8").contains("3 counts wanted, 2 given"));
    assert!(says("leaf-spine:8xax8").contains("`a` is not a whole number"));
    assert!(says("leaf-spine:8x-1x8").contains("`-1` is not a whole number"));
    assert!(says("leaf-spine:8x+1x8").contains("`+1` is not a whole number"));
    assert!(says("star:99999999999").contains("too large"));
    assert!(says("star:1").contains("minimum of 2"));
    assert!(says("fat-tree:5").contains("odd"));
    assert!(says("leafspine:8x8x8").contains("did you mean `leaf-spine`?"));
    assert!(says("Dumbell:8x8").contains("did you mean `dumbbell`?"));
    assert!(says("parkinglot:8").contains("did you mean `parking-lot`?"));
    assert!(says("fattree:8").contains("did you mean `fat-tree`?"));
    assert!(!says("hypercube:4").contains("did you mean"));
    assert!(says("hypercube:4").contains("star, dumbbell, parking-lot, leaf-spine, fat-tree"));
    assert!(says("").contains("no topology"));
}

#[test]
fn sizes_are_refused_before_they_are_built() {
    for spec in [
        "star:4000000000",
        "leaf-spine:4000000000x4000000000x4000000000",
        "fat-tree:4294967294",
        "parking-lot:4294967295",
        "dumbbell:4294967295x4294967295",
        "clos:4294967295x4294967295x4294967295x4294967295x4294967295",
    ] {
        assert!(says(spec).contains("too large"), "{}", says(spec));
    }
    assert!(says("leaf-spine:1x1x1").contains("at least 2 hosts"));
}

#[test]
fn options() {
    let ratio = |ratio| Options { oversubscription: Some(ratio), ..Options::default() };
    assert!(with("leaf-spine:2x2x2", ratio(0.0)).contains("expected a number above 0"));
    assert!(with("leaf-spine:2x2x2", ratio(f64::NAN)).contains("expected a number above 0"));
    assert!(with("leaf-spine:2x2x2", ratio(1e30)).contains("rate 0"));
    assert!(with("star:4", ratio(2.0)).contains("a star has no uplinks"));
    let both = Options { uplink_rate: Some(Rate(1)), ..ratio(2.0) };
    assert!(with("leaf-spine:2x2x2", both).contains("give one"));
    let slow = Options { uplink_propagation: Some(Span::from_secs(1001)), ..Options::default() };
    assert!(with("leaf-spine:2x2x2", slow).contains("1001s of switch0 - switch2; at most 1000s"));
    let link = |a: &str, b: &str, rate, loss| Options {
        links: vec![LinkOverride { a: a.into(), b: b.into(), rate, propagation: None, loss }],
        ..Options::default()
    };
    let spec = "leaf-spine:2x2x2";
    assert!(with(spec, link("leef0", "spine0", None, None)).contains("did you mean `leaf0`?"));
    assert!(with(spec, link("leaf9", "spine0", None, None)).contains("expected leaf0 to leaf1"));
    assert!(with(spec, link("agg0", "spine0", None, None)).contains("has no agg nodes"));
    assert!(with(spec, link("leaf", "spine0", None, None)).contains("no node `leaf`"));
    let near = with(spec, link("leef", "spine0", None, None));
    assert!(near.contains("did you mean `leaf0`?"), "{near}");
    assert!(with(spec, link("leaf0", "leaf1", None, None)).contains("no link leaf0 - leaf1"));
    assert!(with(spec, link("leaf0", "spine1", Some(Rate(0)), None)).contains("rate 0"));
    assert!(with(spec, link("leaf0", "spine1", None, Some(1.5))).contains("0 to less than 1"));
    assert!(with(spec, link("leaf0", "spine1", None, Some(f64::NAN))).contains("0 to less than 1"));
}

#[test]
fn graphs() {
    let rate = Rate::from_gbps(1);
    let mut graph = Graph::new();
    let (a, b) = (graph.add_host(), graph.add_host());
    let (s, t) = (graph.add_switch(), graph.add_switch());
    let mut try_link = |a, b, rate, loss| {
        let linked = graph.link(a, b, rate, Span::ZERO, loss);
        linked.map_err(|error| error.problem).err()
    };
    let name = |text: &str| text.to_string();
    use Problem::*;
    assert_eq!(try_link(a, b, rate, 0.0), Some(HostToHost(name("host0"), name("host1"))));
    assert_eq!(try_link(s, s, rate, 0.0), Some(SelfLink(name("switch0"))));
    assert_eq!(try_link(s, t, Rate(0), 0.0), Some(ZeroRate(name("switch0"), name("switch1"))));
    assert_eq!(try_link(s, t, rate, f64::NAN), Some(BadLoss(name("NaN"))));
    assert_eq!(try_link(s, t, rate, 1.0), Some(BadLoss(name("1"))));
    assert_eq!(try_link(s, t, rate, 1.1), Some(BadLoss(name("1.1"))));
    assert!(matches!(try_link(s, Vertex::Host(7), rate, 0.0), Some(UnknownNode(..))));
    assert_eq!(try_link(s, t, rate, 0.0), None);
    assert_eq!(try_link(t, s, rate, 0.0), Some(DuplicateLink(name("switch1"), name("switch0"))));
    assert_eq!(try_link(a, s, rate, 0.0), None);
    assert_eq!(try_link(a, t, rate, 0.0), Some(SecondHostLink(name("host0"))));
    let unlinked = graph.clone().build().unwrap_err();
    assert_eq!(unlinked.problem, UnlinkedHost(name("host1")));
    graph.link(b, t, rate, Span::ZERO, 0.0).unwrap();
    assert!(graph.clone().build().is_ok());
    graph.add_switch();
    let apart = graph.build().unwrap_err();
    assert_eq!(apart.problem, Disconnected(name("host0"), name("switch2")));
    assert_eq!(Graph::new().build().unwrap_err().problem, TooFewHosts(0));
}

#[test]
fn every_shape_is_built_from_its_example_and_names_its_counts() {
    for shape in SHAPES {
        let fabric = parse(shape.example, links()).expect(shape.name);
        assert_eq!(fabric.name(), shape.example);
        let symbols: Vec<&str> = shape.counts.iter().map(|count| count.symbol).collect();
        assert_eq!(shape.form(), format!("{}:{}", shape.name, symbols.join("x")));
        let zeros = vec!["0"; shape.counts.len()].join("x");
        let refused = says(&format!("{}:{zeros}", shape.name));
        let named = shape.counts.iter().all(|count| refused.contains(&format!("<{}>", count.what)));
        assert!(named && refused.contains(shape.example), "{refused}");
        // The message has the nearest name.
        let slip = format!("{}x:2", &shape.name[..shape.name.len() - 1]);
        let refused = says(&slip);
        assert!(refused.contains(&format!("did you mean `{}`?", shape.name)), "{refused}");
    }
    let names: BTreeSet<_> = SHAPES.iter().map(|shape| shape.name).collect();
    assert_eq!(names.len(), SHAPES.len(), "a name belongs to one shape");
}
