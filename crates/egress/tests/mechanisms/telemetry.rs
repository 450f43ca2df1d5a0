//! Telemetry added by every hop as a packet begins transmission (HPCC, HPCC+).

use crate::*;

struct Telemetry;

impl Marker for Telemetry {
    fn on_dequeue(&mut self, packets: &mut PacketPool, packet: PacketRef, view: &View) -> bool {
        if !view.own || !packets[packet].is_data() {
            return false;
        }
        let record = IntRecord {
            rate_code: 1,
            timestamp: (view.now.0 / 1000) as u32,
            sent: (view.sent / 128) as u32,
            queued: (view.all.bytes / 80) as u16,
            ..IntRecord::default()
        };
        let mut extension = *packets.extension(packet);
        if let Extension::None = extension {
            extension = Extension::Int { count: 0, records: [IntRecord::default(); 8] };
        }
        let Extension::Int { count, records } = &mut extension else { return false };
        records[*count as usize] = record.rounded();
        *count += 1;
        packets.extend(packet, extension);
        false
    }

    fn sees(&self) -> (bool, bool) {
        (false, true)
    }
}

#[test]
fn each_hop_adds_eight_bytes_and_says_what_it_saw() {
    let mut harness = Harness::new();
    let hop = || port(&[fifo(9), fifo(9)], vec![Box::new(Telemetry)]);
    let mut hops = [hop(), hop(), hop()];
    let probe = harness.packets.create(data(0, 0));
    let start = Time(5_000_000);
    for (index, hop) in hops.iter_mut().enumerate() {
        // Another packet stands in front and one behind at each hop.
        let [before, behind] = [1, 2].map(|seq| harness.packets.create(data(seq, 0)));
        for packet in [before, probe, behind] {
            harness.enqueue(&mut **hop, start, packet);
        }
        assert_eq!(harness.next(&mut **hop, start), before);
        assert_eq!(harness.next(&mut **hop, start + FULL), probe);
        let grown = 1538 + 2 + 8 * (index as u32 + 1);
        assert_eq!(harness.packets.charged(probe), grown);
        assert_eq!(hop.backlog(), Backlog { bytes: 1538, packets: 1 });
        // What waits is charged as it came: the growth never entered the queue.
        assert_eq!(harness.next(&mut **hop, start + FULL + FULL), behind);
        assert_eq!(hop.backlog(), Backlog::default());
        harness.packets.free(before);
        harness.packets.free(behind);
    }
    let Extension::Int { count, records } = *harness.packets.extension(probe) else { panic!() };
    assert_eq!(count, 3);
    for record in &records[..3] {
        // 1538 + 10 B of telemetry were sent before; 1538 B wait behind.
        assert_eq!((record.sent, record.queued), (1548 / 128, 1538 / 80));
        assert_eq!(record.timestamp, ((start + FULL).0 / 1000) as u32);
    }
}
