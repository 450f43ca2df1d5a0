//! How much credit of a destination one source may hold: two loops like DCTCP's, one for marks of the
//! source itself, one for marks of switches.

/// What the loops of all sources have in common.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Law {
    /// Charged bytes of a BDP.
    pub bdp: f64,
    /// Charged bytes of a full packet.
    pub packet: f64,
    /// Weight of the last window in the average share of marks.
    pub gain: f64,
    /// Least bound of the loop on sources' marks, in BDPs.
    pub host_least: f64,
    /// Least bound of the loop on switches' marks, in BDPs.
    pub net_least: f64,
    /// Whether marked packets raise the bound too.
    pub grows_on_marks: bool,
}

/// One loop.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Loop {
    most: f64,
    /// Average share of marks.
    ratio: f64,
    /// Marks of this window.
    marked: f64,
    /// Packets since the last cut, and how many must pass before the next.
    since: f64,
    next: f64,
}

/// What one source may hold.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share {
    net: Loop,
    host: Loop,
    /// Packets of this window, and how long it is.
    seen: f64,
    window: f64,
}

impl Share {
    /// A BDP.
    pub fn new(law: &Law) -> Share {
        let next = law.bdp / law.packet;
        let one = Loop { most: law.bdp, ratio: 0.0, marked: 0.0, since: 0.0, next };
        Share { net: one, host: one, seen: 0.0, window: 1.0 }
    }

    /// Charged bytes that the source may hold.
    #[inline]
    pub fn most(&self) -> f64 {
        self.net.most.min(self.host.most)
    }

    /// Average shares of marks of switches and of the source.
    pub fn ratios(&self) -> (f64, f64) {
        (self.net.ratio, self.host.ratio)
    }

    /// A packet has come, with a mark of a switch or of its source.
    pub fn arrived(&mut self, law: &Law, net: bool, host: bool) {
        self.seen += 1.0;
        self.net.marked += net as u8 as f64;
        self.host.marked += host as u8 as f64;
        let renewed = self.seen >= self.window;
        if renewed {
            self.net.average(law, self.seen);
            self.host.average(law, self.seen);
        }
        let most = self.most();
        self.net.step(law, net, most, law.net_least);
        self.host.step(law, host, most, law.host_least);
        if renewed {
            self.seen = 0.0;
            self.window = self.most() / law.packet;
        }
    }

    /// Whether it is as of a source that nothing is known of.
    pub fn is_new(&self, law: &Law) -> bool {
        self.most() >= law.bdp && self.ratios() == (0.0, 0.0)
    }
}

impl Loop {
    fn average(&mut self, law: &Law, seen: f64) {
        self.ratio = (1.0 - law.gain) * self.ratio + law.gain * self.marked / seen;
        self.marked = 0.0;
    }

    /// `most` is what both loops allow: a packet more per window of that.
    fn step(&mut self, law: &Law, marked: bool, most: f64, least: f64) {
        self.since += 1.0;
        if law.grows_on_marks || !marked {
            self.most += law.packet * law.packet / most;
        }
        if marked && self.since >= self.next {
            self.most -= self.most * self.ratio / 2.0;
            self.since = 0.0;
            self.next = 1.5 * most / law.packet;
        }
        self.most = self.most.clamp(least * law.bdp, law.bdp);
    }
}
