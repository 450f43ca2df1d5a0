//! ECN marks of a packet along its path.

use super::Measure;
use super::kind::Kind;
use incast_measure::Run;
use incast_world::Captured;

impl Measure {
    /// The ports whose packets must be captured, in the order in which they are named.
    pub fn captures(&self) -> Vec<String> {
        match (&self.port, self.kind) {
            (Some(ports), Kind::Marks) => ports.split(',').map(str::to_string).collect(),
            _ => vec![],
        }
    }

    /// The ECN bits of one data packet of `flow` as it leaves each port: the first
    /// packet that leaves the first port at `from` or later. `None` if it does not leave them all,
    /// in their order.
    pub fn marks(&self, run: &Run, captured: &[Captured]) -> Option<Vec<u32>> {
        let (mut since, _) = self.window(run);
        let mut followed = None;
        let mut marks = vec![];
        for name in self.captures() {
            let port = run.ports.iter().position(|known| known.name == name)? as u32;
            let left = captured.iter().find(|one| {
                one.port == port
                    && one.at >= since
                    && Some(one.packet.flow.0) == self.flow
                    && one.packet.is_data()
                    && followed.is_none_or(|key| key == one.packet.header.data_key())
            })?;
            since = left.at;
            followed = Some(left.packet.header.data_key());
            marks.push((left.packet.mark & 3) as u32);
        }
        Some(marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incast_experiment::{Plan, Scenario, execute, output};

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
        toml::from_str::<Measure>(&text).unwrap().marks(run, captured)
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
        assert_eq!(later.marks(&seen.0, &seen.1), None, "its only packet has left by then");
        let of_trd = run("trd", &[], 1);
        assert_eq!(marks(&of_trd, 2, WAY), Some(vec![0; 4]), "no switch marks");
    }
}
