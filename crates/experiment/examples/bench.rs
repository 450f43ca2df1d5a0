//! The benchmark without the command line: `cargo run --release --example bench -- [CASE]`.

use incast_experiment::bench::{Options, run};

fn main() {
    let case = std::env::args().nth(1);
    let threads = std::env::args().nth(2).map_or(1, |text| text.parse().expect("threads"));
    let runs = std::env::args().nth(3).map_or(3, |text| text.parse().expect("runs"));
    let options = Options { threads, case, runs };
    let done = run(&options, |m| {
        println!(
            "{} {} hops {} ev/hop {:.3} wall {:.3} cpu {:.3} rss {} MiB share {:.3}",
            m.case,
            m.transport,
            m.packet_hops,
            m.events as f64 / m.packet_hops as f64,
            m.wall_s,
            m.cpu_s,
            m.peak_rss_bytes >> 20,
            m.share
        )
    });
    if let Err(fault) = done {
        eprintln!("{fault}");
    }
}
