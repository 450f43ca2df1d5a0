//! What iterations of collectives and of programs have in common.

use super::found::{Leg, PortCost};
use incast_experiment::fault::{Problem, expected};

/// Name and meaning of the computation as a part.
pub(super) const COMPUTE: (&str, &str) = ("compute", "its first rank computed");

/// Which iterations there are.
pub(super) fn range(most: u32) -> Problem {
    match most {
        0 => expected("0, the only one"),
        _ => expected(format!("0 to {most}; the nearest is {most}")),
    }
}

/// The ports of the critical path, the one that costs most first.
pub(super) fn ports(path: &[Leg], took: u64) -> Vec<PortCost> {
    let mut all: Vec<PortCost> = vec![];
    for leg in path.iter().filter(|leg| !leg.port.is_empty()) {
        let place = match all.iter().position(|one| one.port == leg.port) {
            Some(place) => place,
            None => {
                let port = leg.port.clone();
                all.push(PortCost { port, messages: 0, excess_ps: 0, share: 0.0 });
                all.len() - 1
            }
        };
        all[place].messages += 1;
        all[place].excess_ps += leg.excess();
    }
    for one in &mut all {
        one.share = if took > 0 { one.excess_ps as f64 / took as f64 } else { 0.0 };
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.excess_ps));
    all
}
