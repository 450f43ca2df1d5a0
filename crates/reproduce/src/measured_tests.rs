//! Numbers of runs, of real runs.

use crate::tests::run_of;
use incast_measure::Run;
use incast_measure::measured::Measure;

mod marks {
    use super::*;
    use incast_experiment::{Plan, Scenario, execute, output};
    use incast_measure::measured::Sent;
    use incast_world::Captured;

    const SCENARIO: &str = include_str!("../../../experiments/ren/fig7/figure.toml");
    const WAY: &str = "host0->leaf0,leaf0->leaf1,leaf1->leaf2,leaf2->host1";

    /// The run of a transport, and what its ports sent.
    fn run(transport: &str, sets: &[&str], threads: usize) -> (Run, Vec<Captured>) {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        let plan = Plan::new(Scenario::parse(SCENARIO, "figure.toml", &sets).unwrap()).unwrap();
        let case = plan.cases.iter().find(|case| case.label == transport).unwrap();
        let ports = output::ports(&plan, &["all".into()]).unwrap();
        execute(&plan, case, ports, threads, &incast_world::Monitor::default()).unwrap()
    }

    fn marks((run, captured): &(Run, Vec<Captured>), flow: u32, ports: &str) -> Option<Vec<u32>> {
        let text = format!("kind = \"marks\"\nport = \"{ports}\"\nflow = {flow}");
        toml::from_str::<Measure>(&text).unwrap().marks(run, &sent(captured))
    }

    fn sent(captured: &[Captured]) -> Vec<Sent<'_>> {
        captured.iter().map(|one| (one.port, one.at, &one.packet)).collect()
    }

    fn after<'a>(way: &'a str, port: &str) -> &'a str {
        &way[way.find(port).unwrap()..]
    }

    #[test]
    fn figure_7_of_ren_packet_by_packet() {
        for (seed, threads) in [("run.seed=1", 1), ("run.seed=2", 1), ("run.seed=3", 2)] {
            let seen = run("ren", &[seed], threads);
            let (of_h1, of_h2) = (after(WAY, "leaf1->leaf2"), after(WAY, "leaf2->host1"));
            assert_eq!(marks(&seen, 0, WAY), Some(vec![0b00, 0b01, 0b01, 0b01]), "P1");
            assert_eq!(marks(&seen, 2, WAY), Some(vec![0b00, 0b00, 0b01, 0b10]), "P2");
            assert_eq!(marks(&seen, 1, of_h1), Some(vec![0b01, 0b01]), "P3");
            assert_eq!(marks(&seen, 3, of_h2), Some(vec![0b01]), "P4");
            let last = seen.0.ports.iter().position(|p| p.name == "leaf2->host1").unwrap() as u32;
            let order: Vec<u32> = (seen.1.iter())
                .filter(|one| one.port == last && one.packet.is_data())
                .map(|one| one.packet.flow.0)
                .collect();
            assert_eq!(order[..10], [0, 1, 2, 3, 0, 1, 3, 0, 1, 3], "P1 P3 P2 P4, then three");
        }
    }

    /// The two rules of the paper differ: the budget rule detects no gap in the first period.
    #[test]
    fn the_budget_rule_marks_no_gap_in_the_first_period() {
        let seen = run("ren", &["transport.parameters.ren.rule=\"budget\""], 1);
        assert_eq!(marks(&seen, 2, WAY), Some(vec![0b00, 0b01, 0b01, 0b10]));
    }

    #[test]
    fn only_a_packet_that_completes_its_path_has_marks() {
        let seen = run("ren", &[], 1);
        assert_eq!(marks(&seen, 1, WAY), None, "P3 does not start at H0");
        assert_eq!(marks(&seen, 0, "leaf2->host1,leaf0->leaf1"), None, "the wrong order");
        assert_eq!(marks(&seen, 0, "leaf0->leaf9"), None, "no such port");
        let text = format!("kind = \"marks\"\nport = \"{WAY}\"\nflow = 2\nfrom = \"2us\"");
        let later: Measure = toml::from_str(&text).unwrap();
        assert_eq!(later.marks(&seen.0, &sent(&seen.1)), None, "its only packet has left by then");
        let of_trd = run("trd", &[], 1);
        assert_eq!(marks(&of_trd, 2, WAY), Some(vec![0; 4]), "no switch marks");
    }
}

mod spread {
    use super::*;
    use incast_measure::measured::{Form, PARTS, rounded};

    fn measure(text: &str) -> Measure {
        toml::from_str(text).unwrap()
    }

    /// The quantiles of a run are those of its numbers, and tenths by size have all of its flows.
    #[test]
    fn a_run_is_spread_over_its_flows() {
        let run = run_of(0.5, 1);
        let fct = measure("kind = \"fct_p99_us\"");
        let cdf = Form::Cdf.read(&fct, &run);
        assert_eq!(cdf[99], rounded(fct.of(&run).unwrap()));
        assert!(cdf.is_sorted() && cdf[0] < cdf[100]);

        let mean = measure("kind = \"fct_mean_us\"");
        let parts = Form::Deciles.read(&mean, &run);
        assert_eq!(parts.len(), 2 * PARTS);
        let (numbers, sizes) = parts.split_at(PARTS);
        assert!(sizes.is_sorted() && sizes[0] < sizes[9], "{sizes:?}");
        // Tenths of the same number of flows: the mean of their means is that of all.
        let flows = mean.samples(&run).len();
        assert!(flows >= 500, "{flows}");
        let middle = numbers.iter().sum::<f64>() / PARTS as f64;
        assert!((middle / mean.of(&run).unwrap() - 1.0).abs() < 0.02, "{middle}");
        let smallest = Measure { largest: Some(sizes[0] as u64 - 1), ..mean.clone() };
        assert!(smallest.samples(&run).len() < flows.div_ceil(PARTS));
        let none = Measure { smallest: Some(u64::MAX), ..mean };
        assert!(Form::Deciles.read(&none, &run).is_empty());
        assert!(Form::Cdf.read(&none, &run).is_empty());
    }

    /// Of ports: one value each, over time.
    #[test]
    fn a_distribution_may_be_of_ports() {
        let run = run_of(0.5, 1);
        let all = measure("kind = \"utilisation\"\nport = \"leaf*->host*\"");
        let cdf = Form::Cdf.read(&all, &run);
        let mut own: Vec<f64> = (0..8)
            .map(|host| Measure {
                port: Some(format!("leaf{}->host{host}", host / 4)),
                ..all.clone()
            })
            .map(|one| rounded(one.of(&run).unwrap()))
            .collect();
        own.sort_unstable_by(f64::total_cmp);
        assert_eq!((cdf[0], cdf[50], cdf[100]), (own[0], own[3], own[7]));
    }

    #[test]
    fn what_has_no_such_form_is_refused() {
        let said = |form: Form, text: &str| form.check(&measure(text));
        assert!(said(Form::Cdf, "kind = \"drops\"").unwrap_err().contains("backlog_mean_kb"));
        let port = "kind = \"utilisation\"\nport = \"*\"";
        assert!(said(Form::Cdf, port).is_ok());
        assert!(said(Form::Deciles, port).unwrap_err().contains("fct_mean_us"));
        assert!(said(Form::Deciles, "kind = \"slowdown_p99\"").is_ok());
    }
}

mod confidence {
    use super::*;
    use crate::judged::Results;
    use crate::{Claim, Word};
    use incast_measure::measured::{Measured, MeasuredValue, Wanted, interval, width_against};

    fn measure(kind: &str) -> Measure {
        toml::from_str(&format!("kind = \"{kind}\"")).unwrap()
    }

    /// What a measure sees in a run.
    fn seen(measure: &Measure, run: &Run) -> MeasuredValue {
        Wanted::Number(measure.clone()).read(run, &[])
    }

    fn width_of(measure: &Measure, run: &Run) -> Option<f64> {
        interval(&seen(measure, run).list)
    }

    /// The intervals are those of the summary; numbers that are no statistic of flows have none.
    #[test]
    fn statistics_of_flows_come_with_their_interval() {
        let run = run_of(0.5, 1);
        let all = incast_measure::summarise(&run).all;
        let (fct, slowdown) = (all.fct_ns.unwrap(), all.slowdown.unwrap());
        let near = |kind: &str, value: f64, half_width: Option<f64>| {
            let measure = measure(kind);
            assert!((measure.of(&run).unwrap() / value - 1.0).abs() < 1e-9, "{kind}");
            match half_width {
                Some(width) => {
                    let measured = width_of(&measure, &run).expect(kind);
                    assert!(width > 0.0 && (measured / width - 1.0).abs() < 1e-9, "{kind}");
                }
                None => assert_eq!(width_of(&measure, &run), None, "{kind}"),
            }
        };
        near("fct_mean_us", fct.mean / 1e3, Some(fct.mean_ci95.unwrap() / 1e3));
        near("fct_p99_us", fct.p99 / 1e3, Some(fct.p99_ci95.unwrap() / 1e3));
        near("fct_p999_us", fct.p999 / 1e3, None);
        near("slowdown_mean", slowdown.mean, slowdown.mean_ci95);
        near("slowdown_p99", slowdown.p99, slowdown.p99_ci95);
        assert_eq!(width_of(&measure("completed"), &run), None);
        let few = Measure { largest: Some(400), ..measure("slowdown_p99") };
        assert_eq!(width_of(&few, &run), None, "too few");
    }

    /// Runs of the same flows are compared pair by pair; of others, squares add up.
    #[test]
    fn what_the_same_arrivals_do_to_both_runs_cancels() {
        let (run, mean) = (run_of(0.5, 1), measure("fct_mean_us"));
        let own = width_of(&mean, &run).unwrap();
        let against = |measure: &Measure, run: &Run, other: &Run, factor: f64| {
            width_against(&seen(measure, run), &seen(measure, other), factor)
        };
        assert_eq!(against(&mean, &run, &run, 1.0), Some(0.0));
        let half = against(&mean, &run, &run, 0.5).unwrap();
        assert!((half / own - 0.5).abs() < 1e-9, "{half} {own}");
        let other = run_of(0.5, 2);
        let base = width_of(&mean, &other).unwrap();
        let both = against(&mean, &run, &other, 2.0).unwrap();
        assert!((both - (own * own + 4.0 * base * base).sqrt()).abs() < 1e-9);
        assert_eq!(against(&measure("completed"), &run, &run, 1.0), None);
    }

    /// An order is decided by the difference and its interval, a quotient by that of the pairs.
    #[test]
    fn orders_and_quotients_are_judged_by_pairs() {
        let claim = |text: &str| -> Claim {
            toml::from_str(&format!("text = \"x\"\nmeasure = {{ kind = \"fct_mean_us\" }}\n{text}"))
                .unwrap()
        };
        let mean = measure("fct_mean_us");
        let runs = |a: Run, b: Run| -> Results {
            let mut results = Results::new("run".into(), 1, false);
            for (name, run) in [("a", a), ("b", b)] {
                results.add("run", name, 1, [(mean.id(), seen(&mean, &run))].into());
            }
            results
        };
        let order = claim("order = [\"a\", \"b\"]");
        let equal =
            claim("transport = \"a\"\nover = \"b\"\nmin = 0.99\nmax = 1.01\nbecause = \"x\"");
        let same = runs(run_of(0.5, 1), run_of(0.5, 1));
        assert_eq!(order.judge(&same).word, Word::Matches, "a tie is no disorder");
        assert_eq!(equal.judge(&same).word, Word::Matches, "{:?}", equal.judge(&same));
        // Unpaired flows give a wider interval.
        let others = |mut run: Run| {
            run.flows.iter_mut().for_each(|flow| flow.src += 1);
            run
        };
        for other in [
            runs(run_of(0.5, 1), others(run_of(0.5, 1))),
            runs(others(run_of(0.5, 1)), run_of(0.5, 1)),
        ] {
            for claim in [&order, &equal] {
                let judged = claim.judge(&other);
                assert_eq!(judged.word, Word::CannotBeJudged, "{judged:?}");
                assert!(judged.measured.ends_with("; the interval reaches across the border"));
            }
        }
        let double = |mut run: Run| {
            for flow in &mut run.record.flows {
                let start = flow.started.unwrap();
                flow.completed = flow.completed.map(|end| end + end.since(start));
            }
            run
        };
        let slower = runs(run_of(0.5, 1), double(run_of(0.5, 1)));
        let judged = order.judge(&slower);
        assert_eq!(judged.word, Word::Matches, "{judged:?}");
        assert!(judged.measured.contains(", difference ") && !judged.measured.contains("border"));
        let faster = runs(double(run_of(0.5, 1)), run_of(0.5, 1));
        assert_eq!(order.judge(&faster).word, Word::Differs);
        assert_eq!(equal.judge(&faster).word, Word::Differs);
    }

    /// Quotients and differences of several seeds are formed seed by seed; of a smoke test only what
    /// has an interval is judged.
    #[test]
    fn seeds_give_the_interval() {
        let row = |value: f64| -> Measured {
            let one = MeasuredValue { value: Some(value), ..MeasuredValue::default() };
            [("fct_mean_us".to_string(), one)].into()
        };
        let claim: Claim = toml::from_str(
            "text = \"x\"\nmeasure = { kind = \"fct_mean_us\" }\ntransport = \"a\"\nover = \"b\"\n\
             paper = 40\nunit = \"% lower\"",
        )
        .unwrap();
        let mut results = Results::new("run".into(), 3, false);
        assert_eq!(claim.judge(&results).word, Word::NotRun);
        for (seed, a, b) in [(1, 58.0, 100.0), (2, 122.0, 200.0), (3, 60.0, 100.0)] {
            results.add("run", "a", seed, row(a));
            results.add("run", "b", seed, row(b));
        }
        let judged = claim.judge(&results);
        // 0.58, 0.61, 0.60: half width 4.303 * 0.01528 / sqrt(3).
        assert_eq!(judged.measured, "40.3 ± 3.8 % lower");
        assert_eq!((judged.word, judged.paper.as_str()), (Word::Matches, "40 % lower"));
        assert_eq!(judged.accepted, "20 to 80 % lower");
        let mut one = Results::new("run".into(), 3, false);
        one.add("run", "a", 1, row(58.0));
        one.add("run", "b", 1, row(100.0));
        assert_eq!(claim.judge(&one).measured, "42 % lower (1 of 3 seeds)");
        one.smoke = true;
        assert_eq!(claim.judge(&one).word, Word::CannotBeJudged);
    }

    /// The 99th percentile of fewer than a hundred flows is the slowest one: without an interval, over
    /// batches or seeds, it says nothing.
    #[test]
    fn a_percentile_of_one_seed_needs_an_interval() {
        let claim: Claim = toml::from_str(
            "text = \"x\"\nmeasure = { kind = \"slowdown_p99\" }\norder = [\"a\", \"b\"]",
        )
        .unwrap();
        let row = |value: f64, batches: &[f64]| -> Measured {
            let list = batches.iter().map(|share| share * value).collect();
            let one = MeasuredValue { value: Some(value), list, ..MeasuredValue::default() };
            [("slowdown_p99".to_string(), one)].into()
        };
        let judge = |seeds: &[(f64, f64)], batches: &[f64]| {
            let mut results = Results::new("run".into(), 3, false);
            for (seed, (a, b)) in seeds.iter().enumerate() {
                results.add("run", "a", seed as u64, row(*a, batches));
                results.add("run", "b", seed as u64, row(*b, batches));
            }
            claim.judge(&results)
        };
        let alone = judge(&[(3.0, 27.0)], &[]);
        assert_eq!(alone.word, Word::CannotBeJudged);
        assert!(alone.measured.ends_with("; a percentile of too few flows of one seed"));
        assert_eq!(judge(&[(3.0, 27.0)], &[0.9, 1.0, 1.1]).word, Word::Matches);
        assert_eq!(judge(&[(3.0, 27.0), (3.1, 26.0), (2.9, 28.0)], &[]).word, Word::Matches);
    }
}
