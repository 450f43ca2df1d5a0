//! Properties of any port under any traffic.

use super::super::*;
use super::numbered::*;
use incast_transport::*;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Put { transport: u8, class: u8, payload: u16, unscheduled: bool },
    Take { open: u8 },
    Pass { ps: u64 },
}

fn steps(transports: u8) -> impl Strategy<Value = Vec<Step>> {
    let put =
        (1..=transports, 0u8..8, prop_oneof![Just(0u16), Just(1460), 1..1460u16], any::<bool>())
            .prop_map(|(transport, class, payload, unscheduled)| Step::Put {
                transport,
                class,
                payload,
                unscheduled,
            });
    let take = prop_oneof![3 => Just(0xFF), 1 => any::<u8>()].prop_map(|open| Step::Take { open });
    let pass = (0..3_000_000u64).prop_map(|ps| Step::Pass { ps });
    prop::collection::vec(prop_oneof![4 => put, 3 => take, 1 => pass], 1..300)
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (0..12u32).prop_map(Limit::Packets),
        (0..12_000u64).prop_map(Limit::Bytes),
        Just(Limit::Unlimited)
    ]
}

fn class(count: u8) -> impl Strategy<Value = ClassPolicy> {
    let discipline = prop_oneof![
        Just(Discipline::DropTail),
        Just(Discipline::SharedTail),
        Just(Discipline::PushOut),
        Just(Discipline::Remaining),
        (limit(), any::<bool>())
            .prop_map(|(threshold, alone)| Discipline::Selective { threshold, alone }),
        (0..count, prop_oneof![Just(0.0), Just(0.5), Just(1.0)], any::<bool>())
            .prop_map(|(headers, tail, bounce)| Discipline::Trim { headers, tail, bounce }),
    ];
    let schedule = prop_oneof![Just(Schedule::Strict), (1..11u32).prop_map(Schedule::Weighted)];
    let shaper = (1..5_000_000_000u64, 1..4000u64)
        .prop_map(|(rate, depth)| Shaper { rate: Rate(rate), depth: Bytes(depth) });
    let shaper = prop_oneof![4 => Just(None), 1 => shaper.prop_map(Some)];
    (schedule, limit(), discipline, shaper).prop_map(|(schedule, limit, discipline, shaper)| {
        ClassPolicy { schedule, limit, discipline, shaper }
    })
}

fn classes() -> impl Strategy<Value = Vec<ClassPolicy>> {
    (1u8..5).prop_flat_map(|count| prop::collection::vec(class(count), count as usize))
}

/// Sums over what a port should hold.
fn held(harness: &Harness, inside: &[(PacketRef, u64)]) -> Backlog {
    let bytes = inside.iter().map(|&(p, _)| harness.packets.charged(p) as u64).sum();
    Backlog { bytes, packets: inside.len() as u32 }
}

/// What a port did: `(packet, time)` of what left, and what became of each packet that came and of
/// those that it displaced.
#[derive(Default, PartialEq, Debug)]
struct Story {
    out: Vec<(u32, u64)>,
    fates: Vec<Fate>,
}

fn conserve(port: &mut dyn Port, steps: &[Step]) -> Result<Story, TestCaseError> {
    conserve_within(port, steps, |_, _| true)
}

/// Runs the steps and checks that every packet put in is inside, left or reported, and that the
/// backlog is that of the packets inside, and `within` always.
fn conserve_within(
    port: &mut dyn Port,
    steps: &[Step],
    within: impl Fn(&Harness, &[(PacketRef, u64)]) -> bool,
) -> Result<Story, TestCaseError> {
    let mut harness = Harness::new();
    let mut inside: Vec<(PacketRef, u64)> = vec![];
    let (mut now, mut next) = (0u64, 0u32);
    let Story { mut out, mut fates } = Story::default();
    let gone = |inside: &mut Vec<(PacketRef, u64)>, packet| {
        let at = inside.iter().position(|&(p, _)| p == packet);
        at.map(|at| inside.remove(at))
    };
    for &step in steps {
        match step {
            Step::Pass { ps } => now += ps,
            Step::Put { transport, class, payload, unscheduled } => {
                let packet = harness.packet(transport, class, next, payload);
                let bits = if unscheduled { data_flag::UNSCHEDULED } else { 0 };
                harness.packets[packet].header =
                    Header::Data { seq: next, offset: 0, tag: 0, flags: bits };
                next += 1;
                let verdict = harness.enqueue(port, Time(now), packet);
                fates.push(verdict.arriving);
                if let Some((other, fate)) = verdict.displaced {
                    fates.push(fate);
                    prop_assert_ne!(fate, Fate::Queued);
                    prop_assert_ne!(other, packet);
                    if fate != Fate::Trimmed {
                        prop_assert!(gone(&mut inside, other).is_some());
                    }
                }
                if matches!(verdict.arriving, Fate::Queued | Fate::Trimmed) {
                    let trimmed = verdict.arriving == Fate::Trimmed;
                    prop_assert_eq!(harness.packets[packet].has(flag::TRIMMED), trimmed);
                    inside.push((packet, now));
                }
            }
            Step::Take { open } => match harness.dequeue(port, Time(now), Classes(open)) {
                Dequeue::Packet(packet) => {
                    prop_assert!(Classes(open).has(harness.packets[packet].class));
                    prop_assert!(gone(&mut inside, packet).is_some());
                    out.push((harness.seq(packet), now));
                }
                Dequeue::NotBefore(at) => prop_assert!(at.0 > now && !inside.is_empty()),
                Dequeue::Empty => prop_assert!(open != 0xFF || inside.is_empty()),
            },
        }
        prop_assert_eq!(port.backlog(), held(&harness, &inside));
        prop_assert!(within(&harness, &inside), "a limit is exceeded");
        prop_assert!(port.data_backlog().packets <= port.backlog().packets);
    }
    while !inside.is_empty() {
        match harness.dequeue(port, Time(now), Classes::ALL) {
            Dequeue::Packet(packet) => {
                prop_assert!(gone(&mut inside, packet).is_some());
                out.push((harness.seq(packet), now));
            }
            Dequeue::NotBefore(at) => now = at.0,
            Dequeue::Empty => prop_assert!(false, "packets vanished"),
        }
    }
    prop_assert_eq!(port.backlog(), Backlog::default());
    prop_assert_eq!(port.data_backlog(), Backlog::default());
    Ok(Story { out, fates })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_packet_is_lost_or_invented(classes in classes(), steps in steps(1)) {
        if let Ok(mut port) = build(vec![policy(1, &classes)], &site()) {
            conserve(&mut *port, &steps)?;
        }
    }

    #[test]
    fn nor_at_a_joined_port(
        a in classes(),
        b in classes(),
        separate in any::<bool>(),
        steps in steps(3),
    ) {
        let join = if separate { Join::Separate } else { Join::Shared };
        let policies = vec![policy(1, &a), policy(2, &b)];
        if let Ok(mut port) = build_joined(policies, join, &site()) {
            conserve(&mut *port, &steps)?;
        }
    }

    /// No limit is exceeded, be it a class's own or one that classes have in common.
    #[test]
    fn limits_hold_at_every_instant(
        disciplines in classes(),
        limit in limit(),
        steps in steps(1),
    ) {
        let classes: Vec<_> =
            disciplines.iter().map(|&class| ClassPolicy { limit, ..class }).collect();
        if let Ok(mut port) = build(vec![policy(1, &classes)], &site()) {
            conserve_within(&mut *port, &steps, |harness, inside| {
                let index = |p: PacketRef| {
                    (harness.packets[p].class as usize).min(classes.len() - 1)
                };
                let kind = |class: usize| match classes[class].discipline {
                    Discipline::DropTail | Discipline::Trim { .. } => class,
                    Discipline::SharedTail => 8,
                    Discipline::PushOut => 9,
                    Discipline::Selective { .. } => 10,
                    Discipline::Remaining => 11,
                };
                (0..12).all(|which| {
                    let mine: Vec<_> = inside.iter().copied()
                        .filter(|&(p, _)| kind(index(p)) == which).collect();
                    let held = held(harness, &mine);
                    match limit {
                        Limit::Packets(most) => held.packets <= most,
                        Limit::Bytes(most) => held.bytes <= most,
                        Limit::Unlimited => true,
                    }
                })
            })?;
        }
    }

    /// The short port does what the general one does.
    #[test]
    fn a_strict_port_is_a_classed_port(
        limits in prop::collection::vec(limit(), 1..=2),
        steps in steps(2),
    ) {
        let classes: Vec<_> = limits.into_iter().map(ClassPolicy::fifo).collect();
        let site = site();
        let plan = join::plan(&[policy(1, &classes)], Join::Shared).unwrap();
        let transmitter = || transmitter::Transmitter::new(vec![], &site);
        prop_assert!(StrictPort::suits(&classes));
        let strict = conserve(&mut StrictPort::new(&classes, transmitter()), &steps)?;
        let classed = conserve(&mut Classed::<false>::new(plan, transmitter()), &steps)?;
        prop_assert_eq!(strict, classed);
    }

    /// The port of headers and trimmed data does what the general one does.
    #[test]
    fn a_pair_is_a_classed_port(
        limits in prop::collection::vec(limit(), 2),
        weights in prop::collection::vec(1..200u32, 2),
        tail in prop_oneof![Just(0.0), Just(0.5), Just(1.0)],
        bounce in any::<bool>(),
        steps in steps(2),
    ) {
        let mut classes = [weighted(weights[0], limits[0]), weighted(weights[1], limits[1])];
        classes[1].discipline = Discipline::Trim { headers: 0, tail, bounce };
        let plan = join::plan(&[policy(1, &classes)], Join::Shared).unwrap();
        let transmitter = transmitter::Transmitter::new(vec![], &site());
        prop_assert!(Pair::suits(&policy(1, &classes)));
        let pair = conserve(&mut Pair::new(&policy(1, &classes)), &steps)?;
        let classed = conserve(&mut Classed::<false>::new(plan, transmitter), &steps)?;
        prop_assert_eq!(pair, classed);
    }

    /// Drop-tail classes: limits hold, order is kept, more important classes leave first.
    #[test]
    fn strict_classes_keep_limit_order_and_priority(
        limits in prop::collection::vec(limit(), 2..=8),
        steps in steps(1),
    ) {
        let classes: Vec<_> = limits.iter().map(|&limit| ClassPolicy::fifo(limit)).collect();
        let mut port = build(vec![policy(1, &classes)], &site()).unwrap();
        let mut harness = Harness::new();
        let mut queues = vec![std::collections::VecDeque::new(); classes.len()];
        for (seq, &step) in steps.iter().enumerate() {
            match step {
                Step::Put { class, payload, .. } => {
                    let packet = harness.packet(1, class, seq as u32, payload);
                    let queue: &mut std::collections::VecDeque<PacketRef> =
                        &mut queues[(class as usize).min(classes.len() - 1)];
                    let bytes = queue.iter().map(|&p| harness.packets.charged(p) as u64).sum();
                    let fits = classes[(class as usize).min(classes.len() - 1)].limit.admits(
                        queue.len() as u32, bytes, harness.packets.charged(packet));
                    let fate = if fits { Fate::Queued } else { Fate::Dropped };
                    prop_assert_eq!(harness.enqueue(&mut *port, Time::ZERO, packet), Verdict::only(fate));
                    if fits {
                        queue.push_back(packet);
                    }
                }
                Step::Take { .. } => {
                    let expected = queues.iter_mut().find_map(|queue| queue.pop_front());
                    let expected = expected.map_or(Dequeue::Empty, Dequeue::Packet);
                    prop_assert_eq!(harness.dequeue(&mut *port, Time::ZERO, Classes::ALL), expected);
                }
                Step::Pass { .. } => {}
            }
        }
    }

    /// While two weighted classes both wait, their bytes per weight differ by at most a packet of
    /// each, over any interval: the difference never spans more than that.
    #[test]
    fn weights_are_kept_within_one_packet(
        weights in prop::collection::vec(1..11u32, 2..=4),
        payloads in prop::collection::vec(0..1460u16, 4),
        closed in 0usize..4,
    ) {
        let classes: Vec<_> =
            weights.iter().map(|&weight| weighted(weight, Limit::Unlimited)).collect();
        let mut port = build(vec![policy(1, &classes)], &site()).unwrap();
        let mut harness = Harness::new();
        for (class, &payload) in payloads.iter().enumerate().take(weights.len()) {
            for seq in 0..1500 {
                let packet = harness.packet(1, class as u8, seq, payload);
                harness.enqueue(&mut *port, Time::ZERO, packet);
            }
        }
        // A class that is closed for a while must not catch up afterwards.
        for _ in 0..100 {
            harness.dequeue(&mut *port, Time::ZERO, Classes(!(1 << closed)));
        }
        let mut bytes = vec![0f64; weights.len()];
        let largest: Vec<f64> = (0..weights.len())
            .map(|i| (payloads[i] as f64 + 78.0).max(84.0) / weights[i] as f64)
            .collect();
        for _ in 0..1000 {
            let Dequeue::Packet(packet) = harness.dequeue(&mut *port, Time::ZERO, Classes::ALL) else {
                break;
            };
            let class = harness.packets[packet].class as usize;
            bytes[class] += largest[class];
            for i in 0..weights.len() {
                for j in 0..weights.len() {
                    prop_assert!((bytes[i] - bytes[j]).abs() <= largest[i] + largest[j] + 1e-6,
                        "{:?} {:?}", bytes, weights);
                }
            }
        }
    }

    /// Over any interval a shaped class sends at most depth + rate x time, and it is not slower.
    #[test]
    fn a_shaper_keeps_its_bound_over_any_interval(
        rate in 1_000_000..20_000_000_000u64,
        depth in 84..4000u64,
        waits in prop::collection::vec(0..2_000_000u64, 1..60),
    ) {
        let shaper = Shaper { rate: Rate(rate), depth: Bytes(depth) };
        let mut bucket = TokenBucket::new(shaper);
        let (mut now, mut sent) = (0u64, vec![]);
        for &wait in &waits {
            let at = bucket.ready(Time(now), 84).0;
            prop_assert!(at >= now);
            if at > now {
                // One picosecond earlier the tokens are not there.
                prop_assert_eq!(bucket.ready(Time(at - 1), 84), Time(at));
                prop_assert_eq!(bucket.ready(Time(at), 84), Time(at));
            }
            bucket.take(84);
            sent.push(at);
            now = at + wait;
        }
        for (first, &from) in sent.iter().enumerate() {
            for (last, &to) in sent.iter().enumerate().skip(first) {
                let bytes = 84 * (last - first + 1) as u128 * 8_000_000_000_000;
                let bound = depth as u128 * 8_000_000_000_000 + rate as u128 * (to - from) as u128;
                prop_assert!(bytes <= bound);
            }
        }
    }

    /// Appending, taking at both ends and from the middle, against a plain list.
    #[test]
    fn a_fifo_is_a_list(ops in prop::collection::vec((0u8..4, any::<u16>()), 1..200)) {
        let mut harness = Harness::new();
        let (mut fifo, mut list) = (Fifo::default(), vec![]);
        for (op, arg) in ops {
            match op {
                0 | 1 => {
                    let packet = harness.packet(1, 0, 0, arg % 1460);
                    fifo.push(&mut harness.packets, packet);
                    list.push(packet);
                }
                2 if arg % 2 == 0 => {
                    let first = (!list.is_empty()).then(|| list.remove(0));
                    prop_assert_eq!(fifo.pop(&harness.packets), first);
                }
                2 => prop_assert_eq!(fifo.pop_tail(&mut harness.packets), list.pop()),
                _ if list.is_empty() => {}
                _ => {
                    let packet = list.remove(arg as usize % list.len());
                    fifo.unlink(&mut harness.packets, packet);
                }
            }
            prop_assert_eq!(fifo.head(), list.first().copied());
            prop_assert_eq!(fifo.tail(), list.last().copied());
            let bytes = list.iter().map(|&p| harness.packets.charged(p) as u64).sum();
            prop_assert_eq!(fifo.backlog(), Backlog { bytes, packets: list.len() as u32 });
        }
    }
}
