//! The answer in sentences.

use crate::control::Silence;
use crate::explanation::{Explanation, PartFacts};
use crate::fronts::FrontFacts;
use crate::words::{bytes, list, percent, size, time};

/// Parts of less than this share are not worth a sentence.
const SHARE_LEAST: f64 = 0.05;
/// Most parts with a sentence.
const PARTS_MOST: usize = 3;
/// Most flows that one sentence names.
const FLOWS_MOST: usize = 4;

/// What took longest, in words.
pub(crate) fn verdict(all: &Explanation, base_rtt: u64) -> Vec<String> {
    let mut says = vec![headline(all)];
    let mut parts: Vec<&PartFacts> =
        all.parts.iter().filter(|part| part.share >= SHARE_LEAST).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.ps));
    says.extend(parts.iter().take(PARTS_MOST).map(|part| sentence(all, part)));
    says.extend(blocking(all));
    says.extend(without(all, base_rtt));
    says
}

fn headline(all: &Explanation) -> String {
    let flow = &all.flow;
    let what = format!(
        "Flow {} ({}, {}, host {} to host {})",
        flow.id,
        size(flow.size_bytes),
        flow.transport,
        flow.src,
        flow.dst
    );
    let alone = time(flow.ideal_ps);
    match (flow.start_ps, flow.fct_ps) {
        (None, _) => format!("{what} never started."),
        (_, None) => format!(
            "{what} did not complete by the end of the run; alone it would have taken {alone}."
        ),
        (_, Some(fct)) => {
            let slowdown = flow.slowdown.unwrap_or(0.0);
            format!(
                "{what} took {}. Alone on an empty network it would have taken {alone}: slowdown {slowdown:.1}.",
                time(fct)
            )
        }
    }
}

fn sentence(all: &Explanation, part: &PartFacts) -> String {
    let took = format!("{} ({})", time(part.ps), percent(part.share));
    match part.name {
        "recovery" => recovery(all, &took),
        "nic_own" => format!(
            "{took}: its own NIC sent its {} data packets. That is the rate of the NIC, not congestion.",
            all.flow.packets
        ),
        "nic_other" => format!("{took}: it was ready, but its NIC sent packets of other flows."),
        "blocked_ready" => ready(all, &took),
        "blocked_grant" => waiting(all, &took, "a grant, token or pull"),
        "blocked_credit" => waiting(all, &took, "a credit"),
        "blocked_window" => window(all, &took),
        "blocked_pacing" => {
            format!(
                "{took}: its congestion control spaced its packets.{}{}",
                rates(all),
                marks(all)
            )
        }
        "serialisation" => format!("{took}: the links of the path transmitted the last packet."),
        "propagation" => format!("{took}: propagation along the path."),
        queue => queueing(all, queue, &took),
    }
}

/// Where losses happened, as text: `3 dropped at leaf0->host0`.
fn places(all: &Explanation) -> String {
    let mut counts: Vec<(&str, &str, usize)> = vec![];
    for loss in &all.losses {
        match counts.iter_mut().find(|(how, port, _)| (*how, *port) == (loss.how, &*loss.port)) {
            Some(known) => known.2 += 1,
            None => counts.push((loss.how, &loss.port, 1)),
        }
    }
    counts.sort_by_key(|count| std::cmp::Reverse(count.2));
    let one = |(how, port, count): &(&str, &str, usize)| match *how {
        "lost" => format!("{count} lost on the link of {port}"),
        how => format!("{count} {how} at {port}"),
    };
    list(counts.iter().map(one), FLOWS_MOST)
}

fn recovery(all: &Explanation, took: &str) -> String {
    let lost = match all.losses.is_empty() {
        true => "packets were lost".to_string(),
        false => format!("of its packets, {}", places(all)),
    };
    let timers = ["timeout", "receiver timeout"];
    let expired = |one: &&Silence| timers.contains(&&*one.ended_by) && one.retransmission;
    let timeouts: Vec<_> = all.silences.iter().filter(expired).collect();
    let queued: u64 = all.parts.iter().filter(|p| p.name.starts_with("queue")).map(|p| p.ps).sum();
    match timeouts.iter().max_by_key(|one| one.ps) {
        Some(longest) => {
            let how = match timeouts.len() {
                1 => "a retransmission timeout".to_string(),
                several => format!("{several} retransmission timeouts"),
            };
            let silent: u64 = timeouts.iter().map(|one| one.ps).sum();
            let whose = match &*longest.ended_by {
                "timeout" => "its retransmission timer expired",
                _ => "the receiver's timer expired and what it asked for arrived",
            };
            format!(
                "{took}: {how}, not queueing ({} in queues). {} after its start the source fell silent \
                 and sent nothing for {} until {whose}{}; {lost}.",
                time(queued),
                time(longest.after_ps),
                time(longest.ps),
                if timeouts.len() > 1 {
                    format!(" ({} in all)", time(silent))
                } else {
                    String::new()
                },
            )
        }
        None => {
            let expired = all.control.iter().filter(|point| point.event == "timeout").count();
            let timers = match expired {
                0 => "without a timeout".to_string(),
                1 => "with a timeout that ended no silence of its source".to_string(),
                several => {
                    format!("with {several} timeouts that ended no silence of its source")
                }
            };
            format!("{took}: recovery from losses {timers}; {lost}.")
        }
    }
}

fn ready(all: &Explanation, took: &str) -> String {
    let nic = all.pauses.iter().find(|pause| pause.waited_ps == 0);
    match nic {
        Some(pause) => format!(
            "{took}: its NIC did not send although it had packets: {} paused {} for {}.",
            pause.by,
            pause.port,
            time(pause.paused_ps)
        ),
        None => format!(
            "{took}: its NIC was idle and the transport gave no reason: before the first packet, or \
             with everything sent and not yet known to be lost."
        ),
    }
}

fn waiting(all: &Explanation, took: &str, what: &str) -> String {
    let longest = all.silences.iter().max_by_key(|one| one.ps);
    let when = longest.map_or(String::new(), |one| {
        format!(
            " The longest silence began {} after its start and lasted {}; it ended with {}.",
            time(one.after_ps),
            time(one.ps),
            ended(&one.ended_by)
        )
    });
    format!("{took}: it had data, and waited for {what} from host {}.{when}", all.flow.dst)
}

pub(crate) fn ended(by: &str) -> String {
    match by {
        "timeout" => "a timeout".into(),
        "receiver timeout" => "the arrival of what the receiver sent after a timeout".into(),
        "source" => "its own next packet; nothing had arrived".into(),
        "the start" => "its first packet".into(),
        kind => format!("the arrival of a packet `{kind}`"),
    }
}

fn window(all: &Explanation, took: &str) -> String {
    let windows = || all.control.iter().filter_map(|point| point.window_bytes);
    let ages: Vec<u64> = all.control.iter().filter_map(|point| point.age_ps).collect();
    let size = match (windows().min(), windows().max()) {
        (Some(least), Some(most)) => format!(" of {} to {}", bytes(least), bytes(most)),
        _ => String::new(),
    };
    let known = match ages.iter().max() {
        Some(oldest) => {
            let mean = ages.iter().sum::<u64>() / ages.len() as u64;
            format!(
                " Its congestion control decided {} times, on information {} old on average, {} at most.",
                ages.len(),
                time(mean),
                time(*oldest)
            )
        }
        None => String::new(),
    };
    format!("{took}: its window{size} was full.{}{known}", marks(all))
}

/// Where the marks came from that kept a window or a rate small, and who stood in front there.
fn marks(all: &Explanation) -> String {
    let mut ports: Vec<_> = all.waits.iter().filter(|wait| wait.marks > 0).collect();
    ports.sort_by_key(|wait| std::cmp::Reverse(wait.marks));
    if ports.is_empty() {
        return String::new();
    }
    let one = |wait: &&crate::PortWait| {
        format!(
            "{} of {} packets at {} (behind {})",
            wait.marks,
            wait.packets.max(wait.marks),
            wait.port,
            shares(&wait.fronts, all.flow.id)
        )
    };
    let places: Vec<String> = ports.iter().take(2).map(one).collect();
    format!(" Marks kept it small: {}.", places.join("; "))
}

fn rates(all: &Explanation) -> String {
    let rates = || all.control.iter().filter_map(|point| point.rate_bps);
    match (rates().min(), rates().max()) {
        (Some(least), Some(most)) => {
            format!(" Its rate was {:.3} to {:.3} Gb/s.", least as f64 / 1e9, most as f64 / 1e9)
        }
        _ => String::new(),
    }
}

/// Who was in front, as text.
pub(crate) fn in_front(fronts: &[FrontFacts], own: u32) -> String {
    let one = |front: &FrontFacts| match (front.flow, front.why) {
        (Some(flow), _) if flow == own => {
            format!("{} of its own packets ({})", bytes(front.bytes), time(front.ps))
        }
        (Some(flow), "overtaken") => format!(
            "{} of flow {flow}, class {}, which came later and left first ({})",
            bytes(front.bytes),
            front.class,
            time(front.ps)
        ),
        (Some(flow), _) => format!("{} of flow {flow} ({})", bytes(front.bytes), time(front.ps)),
        (None, "paused") => format!("a pause of class {} ({})", front.class, time(front.ps)),
        (None, "shaped") => format!("the rate limit of class {} ({})", front.class, time(front.ps)),
        (None, _) => format!("pause frames of the port ({})", time(front.ps)),
    };
    list(joined(fronts).iter().map(one), FLOWS_MOST)
}

/// What the packets of a flow waited for together, as shares of the sum of their waits. Bytes would be
/// counted once for each packet that waited for them.
pub(crate) fn shares(fronts: &[FrontFacts], own: u32) -> String {
    let total: u64 = fronts.iter().map(|front| front.ps).sum();
    let one = |front: &FrontFacts| {
        let what = match (front.flow, front.why) {
            (Some(flow), _) if flow == own => "its own packets".to_string(),
            (Some(flow), "overtaken") => format!("flow {flow}, which overtook it"),
            (Some(flow), _) => format!("flow {flow}"),
            (None, "paused") => format!("pauses of class {}", front.class),
            (None, "shaped") => format!("the rate limit of class {}", front.class),
            (None, _) => "pause frames of the port".to_string(),
        };
        format!("{what} for {}", percent(front.ps as f64 / total.max(1) as f64))
    };
    list(joined(fronts).iter().map(one), FLOWS_MOST)
}

/// What was in front, by flow: a packet that was in transmission and those that were queued are one
/// flow's. Longest first.
fn joined(fronts: &[FrontFacts]) -> Vec<FrontFacts> {
    let key = |one: &FrontFacts| match one.flow {
        Some(flow) if one.why == "overtaken" => (Some(flow), "overtaken", one.class),
        Some(flow) => (Some(flow), "", one.class),
        None => (None, one.why, one.class),
    };
    let mut joined: Vec<FrontFacts> = vec![];
    for front in fronts {
        match joined.iter_mut().find(|known| key(known) == key(front)) {
            Some(known) => {
                (known.ps, known.bytes) = (known.ps + front.ps, known.bytes + front.bytes)
            }
            None => joined.push(front.clone()),
        }
    }
    joined.sort_by_key(|front| std::cmp::Reverse(front.ps));
    joined
}

fn queueing(all: &Explanation, part: &str, took: &str) -> String {
    let tier = part.trim_start_matches("queue_");
    let meaning =
        all.parts.iter().find(|known| known.name == part).map_or("", |known| known.meaning);
    let hops = all.hops.iter().filter(|hop| hop.tier == tier);
    let Some(worst) = hops.max_by_key(|hop| hop.waited_ps) else {
        return format!("{took}: {meaning}.");
    };
    format!(
        "{took}: {meaning}, longest at {} ({}), behind {}.",
        worst.port,
        time(worst.waited_ps),
        in_front(&worst.fronts, all.flow.id)
    )
}

/// Head-of-line blocking: a pause that other flows are the reason of.
fn blocking(all: &Explanation) -> Vec<String> {
    let total = all.flow.fct_ps.unwrap_or(0) as f64;
    let matters = |ps: u64| ps as f64 >= SHARE_LEAST * total;
    let paused = all.pauses.iter().filter(|pause| matters(pause.paused_ps.max(pause.waited_ps)));
    let one = |pause: &crate::PauseFacts| {
        let begins = format!(
            "Head-of-line blocking: {} paused {} (class {}) {} for {}",
            pause.by,
            pause.port,
            pause.class,
            if pause.pauses == 1 { "once".into() } else { format!("{} times", pause.pauses) },
            time(pause.paused_ps)
        );
        let others = pause.holders.iter().filter(|holder| holder.flow != all.flow.id);
        let named = |holder: &crate::Holder| {
            let also = if holder.paused { ", itself paused" } else { "" };
            format!("{} of flow {} at {}{also}", bytes(holder.bytes), holder.flow, holder.port)
        };
        match pause.holders.iter().all(|holder| holder.flow == all.flow.id) {
            true => format!("{begins}."),
            false => format!(
                "{begins}. When the longest pause began, {} held of what had come by this link: {}.",
                pause.by,
                list(others.map(named), FLOWS_MOST)
            ),
        }
    };
    paused.map(one).collect()
}

/// What it would have been without the largest part that the network or the transport added.
fn without(all: &Explanation, base_rtt: u64) -> Option<String> {
    let fct = all.flow.fct_ps?;
    let needed = ["nic_own", "serialisation", "propagation"];
    let added = all.parts.iter().filter(|part| !needed.contains(&part.name));
    let largest = added.max_by_key(|part| part.ps).filter(|part| part.ps > 0)?;
    let extra = fct.saturating_sub(all.flow.ideal_ps);
    (extra > base_rtt / 10).then(|| {
        format!(
            "Ideal would have been {}; {} came on top, most of it `{}`. Without that part alone it would \
             have taken {}.",
            time(all.flow.ideal_ps),
            time(extra),
            largest.name,
            time(fct - largest.ps)
        )
    })
}
