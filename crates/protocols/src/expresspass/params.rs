//! Parameters of ExpressPass.

use incast_transport::{Span, choice, parameters};

choice! {
    /// Feedback loop of the credit rate.
    pub enum Feedback {
        /// The authors' published code.
        Code = "code",
        /// Algorithm 1 of the paper.
        Paper = "paper",
    }
}

choice! {
    /// What a flow does before its first credit.
    pub enum FirstRtt {
        /// Wait.
        Wait = "wait",
        /// Send unscheduled packets, which ports drop first (Aeolus).
        Aeolus = "aeolus",
    }
}

parameters! {
    /// Parameters of ExpressPass.
    pub struct Params for "expresspass" {
        /// Feedback loop: the authors' code, or the paper's Algorithm 1.
        fb: Feedback = Feedback::Code, "code or paper" => |_| true,
            "xpass.cc: credit_feedback_control, published after SIGCOMM 2017 Algorithm 1";
        /// First credit rate, as a share of the largest.
        alpha: f64 = 0.5, "0 < alpha <= 1" => |v| *v > 0.0 && *v <= 1.0,
            "authors' scripts: 1/2; REN and ExpressPass §6 recommend 1/16";
        /// First aggressiveness w.
        w_init: f64 = 0.0625, "0 to 1" => |v| (0.0..=1.0).contains(v),
            "authors' fat-tree script, REN: 1/16; ns-default.tcl: 1/2";
        /// Least aggressiveness.
        w_min: f64 = 0.01, "0 < w_min <= 1" => |v| *v > 0.0 && *v <= 1.0,
            "ExpressPass §3.2; ns-default.tcl";
        /// Largest aggressiveness.
        w_max: f64 = 0.5, "0 < w_max <= 1" => |v| *v > 0.0 && *v <= 1.0,
            "ExpressPass §3.2; ns-default.tcl";
        /// Target credit loss; auto: 0.1 for `paper`, and for `code` 0.125 x (1 - rate / largest rate).
        target_loss: Option<f64> = None, "0 to 1, or auto"
            => |v| v.is_none_or(|v| (0.0..=1.0).contains(&v)),
            "ExpressPass §3.2; xpass.cc";
        /// Flows of fewer packets start at a rate in proportion to their size; auto: 40 for `code`, 0 (off) for `paper`.
        short_flow: Option<u32> = None, "0 to 1000000 packets, or auto"
            => |v| v.is_none_or(|v| v <= 1_000_000),
            "xpass.cc";
        /// Largest deviation of the time between credits, as a share of it.
        jitter: f64 = 0.1, "0 <= jitter < 1" => |v| (0.0..1.0).contains(v),
            "ExpressPass §3.1; ns-default.tcl";
        /// Whether the length of credits varies, from 84 to 100 charged bytes.
        size_jitter: bool = false, "true or false" => |_| true,
            "fat-tree script: 76 to 92 B, which is below Ethernet's least";
        /// Share of a link for credits; auto: the share whose data fills the rest of the link, 84/1622 with Ethernet, with `size_jitter` 92/1630.
        credit_share: Option<f64> = None, "0 < share <= 1, such that the data of the credits fits the link (0.0546, 84/1538, with Ethernet), or auto"
            => |v| v.is_none_or(|v| v > 0.0 && v <= 1.0),
            "ExpressPass §3.1; CCRP and the NUDT model round to 0.05";
        /// Whether the credits' share of a link is reserved for them even when there are few credits.
        reserve: bool = false, "true or false" => |_| true,
            "CCRP §3.4: data has 95 % of a link, also in a mix";
        /// Most credits queued at a port.
        credit_queue: u32 = 8, "1 to 10000 credits" => |v| (1..=10_000).contains(v),
            "fat-tree script: 8; ns-default.tcl: 10";
        /// Depth of a port's token bucket, in credits.
        bucket: u32 = 2, "1 to 10000 credits" => |v| (1..=10_000).contains(v),
            "fat-tree script: 2; ns-default.tcl: 10";
        /// Whether a source stops credits as soon as those in flight suffice.
        early_stop: bool = true, "true or false" => |_| true,
            "xpass.cc";
        /// Time after which requests without a reply and missing data are requested again; auto: 0.1 ms, at least 2 base RTT.
        retransmit_timeout: Option<Span> = None, "1us to 1s, or auto"
            => |v| v.is_none_or(|v| (Span::from_us(1)..=Span::from_secs(1)).contains(&v)),
            "fat-tree script: 0.1 ms; ns-default.tcl: 100 ms";
        /// What a flow does before its first credit: wait or aeolus.
        first_rtt: FirstRtt = FirstRtt::Wait, "wait or aeolus" => |_| true,
            "Aeolus, SIGCOMM 2020";
        /// With `first_rtt = aeolus`: queue length up to which an unscheduled packet is admitted.
        threshold: u32 = 4, "0 to 1000000 packets" => |v| *v <= 1_000_000,
            "Aeolus, SIGCOMM 2020: 6 KB";
    }
}
