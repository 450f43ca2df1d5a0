use super::*;

fn set(name: &str) -> Set {
    Set { name: name.into(), assumes: "one path per flow".into(), ..Set::published() }
}

fn judged(measured: &str, word: Word) -> Judgement {
    Judgement { paper: String::new(), accepted: String::new(), measured: measured.into(), word }
}

#[test]
fn a_verdict_is_one_sentence_over_sets() {
    let published = || (set(PUBLISHED), judged("25 % higher", Word::Differs));
    let compared = (set("as_compared"), judged("40 % lower", Word::Matches));
    assert_eq!(
        sentence("41 % lower", &[published(), compared], 2),
        "Holds as compared (40 % lower); does not hold as published (25 % higher); \
         paper: 41 % lower. As compared means one path per flow."
    );
    assert_eq!(
        sentence("41 % lower", &[published()], 2),
        "Does not hold as published (25 % higher); paper: 41 % lower."
    );
    let other = (set("sensitivity/host_links"), judged("2 % higher", Word::Differs));
    assert_eq!(
        sentence("41 % lower", &[published(), other], 2),
        "Holds in none of 2 sets: does not hold as published (25 % higher); paper: 41 % lower."
    );
    // What a sensitivity assumes is said where a claim holds in it alone.
    let with = |name: &str, word| (set(name), judged("2 % higher", word));
    let (links, mtu) = ("sensitivity/host_links", "sensitivity/mtu");
    let others = |one| {
        let others = [with(links, Word::Matches), with(mtu, Word::CannotBeJudged)];
        sentence("", &[&[one][..], &others[..]].concat(), 4)
    };
    assert_eq!(
        others(published()),
        "Does not hold as published (25 % higher). Sensitivities: holds with `host_links`; \
         cannot be judged with `mtu`. With `host_links` means one path per flow."
    );
    assert_eq!(
        others((set(PUBLISHED), judged("40 % lower", Word::Matches))),
        "Holds as published (40 % lower). Sensitivities: holds with `host_links`; cannot be \
         judged with `mtu`."
    );
    // Or where it turns a verdict that the paper's sets agree on.
    let turned = |second: Word| {
        let papers = [with(PUBLISHED, Word::Matches), with("as_compared", second)];
        let other = (set(links), judged("2 % higher (1 of 3 seeds)", Word::Differs));
        let text = sentence("", &[&papers[..], &[other]].concat(), 3);
        assert!(text.contains("does not hold with `host_links` (1 of 3 seeds)."), "{text}");
        text.ends_with(" With `host_links` means one path per flow.")
    };
    assert!(turned(Word::Matches) && turned(Word::CannotBeJudged) && turned(Word::NotRun));
    assert!(!turned(Word::Differs));
    assert_eq!(
        sentence("", &[with(links, Word::Differs), with(mtu, Word::Differs)], 4),
        "Does not hold with `host_links` (2 % higher), `mtu` (2 % higher)."
    );
    // An undecided set, and a set that was not asked for, may hold.
    let wide = (set("as_compared"), judged("2 ± 9 % lower", Word::CannotBeJudged));
    for (sets, declared) in [(vec![published(), wide], 2), (vec![published(); 2], 3)] {
        let text = sentence("41 % lower", &sets, declared);
        assert!(!text.contains("none of"), "{text}");
    }
    let missing = (set("as_compared"), judged("", Word::NotRun));
    assert_eq!(
        sentence("", &[published(), missing], 2),
        "Does not hold as published (25 % higher); not run as compared."
    );
    let alone = [(set(PUBLISHED), judged("0.5", Word::Matches))];
    assert_eq!(sentence("", &alone, 1), "Holds (0.5) (both sets are the same run).");
}

#[test]
fn a_set_of_any_world_is_found_and_knows_its_assumptions() {
    let sets = [set(PUBLISHED), set("sensitivity/host_links")];
    let find = |name: &str| sets.iter().flat_map(in_worlds).find(|set| set.name == name);
    for own in &sets {
        let all = in_worlds(own);
        assert_eq!(all.len(), 5);
        for one in all {
            assert_eq!(one.of_simulator(), own.name, "{}", one.name);
            assert_eq!(find(&one.name).unwrap().overrides(), one.overrides());
        }
    }
    let real = find("real-time/paced/sensitivity/host_links").unwrap();
    assert_eq!(real.overrides(), ["run.world=dataplane", "dataplane.clock=paced"]);
    assert!(find("real-time/virtual/as_published").is_none());
}

#[test]
fn a_set_departs_from_its_base() {
    let departure = |key: &str| Departure {
        key: key.into(),
        value: toml::Value::Integer(3),
        reason: "r".into(),
        source: "s".into(),
    };
    let of = |name: &str, base: Option<&str>, key: &str| Set {
        base: base.map(Into::into),
        departures: vec![departure(key)],
        ..set(name)
    };
    let compared = || of("as_compared", None, "run.seed");
    let sensitive = |base: &str, key: &str| of("sensitivity/two", Some(base), key);
    // A base may stand behind the set, and comes first.
    let mut sets = [sensitive("as_compared", "traffic.0.load"), compared()];
    inherit(&mut sets).unwrap();
    assert_eq!(sets[0].overrides(), ["run.seed=3", "traffic.0.load=3"]);
    assert_eq!(sets[1].overrides(), ["run.seed=3"]);
    let wrong = |base: &str, key: &str| {
        inherit(&mut [compared(), sensitive(base, key)]).unwrap_err().to_string()
    };
    let unknown = wrong("as_comparde", "traffic.0.load");
    assert!(unknown.contains("sensitivity/two") && unknown.contains("mean `as_compared`"));
    let own = wrong("sensitivity/two", "traffic.0.load");
    assert!(own.contains("without a base: as_compared"), "{own}");
    let both = wrong("as_compared", "run.seed");
    assert!(both.contains("run.seed is that of its base"), "{both}");
}

#[test]
fn names_of_sets_are_checked() {
    let wrong = set("as_we_like").check().unwrap_err().to_string();
    assert!(wrong.contains("as_we_like") && wrong.contains("sensitivity/"), "{wrong}");
    assert!(set("as_compared").check().unwrap_err().to_string().contains("nothing"));
    set(PUBLISHED).check().unwrap();
}
