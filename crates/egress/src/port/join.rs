//! From the policies of one or several transports to the plan of one port.

use super::plan::{Plan, QUEUES, Rule, Rules};
use super::schedule::{Members, Scheduler, WEIGHT_LIMIT, common_multiple};
use super::{PolicyConflict, Remedy};
use incast_transport::{ClassPolicy, Discipline, Policy, Schedule, Shaper};
use std::sync::Arc;

/// How the policies of several transports become one port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Join {
    /// All transports' packets of one class wait in one queue, in the order they came. Each
    /// transport's own discipline and limit judge its own packets against the entire queue.
    #[default]
    Shared,
    /// Each transport has its data classes to itself, and the transports share the link equally
    /// in charged bytes. Strict control is common to all and served first.
    Separate,
}

impl Join {
    /// All, with the names scenarios use.
    pub const NAMES: [(&'static str, Join); 2] =
        [("shared", Join::Shared), ("separate", Join::Separate)];
}

/// A queue in the making.
struct Place {
    /// The packet class that joins it; a policy of one class has data only, which is class 1.
    rank: usize,
    /// Policies whose packets join it.
    members: Vec<usize>,
    schedule: Schedule,
    shaper: Option<Shaper>,
    /// Whether other transports may join it.
    common: bool,
}

/// Checks the policies and gives each class a queue.
pub(crate) fn plan(policies: &[Policy], join: Join) -> Result<Plan, PolicyConflict> {
    for (index, policy) in policies.iter().enumerate() {
        check(policy)?;
        let id = policy.transport;
        if policies[..index].iter().any(|other| other.transport == id) {
            return Err(PolicyConflict::new(id, id, "transport", "appears twice at one port"));
        }
    }
    // A transport alone shares with no other.
    let join = if policies.len() == 1 { Join::Shared } else { join };
    let places = places(policies, join)?;
    check_order(policies, &places)?;
    let ranked = ranked(policies, &places)?;
    let scheduler = scheduler(policies, join, &places)?;
    let mut rules = Rules { policies: vec![], of_transport: [0; 256] };
    for (index, policy) in policies.iter().enumerate() {
        rules.of_transport[policy.transport.0 as usize] = index as u8;
        rules.policies.push(rules_of(policy, index, &places));
    }
    let rules = Arc::new(rules);
    let mut plan = Plan { rules, control: 0, ranked, shapers: [None; QUEUES], scheduler };
    for (queue, place) in places.iter().enumerate() {
        plan.control |= ((place.rank == 0) as u8) << queue;
        plan.shapers[queue] = place.shaper;
    }
    Ok(plan)
}

/// The rank of a policy's class.
fn rank(policy: &Policy, class: usize) -> usize {
    if policy.classes.len() == 1 { 1 } else { class }
}

/// What no port can do.
fn check(policy: &Policy) -> Result<(), PolicyConflict> {
    let fail = |key: String, problem: String| {
        Err(PolicyConflict::new(policy.transport, policy.transport, key, problem))
    };
    let count = policy.classes.len();
    if !(1..=QUEUES).contains(&count) {
        return fail("classes".into(), format!("{count} classes; a port has 1 to {QUEUES}"));
    }
    for (index, class) in policy.classes.iter().enumerate() {
        if let Discipline::Trim { headers, tail, .. } = class.discipline {
            let key = format!("classes[{index}].discipline");
            if headers as usize >= count || headers as usize == index {
                return fail(key, format!("headers cannot join class {headers} of {count}"));
            }
            if !(0.0..=1.0).contains(&tail) {
                return fail(key, format!("tail probability {tail} is not within 0 to 1"));
            }
        }
        if class.shaper.is_some() && class.discipline == Discipline::Remaining {
            let problem =
                "what leaves next is not known before it leaves, so nothing can be shaped";
            return fail(format!("classes[{index}].shaper"), problem.into());
        }
        if class.shaper.is_some_and(|shaper| shaper.rate.0 == 0 || shaper.depth.0 == 0) {
            let problem = "a shaper needs a rate and a depth above zero";
            return fail(format!("classes[{index}].shaper"), problem.into());
        }
        if class.schedule == Schedule::Weighted(0) {
            return fail(format!("classes[{index}].schedule"), "weights start at 1".into());
        }
    }
    Ok(())
}

fn places(policies: &[Policy], join: Join) -> Result<Vec<Place>, PolicyConflict> {
    let mut places: Vec<Place> = vec![];
    for at in 0..QUEUES {
        for (index, policy) in policies.iter().enumerate() {
            let ranked = |class: &usize| rank(policy, *class) == at;
            let Some(number) = (0..policy.classes.len()).find(ranked) else { continue };
            let class = &policy.classes[number];
            let control = at == 0 && class.schedule == Schedule::Strict;
            // A bucket of a control class is for its own transport's packets (credits); one of a
            // data class is a limit on whatever waits there.
            let open = class.shaper.is_none() || at > 0;
            let common = open && (join == Join::Shared || control);
            let known = places.iter_mut().find(|p| common && p.common && p.rank == at);
            if let Some(place) = known {
                place.schedule = joined(policies, place, index, class.schedule)?;
                place.shaper = tighter(place.shaper, class.shaper);
                place.members.push(index);
                continue;
            }
            if places.len() == QUEUES {
                let first = places.iter().flat_map(|p| &p.members).find(|&&m| m != index);
                let first = policies[*first.unwrap_or(&index)].transport;
                let problem = format!("together they need more than {QUEUES} queues");
                let conflict = PolicyConflict::new(first, policy.transport, "classes", problem);
                return Err(conflict.fixed_by(Remedy::FewerQueues));
            }
            let (schedule, shaper, members) = (class.schedule, class.shaper, vec![index]);
            places.push(Place { rank: at, members, schedule, shaper, common });
        }
    }
    Ok(places)
}

/// The slower of two buckets, if any.
fn tighter(one: Option<Shaper>, other: Option<Shaper>) -> Option<Shaper> {
    let all = one.into_iter().chain(other);
    all.min_by_key(|shaper| (shaper.rate.0, shaper.depth.0))
}

fn said(schedule: Schedule) -> String {
    match schedule {
        Schedule::Strict => "strict priority".to_string(),
        Schedule::Weighted(weight) => format!("weight {weight}"),
    }
}

/// The schedule of a queue that one more transport joins. Weights prevail over strictness: who
/// needs a weight would be starved without it, and who needs strictness hardly notices.
fn joined(
    policies: &[Policy],
    place: &Place,
    index: usize,
    wanted: Schedule,
) -> Result<Schedule, PolicyConflict> {
    match (place.schedule, wanted) {
        (Schedule::Strict, other) | (other, Schedule::Strict) => Ok(other),
        (a, b) if a == b => Ok(a),
        (a, b) => {
            let of = |&&member: &&usize| policies[member].classes.get(place.rank).is_some();
            let first = place.members.iter().find(of).unwrap_or(&place.members[0]);
            let key = format!("classes[{}].schedule", place.rank);
            let problem = format!("{} and {} contradict", said(a), said(b));
            let (first, second) = (policies[*first].transport, policies[index].transport);
            Err(PolicyConflict::new(first, second, key, problem).fixed_by(Remedy::Separate))
        }
    }
}

/// A strict queue must not overtake one that its own transport put before it and that weights of
/// another transport made weighted.
fn check_order(policies: &[Policy], places: &[Place]) -> Result<(), PolicyConflict> {
    let weighted = |p: &Place| matches!(p.schedule, Schedule::Weighted(_));
    for (index, policy) in policies.iter().enumerate() {
        let mine = || places.iter().filter(|place| place.members.contains(&index));
        for early in mine().filter(|place| weighted(place)) {
            let wanted = |p: &Place| policy.classes[p.rank.min(policy.classes.len() - 1)].schedule;
            if wanted(early) != Schedule::Strict {
                continue;
            }
            if let Some(late) = mine().find(|p| p.rank > early.rank && !weighted(p)) {
                let other = early.members.iter().find(|&&member| member != index);
                let other = policies[*other.unwrap_or(&index)].transport;
                let key = format!("classes[{}].schedule", early.rank);
                let problem = format!(
                    "strict for one and weighted for the other, with the strict class {} behind it",
                    late.rank
                );
                let conflict = PolicyConflict::new(other, policy.transport, key, problem);
                return Err(conflict.fixed_by(Remedy::Separate));
            }
        }
    }
    Ok(())
}

/// Queues that send by what flows have left, which no other transport's packets may join.
fn ranked(policies: &[Policy], places: &[Place]) -> Result<u8, PolicyConflict> {
    let mut ranked = 0;
    for (queue, place) in places.iter().enumerate().filter(|(_, place)| place.rank > 0) {
        let wants = |member: &&usize| {
            let policy = &policies[**member];
            let of_place = |number: &usize| rank(policy, *number) == place.rank;
            let mut classes = (0..policy.classes.len()).filter(of_place);
            classes.any(|number| policy.classes[number].discipline == Discipline::Remaining)
        };
        let Some(first) = place.members.iter().find(wants) else { continue };
        if let Some(other) = place.members.iter().find(|member| *member != first) {
            let (first, second) = (policies[*first].transport, policies[*other].transport);
            let key = format!("classes[{}].discipline", place.rank);
            let problem = "a queue ordered by what flows have left is for one transport alone";
            let conflict = PolicyConflict::new(first, second, key, problem);
            return Err(conflict.fixed_by(Remedy::Separate));
        }
        ranked |= 1 << queue;
    }
    Ok(ranked)
}

fn scheduler(
    policies: &[Policy],
    join: Join,
    places: &[Place],
) -> Result<Scheduler, PolicyConflict> {
    let mut strict = 0;
    let mut groups =
        vec![Members::default(); if join == Join::Shared { 1 } else { policies.len() }];
    for (queue, place) in places.iter().enumerate() {
        let group = if join == Join::Shared { 0 } else { place.members[0] };
        match place.schedule {
            Schedule::Weighted(weight) => groups[group].weighted.push((queue as u8, weight)),
            Schedule::Strict if join == Join::Shared || place.rank == 0 => strict |= 1 << queue,
            Schedule::Strict => groups[group].strict |= 1 << queue,
        }
    }
    for (group, members) in groups.iter().enumerate() {
        if common_multiple(members.weighted.iter().map(|&(_, weight)| weight)).is_none() {
            let first = policies[group].transport;
            let second = policies.last().map_or(first, |policy| policy.transport);
            let problem = format!("the weights' common multiple exceeds {WEIGHT_LIMIT}");
            let conflict = PolicyConflict::new(first, second, "classes.schedule", problem);
            return Err(conflict.fixed_by(Remedy::Separate));
        }
    }
    Ok(Scheduler::new(strict, &groups))
}

/// The rules of one policy, by packet class.
fn rules_of(policy: &Policy, index: usize, places: &[Place]) -> [Rule; QUEUES] {
    let queue = |number: usize| {
        let at = |p: &Place| p.rank == rank(policy, number) && p.members.contains(&index);
        places.iter().position(at).expect("every class has a queue") as u8
    };
    // Queues of the classes whose limit is a common one.
    let together = |which: fn(&Discipline) -> bool| {
        (0..policy.classes.len())
            .filter(|&number| which(&policy.classes[number].discipline))
            .fold(0, |set, number| set | 1 << queue(number))
    };
    let pushing = together(|d| *d == Discipline::PushOut);
    let sharing = together(|d| *d == Discipline::SharedTail);
    let remaining = together(|d| *d == Discipline::Remaining);
    let selecting = together(|d| matches!(d, Discipline::Selective { .. }));
    std::array::from_fn(|number| {
        let number = number.min(policy.classes.len() - 1);
        let class = &policy.classes[number];
        let returns = policy.classes.iter().any(|class| {
            matches!(class.discipline,
                Discipline::Trim { headers, bounce: true, .. } if headers as usize == number)
        });
        let queue = queue(number);
        let counted = match class.discipline {
            Discipline::DropTail | Discipline::Trim { .. } => 1 << queue,
            Discipline::PushOut => pushing,
            Discipline::Remaining => remaining,
            Discipline::SharedTail => sharing,
            Discipline::Selective { .. } => selecting,
        };
        let ClassPolicy { limit, discipline, .. } = *class;
        Rule { queue, limit, counted, discipline, returns }
    })
}
