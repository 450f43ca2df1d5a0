use super::*;
use incast_experiment::{Plan, Scenario, execute};
use incast_measure::Run;
use incast_measure::measured::{MeasuredValue, Wanted};
use incast_transport::{Span, Time};

/// A run of 1,200 flows between eight hosts.
pub(crate) fn run_of(load: f64, seed: u64) -> Run {
    let text = format!(
        "[run]\nseed = {seed}\n[fabric]\ntopology = \"leaf-spine:2x2x4\"\n\
         [transport]\nnames = [\"trd\"]\n[[traffic]]\nkind = \"poisson\"\n\
         workload = \"ali_storage\"\nload = {load}\nflows = 1200\n"
    );
    let plan = Plan::new(Scenario::parse(&text, "test", &[]).unwrap()).unwrap();
    let monitor = incast_world::Monitor::default();
    execute(&plan, &plan.cases[0], vec![], 1, &monitor).unwrap().0
}

/// The folder of the repository with its kept tables.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

/// Changes the kept table of a run.
pub(crate) fn change(folder: &Path, address: &Address, how: impl FnOnce(&mut KeptTable)) {
    let store = Store::at(folder);
    let mut table = store.table(address).unwrap().expect("it was kept");
    how(&mut table);
    store.keep(address, &table).unwrap();
}

/// A run with seed 1.
pub(crate) fn address(experiment: &str, set: &str, run: &str, transport: &str) -> Address {
    let [experiment, set, run, transport] = [experiment, set, run, transport].map(String::from);
    Address { experiment, set, run, transport, seed: 1 }
}

fn quick() -> Options {
    Options { quick: true, threads: 1, ..Options::default() }
}

struct Silent;

impl Watch for Silent {
    fn verdict(&mut self, _: &Verdict) {}
    fn note(&mut self, _: &str) {}
}

/// Reproduces on this thread.
pub fn reproduce(
    name: &str,
    options: &Options,
    watch: &mut dyn Watch,
    folder: Option<&Path>,
) -> Result<Vec<Verdict>, Fault> {
    Reproduction::of(name, options, folder)?.run(&Arc::default(), watch)
}

/// What grows with the open flows is not judged of a run that never balances; the number is
/// still said.
#[test]
fn without_balance_a_number_is_said_and_not_judged() {
    let judged = |kind: &str, steady: f64| {
        let text = format!(
            "text = 't'\nmeasure.kind = '{kind}'\nmeasure.port = 'a->b'\ntransport = 'a'\n\
             max = 5\n"
        );
        let claim: Claim = toml::from_str(&text).unwrap();
        let of = |value| MeasuredValue { value: Some(value), ..MeasuredValue::default() };
        let row = [(claim.measure.id(), of(4.0)), (Wanted::Balance.id(), of(steady))];
        let mut results = Results::new("x".into(), 1, false);
        results.add("x", "a", 1, row.into_iter().collect());
        claim.judge(&results)
    };
    for kind in ["backlog_mean_kb", "utilisation", "feedback_age_us", "fct_mean_us"] {
        assert_eq!(judged(kind, 1.0).word, Word::Matches, "{kind}");
        let unsteady = judged(kind, 0.0);
        assert_eq!(unsteady.word, Word::CannotBeJudged, "{kind}");
        assert!(unsteady.measured.starts_with('4'), "{}", unsteady.measured);
        assert!(unsteady.measured.ends_with(", but a never reaches balance (x)"));
    }
    assert_eq!(judged("drops", 0.0).word, Word::Matches);
}

/// The second half of the arrivals: neither the filling of the network nor its emptying.
#[test]
fn half_is_the_second_half_of_the_arrivals() {
    let run = run_of(0.4, 1);
    let text = "kind = 'utilisation'\nport = 'leaf*->host*'\n";
    let half: Measure = toml::from_str(&format!("{text}half = true\n")).unwrap();
    assert!(half.id().ends_with(" half=true"), "{}", half.id());
    let (from, to) = half.window(&run);
    let starts = || run.record.flows.iter().filter_map(|flow| flow.started);
    let (first, last) = (starts().min().unwrap(), starts().max().unwrap());
    assert_eq!(to, last);
    assert!((from.0 - first.0).abs_diff((last.0 - first.0) / 2) <= 1, "{from} {first} {last}");
    let whole: Measure = toml::from_str(text).unwrap();
    assert!(half.of(&run).unwrap() > whole.of(&run).unwrap());
    let both: Measure = toml::from_str(&format!("{text}half = true\nto = '1us'\n")).unwrap();
    let ports = ["leaf0->host0".to_string()];
    assert!(both.check(&ports, 0, &[]).unwrap_err().contains("`half`"));
}

#[test]
fn a_window_may_begin_when_a_flow_completes() {
    let mut run = run_of(0.4, 1);
    let port = "kind = 'utilisation'\nport = 'leaf*->host*'\n";
    let read = |more: &str| -> Measure { toml::from_str(&format!("{port}{more}")).unwrap() };
    let after = read("after = 7\nfrom = '1us'\nto = '3us'\n");
    assert!(after.id().ends_with("from=1us to=3us after=7"), "{}", after.id());
    let completed = run.record.flows[7].completed.unwrap();
    assert_eq!(after.window(&run), (completed + Span::from_us(1), completed + Span::from_us(3)));
    assert_eq!(read("after = 7").window(&run), (completed, run.record.ended));
    run.record.flows[7].completed = None;
    assert_eq!(after.of(&run), None);
    assert_eq!(read("after = 7").of(&run), None);
    let ports = ["leaf0->host0".to_string()];
    assert!(after.check(&ports, 8, &[]).is_ok());
    assert!(after.check(&ports, 7, &[]).unwrap_err().contains("no flow 7"));
    assert!(read("half = true\nafter = 7").check(&ports, 8, &[]).unwrap_err().contains("`after`"));
    let of_flows: Measure = toml::from_str("kind = 'fct_mean_us'\nafter = 7").unwrap();
    assert!(of_flows.check(&ports, 8, &[]).unwrap_err().contains("fct_mean_us has none"));
    let drops = "kind = 'drops'\nport = 'leaf*->host*'\n";
    let drops = |more: &str| -> Measure { toml::from_str(&format!("{drops}{more}")).unwrap() };
    assert_eq!((drops("after = 7").of(&run), drops("").of(&run).is_some()), (None, true));
    let rate: Measure =
        toml::from_str("kind = 'flow_gbps'\nflow = 0\nafter = 1\nto = '200us'").unwrap();
    assert!(rate.check(&ports, 8, &[]).is_ok());
    let rate_when = |run: &mut Run, completed| {
        run.record.flows[0].completed = Some(completed);
        rate.of(run).is_some()
    };
    let (_, to) = rate.window(&run);
    let (late, early) = (to + Span::from_us(1), to.since(Time(1_000_000)));
    assert_eq!([late, Time(early.0)].map(|at| rate_when(&mut run, at)), [true, false]);
    let panel = "title = 't'\nx = 'x'\ny = 'y'\nstep = '1us'\n\
                 measure = { kind = 'utilisation', port = 'x', after = 7 }";
    let panel: panel::Panel = toml::from_str(panel).unwrap();
    assert!(panel.check().unwrap_err().to_string().contains("no `after`"));
}

#[test]
fn every_experiment_can_be_planned_full_and_quick_in_every_set() {
    let all = Experiment::all().unwrap_or_else(|fault| panic!("{fault}"));
    assert!(!all.is_empty());
    for experiment in &all {
        let Experiment { name, expected } = experiment;
        let equations = expected.model.as_ref().map_or(0, |model| model.claims.len());
        assert!(expected.claims.len() + equations > 0, "{name} claims nothing");
        if let Some(model) = &expected.model {
            model.check().unwrap_or_else(|fault| panic!("{name}: {fault}"));
        }
        assert!(repository().join(name).join("README.md").is_file(), "{name} has no README.md");
        if expected.claims.is_empty() {
            continue;
        }
        for (set, quick) in experiment.sets().iter().flat_map(|set| [(set, false), (set, true)]) {
            let plans = experiment.runs().into_iter().map(|run| {
                let planned = experiment.plan(&run, set, None, quick);
                let planned = planned.unwrap_or_else(|fault| panic!("{name}: {fault}"));
                (run, planned)
            });
            let plans: Vec<_> = plans.collect();
            for claim in &expected.claims {
                claim.check(&plans).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            }
            for panel in &expected.panels {
                let places = experiment.places(panel);
                assert!(!places.is_empty(), "{name}: {} shows nothing", panel.title);
                let known = |place: &panel::Place| plans.iter().any(|one| one.0 == place.run);
                assert!(places.iter().all(known), "{name}: {}", panel.title);
                let drawn = |name: &String| {
                    let of = plans.iter().filter(|one| places.iter().any(|at| at.run == one.0));
                    of.flat_map(|one| &one.1.cases).any(|case| case.label == *name)
                };
                let all = panel.transports.iter().all(drawn);
                assert!(all, "{name}: {}: {:?}", panel.title, panel.transports);
            }
        }
    }
}

/// Finite runs have the flows of their name, all of them counted, and no transport or key that there is
/// none of.
#[test]
fn finite_runs_can_be_planned_in_every_set() {
    let mut planned = 0;
    for experiment in Experiment::all().unwrap() {
        for set in experiment.finite().into_iter().map(|(_, lengths)| lengths[0].clone()) {
            for run in experiment.runs_in(&set) {
                let named =
                    |fault| -> Plan { panic!("{}, {}: {fault}", experiment.name, set.name) };
                let mut scenario = experiment.scenario(&run, &set, None, false).unwrap();
                let names = scenario.transport.names.iter().map(|name| set.in_place_of(name));
                let mut names: Vec<String> = names.map(str::to_string).collect();
                names.dedup();
                scenario.transport.names = names;
                assert_eq!(scenario.run.warmup.0, Some(0.0));
                let plan = Plan::new(scenario).unwrap_or_else(named);
                assert_eq!(Some(plan.traffic.flows.len() as u64), set.flows, "{}", set.name);
                planned += 1;
            }
        }
    }
    assert!(planned > 20, "{planned}");
}

/// Every claim quotes the paper, or says that it is ours; every departure has its source.
#[test]
fn claims_quote_the_paper_and_departures_their_source() {
    for experiment in Experiment::all().unwrap() {
        let Experiment { name, expected, .. } = &experiment;
        for claim in &expected.claims {
            let quote = claim.quote.as_ref().unwrap_or(&expected.quote);
            assert!(claim.ours || !quote.is_empty(), "{name}: `{}` quotes nothing", claim.text);
            let doubtful = claim.ours && (claim.paper.is_some() || claim.quote.is_some());
            assert!(!doubtful, "{name}: `{}` is ours and the paper's", claim.text);
        }
        for set in experiment.sets() {
            assert!(!set.assumes.is_empty(), "{name}: {}", set.name);
            for one in &set.departures {
                assert!(!one.reason.is_empty() && !one.source.is_empty(), "{name}: {}", one.key);
            }
        }
    }
}

/// The paper's number stands in the words that are quoted, or the claim says how it follows.
#[test]
fn numbers_of_papers_are_in_their_words() {
    let (mut checked, mut wrong) = (0, vec![]);
    for Experiment { name, expected, .. } in Experiment::all().unwrap() {
        for claim in &expected.claims {
            let numbers = match claim.paper {
                None => continue,
                Some(band::Printed::One(number)) => vec![number],
                Some(band::Printed::Range(both)) => both.to_vec(),
            };
            let words = claim.quote.as_ref().unwrap_or(&expected.quote).clone() + &claim.because;
            let parts = words.split(|c: char| !c.is_ascii_digit() && c != '.');
            let said: Vec<f64> =
                parts.filter_map(|one| one.trim_end_matches('.').parse().ok()).collect();
            // Milliseconds of the paper are measured in microseconds.
            let found = |number: &f64| {
                said.iter().any(|one| one == number || (one * 1000.0 - number).abs() < 1e-6)
            };
            checked += 1;
            if !numbers.iter().all(found) {
                wrong.push(format!("{name}: {}: {numbers:?}", claim.text));
            }
        }
    }
    assert!(wrong.is_empty() && checked > 50, "{checked} checked: {wrong:#?}");
}

#[test]
fn equations_match_their_papers() {
    let (mut judged, mut wrong) = (0, vec![]);
    for Experiment { name, expected, .. } in Experiment::all().unwrap() {
        let Some(model) = &expected.model else { continue };
        let values = curves(&name, &expected.title, model, &quick(), None);
        let values = values.unwrap_or_else(|fault| panic!("{fault}"));
        for claim in &model.claims {
            let seen = claim.judge(&values);
            if seen.word != Word::Matches {
                wrong.push(format!("{name}: {}: {seen:?}", claim.text));
            }
            judged += 1;
        }
    }
    assert!(wrong.is_empty() && judged > 50, "{judged} judged: {wrong:#?}");
}

#[test]
fn unknown_names_suggest_known_ones() {
    let fault = reproduce("ren/fig33", &quick(), &mut Silent, None).unwrap_err();
    assert!(fault.to_string().contains("did you mean `ren/fig3`?"), "{fault}");
    let assuming = vec!["as_compare".to_string()];
    let options = Options { assuming, ..quick() };
    let fault = reproduce("ren", &options, &mut Silent, None).unwrap_err();
    assert!(fault.to_string().contains("did you mean `as_compared`?"), "{fault}");
    let none = Options { keep: Some("no such folder".into()), from_kept: true, ..quick() };
    let fault = reproduce("ren", &none, &mut Silent, None).unwrap_err().to_string();
    assert!(fault.contains("--keep") && fault.contains("no such folder"), "{fault}");
}

/// A figure without sets of its own is the same run in `as_published` and `as_compared`.
#[test]
fn a_figure_with_one_set_is_part_of_every_choice_of_sets() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        assuming: vec!["as_compared".into()],
        keep: Some(folder.path().into()),
        from_kept: true,
        ..Options::default()
    };
    let verdicts = reproduce("ren/fig3", &options, &mut Silent, None).unwrap();
    assert!(verdicts.len() > 10 && verdicts.iter().all(|one| one.sets.len() == 1));
}

/// The summary is what the tables give (`UPDATE_DOCS=1` writes it), and every page stands on them. Their
/// sentences are those of `incast reproduce`: both judge the same sets and seeds.
#[test]
fn pages_and_tables_agree() {
    let made = pages(&Store::at(&repository())).unwrap();
    let page = |name: &str| made.iter().find(|page| page.name == name).expect("a page");
    // The summary and its pictures are in the repository.
    let folder = repository().join("../docs/replication");
    let own = |one: &&Page| one.name == "README.md" || one.name.ends_with("-as-run.svg");
    for Page { name, text } in made.iter().filter(own) {
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let written = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        let hint = "UPDATE_DOCS=1 cargo test -p incast-reproduce --lib pages";
        assert!(written == *text, "{name} is not what the tables say: {hint}");
    }
    for page in &made {
        let denied = page.text.lines().find(|line| line.contains(crate::answer::DENIED));
        assert_eq!(denied, None, "an answer.toml says what the tables do not: {}", page.name);
    }
    let changes = page("changes.md");
    assert!(changes.text.contains("| then | today |"), "nothing changed?");
    assert!(
        !changes.text.contains("not said yet"),
        "a changed verdict without `why` in audit.toml"
    );
    let pictures = made.iter().filter(|page| page.text.starts_with("<svg"));
    assert!(pictures.count() + PAPERS.len() + 2 == made.len() && made.len() > 300);
    for paper in PAPERS {
        let page = page(&format!("{paper}.md"));
        for Verdict { experiment, claim, sentence, .. } in kept_verdicts(paper) {
            let (claim, sentence) = (format!("| {claim} |"), format!(" {sentence} |"));
            let row = |row: &str| row.starts_with(&claim) && row.contains(&sentence);
            assert!(page.text.lines().any(row), "{experiment}: {claim}: {sentence}");
        }
    }
}

const PAPERS: [&str; 5] = ["ren", "amrt", "decn", "ccrp", "fasttune"];

/// What `incast reproduce PAPER --from-kept` says.
fn kept_verdicts(paper: &str) -> Vec<Verdict> {
    let keep = Some(repository());
    let options = Options { keep, from_kept: true, ..Options::default() };
    let verdicts = reproduce(paper, &options, &mut Silent, None).unwrap();
    assert!(verdicts.len() > 20, "{paper}");
    verdicts
}

/// What has not run reads `not run`; a kept table is not made again, and judged alike.
#[test]
fn kept_tables_replace_runs() {
    let folder = tempfile::tempdir().unwrap();
    let keep = Some(folder.path().to_path_buf());
    let options = Options { keep, threads: 1, ..Options::default() };
    let kept = Options { from_kept: true, ..options.clone() };
    let none = reproduce("ren/fig1", &kept, &mut Silent, None).unwrap();
    assert!(none.iter().all(|one| one.sets[0].verdict == Word::NotRun), "{none:#?}");
    let made = reproduce("ren/fig1", &options, &mut Silent, None).unwrap();
    assert!(made.iter().all(|one| one.sets[0].verdict == Word::Matches), "{made:#?}");
    let trd = address("ren/fig1", "as_published", "figure", "trd");
    // A number that no run gives shows that the table is read.
    change(folder.path(), &trd, |table| {
        let lists = table.row.values_mut().map(|seen| &mut seen.list);
        let mut traces = lists.filter(|list| list.starts_with(&[2.0; 8]));
        traces.next().expect("packets by interval")[7] = 9.0;
    });
    for options in [&options, &kept] {
        let read = reproduce("ren/fig1", options, &mut Silent, None).unwrap();
        assert_eq!(read[0].sets[0].verdict, Word::Differs, "{read:#?}");
        assert_eq!(read[1], made[1]);
    }
    // Another identity makes the table stale: it is made again.
    change(folder.path(), &trd, |table| table.identity.insert(0, '0'));
    struct Told(Vec<String>);
    impl Watch for Told {
        fn verdict(&mut self, _: &Verdict) {}
        fn note(&mut self, text: &str) {
            self.0.push(text.to_string());
        }
    }
    let mut told = Told(vec![]);
    assert_eq!(reproduce("ren/fig1", &options, &mut told, None).unwrap(), made);
    let stale = "ren/fig1, as_published, figure, trd, seed 1 is stale";
    assert!(told.0[0].starts_with(stale), "{:?}", told.0);
}

/// What kept tables say of each claim in each set, in every world: a line each, sorted.
fn said(verdicts: &[Verdict]) -> String {
    let mut lines = vec![];
    for Verdict { experiment, claim, sets, .. } in verdicts {
        let line = |set: &str, word: &str, measured: &str| {
            let cells = [experiment.as_str(), claim, set, word, measured];
            assert!(cells.iter().all(|cell| !cell.contains(['\t', '\n'])), "{cells:?}");
            cells.join("\t") + "\n"
        };
        for InSet { set, measured, verdict, dataplane, real_time } in sets {
            lines.push(line(set, verdict.text(), measured));
            if let Some(InDataPlane { measured, verdict, equal }) = dataplane {
                let equal = if *equal { " (equal runs)" } else { "" };
                let set = format!("dataplane/{set}");
                lines.push(line(&set, verdict.text(), &format!("{measured}{equal}")));
            }
            for one in real_time {
                let set = format!("real-time/{}/{set}", one.clock);
                let word = one.verdict.map_or("refused", Word::text);
                lines.push(line(&set, word, &one.said()));
            }
        }
    }
    lines.sort_unstable();
    "figure\tclaim\tset\tverdict\tmeasured\n".to_string() + &lines.concat()
}

/// What they say of finite runs: a line per claim and set, sorted.
fn said_as_run(verdicts: &[Verdict]) -> String {
    let of = |verdict: &Verdict| {
        let Verdict { experiment, claim, paper, as_run, .. } = verdict;
        let line = |one: &InFinite| {
            let (order, size, measured) = (one.order_text(), one.size_text(), one.measured());
            let cells = [experiment, claim, &one.set, paper, &order, &size, &measured];
            cells.map(String::as_str).join("\t") + "\n"
        };
        as_run.iter().map(line).collect::<Vec<_>>()
    };
    let mut lines: Vec<String> = verdicts.iter().flat_map(of).collect();
    lines.sort_unstable();
    "figure\tclaim\tset\tpaper\torder\tsize\tmeasured by N\n".to_string() + &lines.concat()
}

/// The verdicts of a paper are those that its kept tables give. `UPDATE_DOCS=1` writes them.
#[test]
fn kept_tables_give_the_verdicts_that_are_listed() {
    let listed = |paper: &'static str| {
        let verdicts = kept_verdicts(paper);
        let made = said(&verdicts);
        assert!(made.lines().count() > verdicts.len(), "{paper}");
        [(paper, "verdicts.tsv", made), (paper, "as_run.tsv", said_as_run(&verdicts))]
    };
    for (paper, file, made) in PAPERS.into_iter().flat_map(listed) {
        let place = repository().join(paper).join(file);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&place, &made).unwrap();
        }
        let written = std::fs::read_to_string(&place).unwrap_or_default();
        let listed: std::collections::BTreeSet<&str> = written.lines().collect();
        let new: Vec<&str> = made.lines().filter(|line| !listed.contains(line)).collect();
        let hint = "UPDATE_DOCS=1 cargo test -p incast-reproduce --lib verdicts";
        assert!(
            written == made,
            "{} is not what the tables say: {hint}: {new:#?}",
            place.display()
        );
    }
}
