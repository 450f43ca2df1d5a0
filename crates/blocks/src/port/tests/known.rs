//! Answers worked out by hand.

use super::super::*;
use super::world::*;
use incast_transport::*;

fn fifo(limit: u32) -> ClassPolicy {
    ClassPolicy::fifo(Limit::Packets(limit))
}

#[test]
fn without_policies_a_port_is_one_queue_of_its_buffer() {
    let (mut world, mut port) = (World::new(), build(vec![], &site()).unwrap());
    for seq in 0..256 {
        let packet = world.packet(9, (seq % 8) as u8, seq, 1460);
        assert_eq!(world.enqueue(&mut *port, 0, packet), Verdict::only(Fate::Queued));
    }
    let packet = world.packet(9, 0, 256, 0);
    assert_eq!(world.enqueue(&mut *port, 0, packet), Verdict::only(Fate::Dropped));
    assert_eq!(port.backlog(), Backlog { bytes: 256 * 1538, packets: 256 });
    assert_eq!(port.data_backlog(), port.backlog());
    assert_eq!(world.drain(&mut *port, 0), (0..256).collect::<Vec<_>>());
    assert_eq!(port.backlog(), Backlog::default());
}

#[test]
fn control_leaves_first_and_is_not_data_backlog() {
    let policies = vec![policy(1, &[fifo(4), fifo(4)])];
    let (mut world, mut port) = (World::new(), build(policies, &site()).unwrap());
    for (seq, class) in [(0, 1), (1, 0), (2, 7), (3, 0)] {
        let packet = world.packet(1, class, seq, if class == 0 { 0 } else { 1460 });
        world.enqueue(&mut *port, 0, packet);
    }
    assert_eq!(port.data_backlog(), Backlog { bytes: 2 * 1538, packets: 2 });
    assert_eq!(port.backlog(), Backlog { bytes: 2 * 1538 + 2 * 84, packets: 4 });
    assert_eq!(world.drain(&mut *port, 0), [1, 3, 0, 2]);
}
