//! Experiments that are judged in both worlds.

use super::tests::reproduce;
use super::*;

/// The experiments with the tables that are kept in the repository.
fn repository() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

struct Silent;

impl Watch for Silent {
    fn verdict(&mut self, _: &Verdict) {}
    fn note(&mut self, _: &str) {}
}

/// The papers' testbeds: each run gives the same in the data plane, to the last bit, and kept
/// tables of both worlds are judged alike.
#[test]
fn testbeds_are_judged_in_both_worlds() {
    let both = Experiment::all().unwrap().into_iter().filter(Experiment::in_dataplane);
    let names: Vec<String> = both.map(|experiment| experiment.name).collect();
    let testbeds = ["amrt/fig11", "amrt/fig9", "decn/fig8", "decn/fig9"];
    let ren = ["ren/fig11", "ren/fig12", "ren/fig3"];
    assert_eq!(names, [&testbeds[..], &ren].concat());
    let folder = tempfile::tempdir().unwrap();
    let keep = Some(folder.path().to_path_buf());
    let options = Options { keep, threads: 1, ..Options::default() };
    let kept = Options { from_kept: true, ..options.clone() };
    for name in ["amrt/fig9", "decn/fig8"] {
        let none = reproduce(name, &kept, &mut Silent, None).unwrap();
        assert!(none.iter().all(|one| one.sets[0].dataplane.is_none()), "{none:#?}");
        let made = reproduce(name, &options, &mut Silent, None).unwrap();
        for one in &made {
            let seen = |one: &InSet| InDataPlane {
                measured: one.measured.clone(),
                verdict: one.verdict,
                equal: true,
            };
            let agrees = |one: &InSet| one.dataplane == Some(seen(one));
            assert!(one.sets.iter().all(agrees), "{one:#?}");
            assert!(one.sentence.ends_with(" The data plane gives the same."), "{one:#?}");
        }
        assert_eq!(reproduce(name, &kept, &mut Silent, None).unwrap(), made);
        let keep = Some(repository());
        let ours = reproduce(name, &Options { keep, ..kept.clone() }, &mut Silent, None).unwrap();
        assert_eq!(ours, made, "the kept tables of {name} are not what it gives now");
    }
    // A table of the data plane with another number: said so.
    let place = folder.path().join("amrt/fig9/kept/dataplane/as_published/run/amrt-1.csv");
    let text = std::fs::read_to_string(&place).unwrap();
    let line =
        text.lines().find(|line| line.starts_with("\"flow_gbps") && line.contains("8ms")).unwrap();
    let id = line.rsplit_once("\",").unwrap().0;
    std::fs::write(&place, text.replace(line, &format!("{id}\",0.1,0,"))).unwrap();
    let read = reproduce("amrt/fig9", &kept, &mut Silent, None).unwrap();
    let words = " In the data plane, as published does not hold (0.1 Gb/s).";
    assert!(read.iter().any(|one| one.sentence.ends_with(words)), "{read:#?}");
    assert!(read.iter().all(|one| one.sets[0].dataplane.as_ref().is_some_and(|own| !own.equal)));
}

/// Tables of both worlds in the repository are of the scenarios that would be run now.
#[test]
fn kept_tables_of_testbeds_are_of_their_scenarios() {
    struct Told(Vec<String>);
    impl Watch for Told {
        fn verdict(&mut self, _: &Verdict) {}
        fn note(&mut self, text: &str) {
            self.0.push(text.to_string());
        }
    }
    let options = Options { keep: Some(repository()), from_kept: true, ..Options::default() };
    for experiment in Experiment::all().unwrap().into_iter().filter(Experiment::in_dataplane) {
        let mut told = Told(vec![]);
        let name = &experiment.name;
        let read = reproduce(name, &options, &mut told, None).unwrap();
        assert_eq!(told.0, Vec::<String>::new(), "{name}");
        assert!(read.iter().all(|one| one.sets[0].dataplane.is_some()), "{name}: {read:#?}");
    }
}
