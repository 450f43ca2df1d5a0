//! Known results of DCTCP's congestion control.

use super::*;
use incast_egress::threshold::Threshold;
use incast_endpoint::sender::{Control, Loss};
use incast_testkit::{ControlDriver, MSS};
use incast_transport::Bytes;

type Driver = ControlDriver<Dctcp>;

fn begin(params: Params) -> Driver {
    ControlDriver::new(Dctcp::new(&params, MSS))
}

trait Windows {
    /// One window of data, of which the first `marked` segments were marked.
    fn window(&mut self, marked: u64);

    fn segments(&self) -> f64;
}

impl Windows for Driver {
    fn window(&mut self, marked: u64) {
        let until = self.progress().sent;
        let mut count = 0;
        while self.acknowledged < until {
            self.ack(count < marked);
            count += 1;
        }
    }

    fn segments(&self) -> f64 {
        self.control.window() as f64 / MSS as f64
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn without_marks_alpha_decays_and_slow_start_doubles() {
    let mut driver = begin(Params::default());
    // The first ACK ends the empty window before the flow.
    driver.ack(false);
    assert!(close(driver.control.alpha(), 15.0 / 16.0));
    let mut expected = 15.0 / 16.0;
    for _ in 0..6 {
        let (before, alpha) = (driver.segments(), driver.control.alpha());
        while driver.control.alpha() == alpha {
            driver.ack(false);
        }
        expected *= 15.0 / 16.0;
        assert!(close(driver.control.alpha(), expected));
        assert!(driver.segments() >= before * 1.9, "{} {before}", driver.segments());
    }
    assert!(driver.control.in_slow_start());
}

#[test]
fn the_first_mark_halves_and_ends_slow_start() {
    // Alpha is 1 before the first observation; a marked first ACK keeps it there.
    let mut driver = begin(Params { initial_window: 20, ..Params::default() });
    driver.ack(true);
    assert_eq!(driver.control.alpha(), 1.0);
    assert_eq!(driver.control.window(), 10 * MSS);
    assert!(!driver.control.in_slow_start());
}

#[test]
fn one_cut_per_window_of_data() {
    let mut driver = begin(Params { initial_window: 64, ..Params::default() });
    driver.ack(true);
    let after_first = driver.control.window();
    assert_eq!(after_first, 32 * MSS);
    // What was in flight at the cut neither cuts again nor grows the window.
    let end = driver.acknowledged + 64 * MSS;
    let until = driver.control;
    assert_eq!(until.window(), after_first);
    while driver.acknowledged + MSS <= end - MSS {
        driver.ack(driver.acknowledged.is_multiple_of(2));
        assert_eq!(driver.control.window(), after_first);
        driver.acknowledged = driver.acknowledged.min(end);
    }
    driver.acknowledged = end;
    driver.ack(true);
    assert!(driver.control.window() < after_first);
}

#[test]
fn alpha_follows_the_marked_share() {
    // DCTCP §3.3, Eq. 1, by hand: F = 1/4 per window from alpha = 1.
    let mut driver = begin(Params { initial_window: 400, ..Params::default() });
    driver.lose(Loss::Fast); // 200 segments, congestion avoidance
    driver.acknowledged += 400 * MSS;
    driver.ack(false);
    let mut alpha = 15.0 / 16.0;
    assert!(close(driver.control.alpha(), alpha));
    for _ in 0..40 {
        let (start, before) = (driver.control.alpha(), driver.acknowledged);
        let window = driver.progress().pipe / MSS;
        let (mut marked, mut total) = (0, 0);
        while driver.control.alpha() == start {
            let mark = total % 4 == 0;
            marked += mark as u64;
            total += 1;
            driver.ack(mark);
            assert!(total <= 2 * window);
        }
        assert_eq!((driver.acknowledged - before) / MSS, total);
        alpha = alpha * 15.0 / 16.0 + marked as f64 / total as f64 / 16.0;
        assert!(close(driver.control.alpha(), alpha), "{} {alpha}", driver.control.alpha());
        assert!((0.0..=1.0).contains(&driver.control.alpha()));
    }
}

#[test]
fn congestion_avoidance_adds_a_segment_per_window() {
    let mut driver = begin(Params { initial_window: 100, ..Params::default() });
    driver.lose(Loss::Fast);
    assert_eq!(driver.control.window(), 50 * MSS);
    driver.acknowledged += 100 * MSS;
    for n in 1..=10 {
        driver.window(0);
        // A little less, since the window grows while it is being acknowledged.
        let (grown, most) = (driver.segments() - 50.0, n as f64);
        assert!(grown <= most && grown > 0.97 * most, "{grown}");
    }
}

#[test]
fn nothing_grows_in_recovery_or_below_the_window() {
    let mut driver = begin(Params::default());
    driver.recovering = true;
    driver.ack(false);
    assert_eq!(driver.control.window(), 10 * MSS);
    driver.recovering = false;
    driver.limited = false;
    driver.ack(false);
    assert_eq!(driver.control.window(), 10 * MSS);
}

#[test]
fn losses_halve_the_window_and_timeouts_restart_slow_start() {
    let mut driver = begin(Params { initial_window: 40, ..Params::default() });
    let alpha = driver.control.alpha();
    driver.lose(Loss::Fast);
    assert_eq!((driver.control.window(), driver.control.alpha()), (20 * MSS, alpha));
    driver.acknowledged += 40 * MSS;
    driver.lose(Loss::Timeout);
    assert_eq!((driver.control.window(), driver.control.alpha()), (MSS, alpha));
    assert!(driver.control.in_slow_start());
    for _ in 0..9 {
        driver.ack(false);
    }
    assert_eq!(driver.control.window(), 10 * MSS, "slow start up to half of 20");
    driver.ack(false);
    assert!(driver.control.window() < 11 * MSS, "then congestion avoidance");
}

#[test]
fn a_loss_deepens_a_cut_of_the_same_window_to_a_half() {
    let params = Params { initial_alpha: 0.1, initial_window: 64, ..Params::default() };
    let mut driver = begin(params);
    driver.ack(true);
    let cut = driver.control.window();
    // The marked ACK alone is the first observation: alpha = 15/16 x 0.1 + 1/16.
    assert_eq!(cut, (64.0 * MSS as f64 * (1.0 - 0.15625 / 2.0)) as u64);
    driver.lose(Loss::Fast);
    assert_eq!(driver.control.window(), 32 * MSS);
    driver.lose(Loss::Fast);
    assert_eq!(driver.control.window(), 32 * MSS, "not twice");
}

#[test]
fn the_window_stays_above_its_least() {
    let mut driver = begin(Params { min_window: 2, ..Params::default() });
    for _ in 0..200 {
        driver.ack(true);
        driver.acknowledged = driver.progress().sent;
    }
    assert_eq!(driver.control.window(), 2 * MSS);
    driver.lose(Loss::Timeout);
    assert_eq!(driver.control.window(), MSS);
    driver.acknowledged += 4 * MSS;
    driver.ack(true);
    assert!(driver.control.window() <= 2 * MSS, "a mark never widens the window");
}

#[test]
fn parameters_are_read_and_refused() {
    let read = |key: &str, value: &str| Params::read(&[(key.into(), value.into())]);
    let threshold = |value| read("mark_threshold", value).map(|params| params.mark_threshold);
    assert_eq!(threshold("65 packets"), Ok(Threshold::Packets(65)));
    assert_eq!(threshold("1packet"), Ok(Threshold::Packets(1)));
    assert_eq!(threshold("30KB"), Ok(Threshold::Bytes(Bytes(30_000))));
    assert_eq!(threshold("auto"), Ok(Threshold::Auto));
    for refused in ["0 packets", "0B", "many", "-3 packets", ""] {
        assert!(threshold(refused).is_err(), "{refused}");
    }
    for (key, value) in [("gain", "0"), ("initial_alpha", "1.1"), ("rto_min", "0s"), ("K", "65")] {
        let error = read(key, value).unwrap_err();
        assert_eq!((error.transport, error.key.as_str()), ("dctcp", key));
    }
    for (name, value) in Params::default().resolved() {
        assert!(read(name, &value).is_ok(), "{name} = {value} is not read back");
    }
}
