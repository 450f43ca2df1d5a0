"""My own congestion control: DCTCP in forty lines, and a change of it, beside the catalogue's.

    python examples/my_control.py [--quick] [--pictures DIR]

`Dctcp` gives the flow records of the catalogue's `dctcp` to the last byte. `Gentle` cuts its window less as long
as few packets are marked.
"""

import incast


class Dctcp(incast.Control):
    """DCTCP (RFC 8257): once per window of data, the window is cut by half the share of marked packets."""

    name = "my_dctcp"
    ecn = True
    ports_like = "dctcp"
    parameters = {"gain": 1 / 16, "initial_window": 10, "min_window": 2}

    def start(self):
        self.window = float(self.initial_window * self.segment)
        self.threshold, self.before = float("inf"), 0.0
        self.alpha, self.acked, self.marked = 1.0, 0, 0
        self.observed_until = self.cut_until = 0

    def on_ack(self, ack):
        if ack.bytes == 0:
            return
        acknowledged = ack.acknowledged
        self.acked += ack.bytes
        self.marked += ack.bytes if ack.ece else 0
        if acknowledged >= self.observed_until:
            share = self.marked / self.acked
            self.alpha = (1 - self.gain) * self.alpha + self.gain * share
            self.acked, self.marked, self.observed_until = 0, 0, ack.sent
        if acknowledged <= self.cut_until or ack.recovering:
            return
        if ack.ece:
            self.before = self.window
            least = min(self.min_window * self.segment, self.window)
            self.threshold = self.window = max(self.window * self.kept(), least)
            self.cut_until = ack.sent
        elif ack.limited and self.window < self.threshold:
            self.window += ack.bytes
        elif ack.limited:
            self.window += self.segment * ack.bytes / self.window

    def kept(self):
        return 1 - self.alpha / 2

    def on_loss(self, at, timeout):
        self.before = self.window if at.acknowledged >= self.cut_until else self.before
        self.threshold = max(self.before / 2, 2.0 * self.segment)
        self.cut_until = at.acknowledged if timeout else at.sent
        self.window = float(self.segment) if timeout else min(self.threshold, self.window)


class Gentle(Dctcp):
    """The same, but a cut grows with the square of the marked share."""

    name = "gentle"

    def kept(self):
        return 1 - self.alpha**2 / 2


def main() -> None:
    from common import quick, save

    results = incast.compare(
        [Gentle, Dctcp, "dctcp"],
        topology="leaf-spine:2x2x8",
        workload="web_search",
        load=0.6,
        flows=quick(1000, 60),
    )
    print(results)
    own, known = (results[name].flows.drop("transport") for name in ("my_dctcp", "dctcp"))
    assert own.equals(known)
    save(results.charts.slowdown_by_size(), "my_control")


if __name__ == "__main__":
    main()
