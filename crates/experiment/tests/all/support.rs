//! Scenarios that proptest draws.

use incast_egress::port::Join;
use incast_experiment::scenario::{
    AllToAll, Assign, Auto, Backend, Balance, Buffer, Burst, Clock, ClosedLoop, Collective,
    Connections, DataPlane, DelayText, Fabric, FlowFile, ForwardingName, Host, Hosts, Incast,
    Issue, Job, Link, LinkFailure, Long, ManyToMany, NicChoice, Output, Overhead, Permutation, Pfc,
    Poisson, Program, Queue, Requests, Run, Setting, SharedBuffer, Storm, Trace, Traffic,
    Transport, Watchdog,
};
use incast_experiment::{Scenario, World};
use incast_transport::{Acks, Bytes, Limit, Rate, Routing, Schedule, Span, Time};
use incast_workload::{Algorithm, CollectiveKind, FlowClass, SizeUnit, StartUnit};
use incast_world::{StampAt, Stuck};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

fn text() -> impl Strategy<Value = String> {
    // Quotes, backslashes, line ends and letters beyond ASCII are text too.
    "[ -~\\n\\té中]{0,12}"
}

fn span() -> impl Strategy<Value = Span> {
    prop_oneof![any::<u64>(), 0..2_000_000_000u64].prop_map(Span)
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![any::<u64>(), 0..100_000u64].prop_map(Bytes)
}

fn rate() -> impl Strategy<Value = Rate> {
    prop_oneof![1..u64::MAX, (1..400u64).prop_map(|gbps| gbps * 1_000_000_000)].prop_map(Rate)
}

/// 0 to less than 1.
fn share() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..1.0, Just(f64::MIN_POSITIVE)]
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![1e-9..9.0, Just(f64::MIN_POSITIVE), Just(f64::MAX), Just(3.0)]
}

/// A length of time that a run can last.
fn in_a_run() -> impl Strategy<Value = Span> {
    prop_oneof![1..2_000_000_000u64, 1..=Time::HORIZON.0].prop_map(Span)
}

fn auto<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Auto<T>> {
    of(value).prop_map(Auto)
}

fn hosts() -> impl Strategy<Value = Hosts> {
    let range =
        (any::<u32>(), 0..9u32).prop_map(|(first, more)| (first, first.saturating_add(more)));
    vec(range, 1..4).prop_map(Hosts)
}

fn buffer() -> impl Strategy<Value = Buffer> {
    prop_oneof![
        (1..u32::MAX).prop_map(Limit::Packets),
        (1..u64::MAX).prop_map(Limit::Bytes),
        Just(Limit::Unlimited)
    ]
    .prop_map(Buffer)
}

fn watchdog() -> impl Strategy<Value = Watchdog> {
    let above = || (1..u64::MAX).prop_map(Span);
    (above(), above(), select(Stuck::NAMES.map(|(_, action)| action).to_vec()))
        .prop_map(|(detect, restore, action)| Watchdog { detect, restore, action })
}

fn pfc() -> impl Strategy<Value = Pfc> {
    let own = (vec(0..8u8, 0..9), auto(bytes()), auto(bytes()), auto(bytes()), any::<bool>());
    let faster = (of(positive()), of(bytes()), of(bytes()));
    let shared = (auto(positive()), faster, bytes(), any::<bool>(), of(watchdog()));
    (own, shared).prop_map(|(own, (alpha, faster, reserve, headroom_in_pool, watchdog))| {
        let (classes, xoff, release, headroom, allow_cycles) = own;
        let rate = || "100Gbps".to_string();
        let alpha_by_rate = faster.0.map(|alpha| (rate(), alpha)).into_iter().collect();
        let xoff_by_rate = faster.1.map(|xoff| (rate(), xoff)).into_iter().collect();
        let reserve_by_rate = faster.2.map(|reserve| (rate(), reserve)).into_iter().collect();
        Pfc {
            classes,
            xoff,
            xoff_by_rate,
            release,
            headroom,
            alpha,
            alpha_by_rate,
            reserve,
            reserve_by_rate,
            headroom_in_pool,
            allow_cycles,
            watchdog,
        }
    })
}

fn queues() -> impl Strategy<Value = Vec<Queue>> {
    let queue = prop_oneof![Just(Schedule::Strict), (1..u32::MAX).prop_map(Schedule::Weighted)];
    vec(queue.prop_map(Queue), 0..8)
}

fn fabric() -> impl Strategy<Value = Fabric> {
    let above = || (1..u64::MAX).prop_map(Span);
    let bursts = (of(above()), of(above()), of(0.0..=1.0));
    let link = (text(), text(), of(rate()), of(span()), of(share()), bursts).prop_map(
        |(a, b, rate, propagation, loss, (burst_every, burst_lasts, burst_loss))| Link {
            a,
            b,
            rate,
            propagation,
            loss,
            burst_every,
            burst_lasts,
            burst_loss,
        },
    );
    let failure = (span(), text(), text(), of(above()), of(above()), any::<bool>(), 1..=10_000u32);
    let failure = failure.prop_map(|(at, a, b, repair_after, up_for, random, times)| LinkFailure {
        at,
        a,
        b,
        repair_after,
        up_for,
        random,
        times,
    });
    let shared = ((2_000..u64::MAX).prop_map(Bytes), positive())
        .prop_map(|(pool, alpha)| SharedBuffer { pool, alpha });
    let links = (auto(rate()), auto(span()), auto(rate()), auto(span()), of(positive()), share());
    let memory = (buffer(), of(shared), of(pfc()), auto(in_a_run()), queues());
    let sizes = (128..=65_000u32, 0..=1_000u32, 1..=60_000u32, 0..=255u32, auto(0..=60_000u32));
    let sizes = (sizes, any::<bool>());
    let forwarding = select(ForwardingName::NAMES.map(|(_, name)| name).to_vec());
    let nic = of(select(NicChoice::NAMES.map(|(_, choice)| choice).to_vec()));
    let nic = (nic, any::<bool>(), of(rate()));
    let delay = || (0..=1_000_000_000_000u64).prop_map(Span);
    let switching = (forwarding, 1..=65_000u32, delay(), delay());
    let storm = (any::<u32>(), span(), of(above()));
    let storm = storm.prop_map(|(host, at, lasts)| Storm { host, at, lasts });
    let lists = (vec(link, 0..3), vec(failure, 0..3), vec(storm, 0..3));
    (of(text()), (of(text()), nic), links, memory, lists, sizes, switching).prop_map(
        |(
            topology,
            (file, (nic, hosts_forward, core_rate)),
            all,
            memory,
            lists,
            sizes,
            switching,
        )| {
            let (rate, propagation, uplink_rate, uplink_propagation, oversubscription, loss) = all;
            let (buffer, shared_buffer, pfc, base_rtt, queues) = memory;
            let (forwarding, cut_through_bytes, switch_delay, host_delay) = switching;
            let ((mtu, data_header, control_packet, overhead, min_frame), pad_last) = sizes;
            let (links, failures, storms) = lists;
            Fabric {
                topology,
                file,
                nic,
                hosts_forward,
                core_rate,
                rate,
                propagation,
                uplink_rate,
                uplink_propagation,
                oversubscription,
                loss,
                buffer,
                queues,
                shared_buffer,
                pfc,
                mtu,
                data_header,
                control_packet,
                l2_overhead: Overhead(overhead),
                min_frame,
                pad_last,
                forwarding,
                cut_through_bytes,
                switch_delay,
                host_delay,
                base_rtt,
                links,
                failures,
                storms,
            }
        },
    )
}

fn transport() -> impl Strategy<Value = Transport> {
    let class = select(FlowClass::ALL.to_vec());
    let assign = (text(), of(hosts()), of(class)).prop_map(|(name, hosts, class)| Assign {
        name,
        hosts,
        class,
    });
    let routing = auto(select(Routing::NAMES.map(|one| one.1).to_vec()));
    let join = select(Join::NAMES.map(|one| one.1).to_vec());
    let own = btree_map(text(), text().prop_map(Setting::Text), 0..3);
    let parameters = btree_map(text(), own, 0..3);
    let lists = (vec(text(), 0..3), vec(assign, 0..3), parameters);
    let timers = (share(), (0..=1_000_000_000_000u64).prop_map(Span));
    let acks = auto(select(Acks::NAMES.map(|(_, acks)| acks).to_vec()));
    let routing = (routing, of(balance()));
    (lists, (routing, of(text()), acks), timers, join, of(text())).prop_map(
        |(lists, ((routing, balance), paths, acks), timers, join, marking)| {
            let (names, assign, parameters) = lists;
            let (rto_jitter, timer_granularity) = timers;
            Transport {
                routings: routing.0.map(|one| ("ndp".to_string(), one)).into_iter().collect(),
                names,
                routing,
                balance,
                paths,
                acks,
                rto_jitter,
                timer_granularity,
                join,
                marking,
                assign,
                parameters,
            }
        },
    )
}

fn balance() -> impl Strategy<Value = Balance> {
    let second = || (0..=1_000_000_000_000u64).prop_map(Span);
    let counts = (1..=65_535u32, 1..=64u32, 0..=64u32);
    let plb = (auto(1..=1_000u32), auto(0.01..=1.0f64), 0.01..=1.0f64);
    (counts, auto(second()), 1..=1_000_000_000u64, second(), any::<bool>(), plb).prop_map(
        |((entropies, samples, memory), flowlet_gap, quantum, stale, data_only, plb)| Balance {
            entropies,
            samples,
            memory,
            flowlet_gap,
            quantum: Bytes(quantum),
            stale,
            data_only,
            plb_rounds: plb.0,
            plb_share: plb.1,
            conga_period: Span(stale.0 + 1_000),
            conga_decay: plb.2,
            conga_age: stale,
        },
    )
}

/// A first burst, and how much later flows start.
fn more() -> impl Strategy<Value = (Option<u32>, Span)> {
    (first(), span())
}

/// A first burst.
fn first() -> impl Strategy<Value = Option<u32>> {
    of(1..=1_000_000u32)
}

/// A queue of data, drawn with the first burst.
fn queue(burst: Option<u32>) -> Option<u8> {
    burst.map(|burst| 1 + (burst % 7) as u8)
}

fn sizes() -> impl Strategy<Value = Option<SizeUnit>> {
    of(select(SizeUnit::NAMES.map(|(_, unit)| unit).to_vec()))
}

fn starts() -> impl Strategy<Value = Option<StartUnit>> {
    of(select(StartUnit::NAMES.map(|(_, unit)| unit).to_vec()))
}

fn collective() -> impl Strategy<Value = Collective> {
    let kind = select(CollectiveKind::NAMES.map(|one| one.1).to_vec());
    let algorithm = of(select(Algorithm::NAMES.map(|one| one.1).to_vec()));
    let parts = || 1..=4_194_304u32;
    let shares = (of(vec(share(), 0..3)), of(text()));
    let ranks = (of(hosts()), of(any::<u32>()), of(any::<u32>()), shares);
    let more = (span(), of(any::<u32>()), of(span()), span(), first());
    let issue = select(Issue::NAMES.map(|one| one.1).to_vec());
    (kind, algorithm, ranks, bytes(), (parts(), parts(), issue, parts()), more).prop_map(
        |(collective, algorithm, ranks, size, (channels, chunks, issue, iterations), more)| {
            let (ranks, group, root, (shares, shares_file)) = ranks;
            let (compute, straggler, extra, at, burst) = more;
            Collective {
                collective,
                algorithm,
                ranks,
                size,
                group,
                root,
                shares,
                shares_file,
                channels,
                chunks,
                issue,
                connection: match issue {
                    Issue::Serial => Connections::Message,
                    Issue::Free => Connections::Pair,
                },
                iterations,
                compute,
                straggler,
                extra,
                at,
                burst,
                priority: queue(burst),
            }
        },
    )
}

fn program() -> impl Strategy<Value = Program> {
    let placement = select(vec![
        "packed",
        "random",
        "strided:1",
        "strided:12",
        "rail_aligned",
        "rail_aligned:4",
    ]);
    let places = (of(hosts()), placement, of(text()));
    let issue = select(Issue::NAMES.map(|one| one.1).to_vec());
    (text(), places, issue, span(), first()).prop_map(
        |(file, (hosts, placement, placement_file), issue, at, burst)| Program {
            file,
            hosts,
            placement: placement.into(),
            placement_file,
            issue,
            connection: match issue {
                Issue::Serial => Connections::Message,
                Issue::Free => Connections::PairChannel,
            },
            at,
            burst,
            priority: queue(burst),
        },
    )
}

/// A job with what a program has, made of one, or with what a collective has.
fn job() -> impl Strategy<Value = Job> {
    let common = (text(), any::<bool>(), (1..=65_536u32, of(rate()), span()), 0.0..1e6);
    (collective(), program(), any::<bool>(), of(2..=4_194_304u32), common).prop_map(
        |(collective, program, programs, ranks, common)| {
            let (name, share, (server, local_rate, local_latency), compute_scale) = common;
            Job {
                name,
                program: programs.then_some(program.file),
                collective: (!programs).then_some(collective.collective),
                algorithm: collective.algorithm,
                size: Some(collective.size),
                group: collective.group,
                root: collective.root,
                shares: collective.shares,
                channels: collective.channels,
                chunks: collective.chunks,
                ranks,
                hosts: program.hosts,
                placement: program.placement,
                placement_file: program.placement_file,
                share,
                server,
                local_rate,
                local_latency,
                at: program.at,
                iterations: collective.iterations,
                compute: collective.compute,
                compute_scale,
                straggler: collective.straggler,
                extra: collective.extra,
                issue: Some(program.issue).filter(|_| share),
                connection: program.connection,
                burst: program.burst,
                priority: program.priority,
            }
        },
    )
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let load = positive().prop_filter("0.6 is 60 %", |load| *load <= 10.0);
    let poisson = (text(), sizes(), load, 1..=4_194_304u32, of(text()), first()).prop_map(
        |(workload, size_unit, load, flows, packets, burst)| Poisson {
            workload,
            size_unit,
            load,
            flows,
            packets,
            burst,
            priority: queue(burst),
        },
    );
    let who = (of(any::<u32>()), of(hosts()), of(hosts()), of(any::<u32>()), of(1..4_194_305u32));
    let when =
        (span(), of(span()), of(positive()), of(positive()), of(1..4_194_305u32), of(span()));
    let incast = (who, bytes(), of(bytes()), when, more()).prop_map(
        |(who, size, request, when, (burst, jitter))| {
            let (receiver, receivers, from, senders, fan_in) = who;
            let (at, period, rate, load, count, lasts) = when;
            Incast {
                receiver,
                receivers,
                from,
                senders,
                fan_in,
                size,
                request,
                at,
                period,
                rate,
                load,
                count,
                lasts,
                jitter,
                burst,
                priority: queue(burst),
            }
        },
    );
    let requests = (hosts(), hosts(), bytes(), bytes(), any::<u32>(), span(), span(), more());
    let requests =
        requests.prop_map(|(to, from, size, request, count, period, at, (burst, jitter))| {
            Requests {
                to,
                from,
                size,
                request,
                count,
                period,
                at,
                jitter,
                burst,
                priority: queue(burst),
            }
        });
    let closed = (text(), sizes(), 1..4_194_305u32, 1..4_194_305u32, span(), span(), more());
    let closed =
        closed.prop_map(|(workload, size_unit, active, flows, pause, at, (burst, jitter))| {
            ClosedLoop {
                workload,
                size_unit,
                active,
                flows,
                pause,
                at,
                jitter,
                burst,
                priority: queue(burst),
            }
        });
    let many = (hosts(), hosts(), hosts(), bytes(), share(), span(), more()).prop_map(
        |(from, to, to_second, size, responsive, at, (burst, jitter))| ManyToMany {
            from,
            to,
            to_second,
            size,
            responsive,
            at,
            jitter,
            burst,
            priority: queue(burst),
        },
    );
    let long = (hosts(), hosts(), of(bytes()), span(), of(span()), more()).prop_map(
        |(from, to, size, at, until, (burst, jitter))| Long {
            from,
            to,
            size,
            at,
            until,
            jitter,
            burst,
            priority: queue(burst),
        },
    );
    let burst = (hosts(), any::<u32>(), of(bytes()), of(span()), span(), any::<u32>(), span());
    let burst = (burst, more()).prop_map(
        |((from, receiver, size, lasts, at, count, period), (burst, jitter))| Burst {
            from,
            receiver,
            size,
            lasts,
            at,
            count,
            period,
            jitter,
            burst,
            priority: queue(burst),
        },
    );
    prop_oneof![
        poisson.prop_map(Traffic::Poisson),
        closed.prop_map(Traffic::ClosedLoop),
        (bytes(), more()).prop_map(|(size, (burst, jitter))| Traffic::Permutation(Permutation {
            size,
            jitter,
            burst,
            priority: queue(burst)
        })),
        (bytes(), of(text()), more()).prop_map(
            |(size, matrix, (burst, jitter))| Traffic::AllToAll(AllToAll {
                size,
                matrix,
                jitter,
                burst,
                priority: queue(burst)
            })
        ),
        incast.prop_map(Traffic::Incast),
        requests.prop_map(Traffic::Requests),
        many.prop_map(Traffic::ManyToMany),
        long.prop_map(Traffic::Long),
        burst.prop_map(Traffic::Burst),
        collective().prop_map(Traffic::Collective),
        program().prop_map(Traffic::Program),
        (text(), starts(), more()).prop_map(|(file, start_unit, (burst, jitter))| {
            Traffic::FlowFile(FlowFile { file, start_unit, jitter, burst, priority: queue(burst) })
        }),
    ]
}

fn run() -> impl Strategy<Value = Run> {
    let threads = auto((1..u32::MAX).prop_map(|threads| threads as usize));
    let world = select(World::NAMES.map(|(_, world)| world).to_vec());
    let times = (of(in_a_run()), auto(in_a_run()));
    let against = of(1..=1_000_000u32);
    (any::<u64>(), world, against, threads, times, auto(share()), auto(any::<u32>())).prop_map(
        |(seed, world, against_packets, threads, (until, interval), warmup, watch)| Run {
            seed,
            world,
            against_packets,
            threads,
            until,
            interval,
            warmup,
            watch,
        },
    )
}

fn delay() -> impl Strategy<Value = DelayText> {
    let time = || (0..=1_000_000_000_000u64).prop_map(Span);
    prop_oneof![
        time().prop_map(DelayText::Fixed),
        (time(), time())
            .prop_map(|(one, other)| DelayText::Uniform(one.min(other), one.max(other))),
        time().prop_map(DelayText::Exponential),
        "[a-z./é]{1,9}".prop_map(DelayText::File),
    ]
}

fn host() -> impl Strategy<Value = Host> {
    let coalesce = (of(2..=65_535u32), of((1_000..1_000_000_000_000u64).prop_map(Span)));
    let stamps = select(StampAt::NAMES.map(|(_, at)| at).to_vec());
    (delay(), delay(), coalesce, (0..1_000_000_000u64).prop_map(Span), stamps).prop_map(
        |(send_delay, receive_delay, coalesce, stamp_resolution, stamp_at)| Host {
            send_delay,
            receive_delay,
            coalesce_packets: coalesce.0,
            coalesce_time: coalesce.1,
            stamp_resolution,
            stamp_at,
        },
    )
}

fn dataplane() -> impl Strategy<Value = DataPlane> {
    let backend = select(Backend::NAMES.map(|(_, backend)| backend).to_vec());
    let clock = select(Clock::NAMES.map(|(_, clock)| clock).to_vec());
    (backend, clock, share(), share()).prop_map(
        |(backend, clock, max_lateness, max_packet_difference)| DataPlane {
            backend,
            clock,
            max_lateness,
            max_packet_difference,
        },
    )
}

/// Any scenario of values in their accepted ranges, whether or not it can be run.
pub fn any_scenario() -> impl Strategy<Value = Scenario> {
    let trace = (vec(any::<u32>(), 0..3), vec(text(), 0..3), of(hosts()), span(), of(span()));
    let trace =
        (trace, 1..=100_000_000u64).prop_map(|((flows, ports, hosts, from, until), limit)| Trace {
            flows,
            ports,
            hosts,
            from,
            until,
            limit,
        });
    let output =
        (any::<bool>(), vec(text(), 0..3), of(trace)).prop_map(|(csv, pcap, trace)| Output {
            csv,
            pcap_flows: pcap.iter().map(|name: &String| name.len() as u32).collect(),
            pcap_snap: 7 * pcap.len() as u32,
            pcap_limit: 1 + pcap.len() as u64,
            paths: pcap.len() % 2 == 1,
            pcap,
            trace,
        });
    let rest = (of(host()), run(), of(dataplane()), output);
    let flows = (vec(traffic(), 0..4), vec(job(), 0..3));
    let all = (text(), fabric(), transport(), flows, rest);
    all.prop_map(|(title, fabric, transport, (traffic, job), (host, run, dataplane, output))| {
        Scenario { title, fabric, transport, traffic, job, host, run, dataplane, output }
    })
}
