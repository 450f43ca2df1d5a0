//! Several queues for the data of transports that need one.

use super::PolicyConflict;
use super::plan::QUEUES;
use super::schedule::{WEIGHT_LIMIT, common_multiple};
use incast_transport::{ClassPolicy, Discipline, Policy, Schedule};

/// Whether the data of a policy can be in several queues: it is one strict drop-tail class, behind
/// control or alone.
pub fn splits(policy: &Policy) -> bool {
    let plain = |class: &ClassPolicy| {
        class.schedule == Schedule::Strict
            && class.discipline == Discipline::DropTail
            && class.shaper.is_none()
    };
    policy.classes.len() <= 2 && policy.classes.iter().all(plain)
}

/// Refuses queues that no port has; the error is the place of the first that is wrong, and what would
/// be right.
///
/// # Errors
/// More queues than beside control, one with strict priority behind one with a weight, a weight of zero, or weights
/// without a common multiple of at most 2^20.
pub fn check_queues(queues: &[Schedule]) -> Result<(), (usize, String)> {
    if queues.len() >= QUEUES {
        return Err((QUEUES - 1, format!("at most {} queues", QUEUES - 1)));
    }
    let mut weights = vec![];
    for (at, queue) in queues.iter().enumerate() {
        match queue {
            Schedule::Strict if !weights.is_empty() => {
                let expected =
                    "a weight: queues with strict priority are before those with weights";
                return Err((at, expected.into()));
            }
            Schedule::Strict => {}
            Schedule::Weighted(weight) => {
                weights.push(*weight);
                if common_multiple(weights.iter().copied()).is_none() {
                    let expected = format!(
                        "weights above 0 whose least common multiple is at most {WEIGHT_LIMIT}"
                    );
                    return Err((at, expected));
                }
            }
        }
    }
    Ok(())
}

/// Gives the data of a policy these queues, each with the limit that its one class has.
pub(crate) fn split(policy: &mut Policy, queues: &[Schedule]) -> Result<(), PolicyConflict> {
    if !splits(policy) {
        let problem = "its data needs queues of its own, and cannot be in several others";
        return Err(PolicyConflict::new(policy.transport, policy.transport, "classes", problem));
    }
    let data = *policy.classes.last().expect("a policy has a class");
    let control = policy.classes[0];
    let queue = |schedule: &Schedule| ClassPolicy { schedule: *schedule, ..data };
    policy.classes = std::iter::once(control).chain(queues.iter().map(queue)).collect();
    Ok(())
}
