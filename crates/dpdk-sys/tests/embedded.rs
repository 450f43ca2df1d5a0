//! DPDK within one process, without privilege.

use incast_dpdk_sys::{
    EMBEDDED, Environment, Error, Mbuf, Mempool, Port, Ring, forward, most_ports,
};
use std::sync::{Arc, Mutex, MutexGuard};

/// Ports are few: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn start() -> (Environment, MutexGuard<'static, ()>) {
    let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    (Environment::start(EMBEDDED).unwrap(), alone)
}

fn pool(environment: Environment, count: usize) -> Arc<Mempool<u64>> {
    Arc::new(Mempool::new(environment, count, 1_600).unwrap())
}

fn frame(pool: &Mempool<u64>, length: usize) -> Mbuf<u64> {
    let mut out = vec![];
    assert!(pool.allocate(1, &mut out));
    let mut frame = out.pop().unwrap();
    assert!(frame.reset(length));
    frame
}

#[test]
fn dpdk_starts_once() {
    let (_, _alone) = start();
    assert!(Environment::start(EMBEDDED).is_ok());
    let error = Environment::start("-m 1").unwrap_err();
    assert_eq!(error, Error::Restart { first: EMBEDDED.into(), now: "-m 1".into() });
    assert!(error.to_string().contains("once per process"), "{error}");
}

#[test]
fn frames_cross_a_pair_of_ports_with_their_private_area() {
    let (environment, _alone) = start();
    let _thread = environment.register_thread();
    let pool = pool(environment, 500);
    {
        let [mut here, mut there] = Port::pair(&pool, 300).unwrap();
        assert!(here.is_up());
        for round in 0..10u64 {
            let mut out: Vec<_> = (0..100)
                .map(|index| {
                    let mut frame = frame(&pool, 60 + index);
                    frame.bytes_mut().fill(index as u8);
                    *frame.private_mut() = 1_000 * round + index as u64;
                    frame
                })
                .collect();
            assert_eq!(here.send(&mut out), 100);
            assert!(out.is_empty());
            let mut got = vec![];
            assert_eq!(there.receive(64, &mut got), 64);
            assert_eq!(there.receive(64, &mut got), 36);
            assert_eq!(there.receive(64, &mut got), 0);
            for (index, frame) in got.iter().enumerate() {
                assert_eq!(frame.bytes(), vec![index as u8; 60 + index]);
                assert_eq!(*frame.private(), 1_000 * round + index as u64);
            }
            assert_eq!(pool.available(), 400);
        }
        assert_eq!((here.counts().sent, there.counts().received), (1_000, 1_000));
        // A full ring takes no more; the rest stays here.
        let mut out: Vec<_> = (0..310).map(|_| frame(&pool, 60)).collect();
        assert_eq!(here.send(&mut out), 300);
        assert_eq!(out.len(), 10);
        // What waits behind one link goes on by another.
        let [mut next, mut end] = Port::pair(&pool, 200).unwrap();
        let (moved, cycles) = forward(&mut there, &mut next, 32, 1_000);
        assert_eq!(moved, 300);
        let mut got = vec![];
        while end.receive(32, &mut got) > 0 {}
        assert_eq!(got.len(), 200, "as many as the second link holds");
        assert!(got.iter().all(|frame| frame.bytes()[1] & 2 == 2));
        assert!(cycles > 0);
    }
    assert_eq!(pool.available(), 500, "mbufs leaked");
}

#[test]
fn a_frame_grows_and_shrinks_within_its_buffer() {
    let (environment, _alone) = start();
    let pool = pool(environment, 10);
    let mut frame = frame(&pool, 4);
    frame.bytes_mut().copy_from_slice(b"body");
    assert!(frame.grow_front(14));
    frame.bytes_mut()[..14].fill(1);
    assert!(frame.grow_front(114) && !frame.grow_front(1));
    frame.cut_front(114);
    assert!(frame.pad(42) && frame.len() == 60 && frame.bytes()[18..].iter().all(|b| *b == 0));
    assert!(!frame.pad(5_000));
    frame.cut_front(14);
    frame.truncate(4);
    frame.truncate(4_000);
    assert_eq!(frame.bytes(), b"body");
    assert!(frame.is_one_segment() && !frame.reset(1_601) && frame.reset(1_600));
    assert_eq!(frame.len(), 1_600);
}

#[test]
fn a_pool_gives_all_or_nothing_and_stays_while_it_is_used() {
    let (environment, _alone) = start();
    let pool = pool(environment, 64);
    let mut held = vec![];
    assert!(pool.allocate(60, &mut held) && !pool.allocate(5, &mut held));
    assert_eq!((held.len(), pool.available()), (60, 4));
    Mbuf::free_all(&mut held);
    assert_eq!((held.len(), pool.available()), (0, 64));
    let mut last = frame(&pool, 9);
    drop(pool);
    last.bytes_mut().fill(7);
    assert_eq!(last.bytes(), [7; 9]);
}

#[test]
fn too_much_memory_and_too_many_ports_are_refused_by_name() {
    let (environment, _alone) = start();
    let error = Mempool::<u64>::new(environment, 10_000_000, 1_600).unwrap_err();
    assert!(error.to_string().contains("raise `-m`"), "{error}");
    let pool = pool(environment, 64);
    let mut pairs = vec![];
    let error = loop {
        match Port::pair(&pool, 4) {
            Ok(pair) => pairs.push(pair),
            Err(error) => break error,
        }
        assert!(pairs.len() <= most_ports());
    };
    assert_eq!(error, Error::Ports { most: most_ports() });
    assert_eq!(2 * pairs.len(), most_ports());
    drop(pairs);
    // What was closed can be used again, any number of times.
    for _ in 0..most_ports() {
        Port::pair(&pool, 4).unwrap();
    }
}

#[test]
fn rings_alone_need_no_port() {
    let (environment, _alone) = start();
    let pool = pool(environment, 200);
    let mut rings: Vec<Ring<u64>> = (0..100).map(|_| Ring::new(environment, 5).unwrap()).collect();
    for (index, ring) in rings.iter_mut().enumerate() {
        let mut out = vec![frame(&pool, 60 + index)];
        assert_eq!((ring.put(&mut out), ring.count(), ring.capacity()), (1, 1, 5));
    }
    let mut full: Vec<_> = (0..6).map(|_| frame(&pool, 1)).collect();
    assert_eq!((rings[0].put(&mut full), full.len()), (4, 2));
    let mut got = vec![];
    assert_eq!(rings[7].take(9, &mut got), 1);
    assert_eq!(got[0].len(), 67);
    drop((rings, full, got));
    assert_eq!(pool.available(), 200, "mbufs leaked");
}

#[test]
fn a_device_that_is_not_there_is_refused_by_name() {
    let (environment, _alone) = start();
    let pool = pool(environment, 64);
    let error = Port::open(&pool, "incast-none").unwrap_err();
    let Error::NoInterface { name, present } = &error else { panic!("{error}") };
    assert_eq!(name, "incast-none");
    assert!(present.contains(&"lo".to_string()), "{error}");
    let error = Port::open(&pool, "ffff:1f:1f.7").unwrap_err();
    assert!(matches!(error, Error::NoDevice { .. }), "{error}");
    assert!(error.to_string().starts_with("there is no PCI device ffff:1f:1f.7;"), "{error}");
    let error = Port::open(&pool, "net_nonsense0").unwrap_err();
    assert!(matches!(error, Error::Port { .. }), "{error}");
    let error = Port::open(&pool, "net_\0").unwrap_err();
    assert!(error.to_string().contains("zero byte"), "{error}");
}

/// A queue has one user: what a live handle has is refused, whoever made it, and can be opened again once it
/// is closed.
#[test]
fn a_port_that_another_handle_has_is_refused() {
    let (environment, _alone) = start();
    let pool = pool(environment, 4_000);
    let first = Port::open(&pool, "net_ring_incast").unwrap();
    for _ in 0..2 {
        let error = Port::open(&pool, "net_ring_incast").unwrap_err();
        assert_eq!(error, Error::InUse { device: "net_ring_incast".into() });
        assert!(error.to_string().contains("open in this process already"), "{error}");
    }
    assert!(first.is_up(), "the refusal left it alone");
    let number = first.number();
    drop(first);
    let again = Port::open(&pool, "net_ring_incast").unwrap();
    assert!(again.is_up() && again.number() == number);
    // Threads at once: one of them has it.
    drop(again);
    let barrier = std::sync::Barrier::new(4);
    let opened: Vec<_> = std::thread::scope(|scope| {
        let open = || {
            barrier.wait();
            Port::open(&pool, "net_ring_incast")
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(opened.iter().filter(|one| one.is_ok()).count(), 1);
}

/// Each thread allocates, sends and frees on its own.
#[test]
fn threads_share_a_pool() {
    let (environment, _alone) = start();
    let pool = pool(environment, 2_000);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let _thread = environment.register_thread().expect("a place");
                assert!(environment.register_thread().is_none(), "it has one");
                for _ in 0..200 {
                    let mut held = vec![];
                    assert!(pool.allocate(32, &mut held));
                    held.truncate(7);
                    Mbuf::free_all(&mut held);
                }
            });
        }
    });
    assert_eq!(pool.available(), 2_000);
}

/// More threads than cores, and none has a cache: one that is descheduled while it takes or gives mbufs
/// does not stop the others for long. With DPDK's default ring this took minutes.
#[test]
fn many_threads_without_caches_share_a_pool() {
    let (environment, _alone) = start();
    let pool = pool(environment, 2_000);
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let begin = std::time::Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 * cores.min(8) {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    let mut held = vec![];
                    assert!(pool.allocate(32, &mut held));
                    Mbuf::free_all(&mut held);
                }
            });
        }
    });
    assert_eq!(pool.available(), 2_000, "none is lost");
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}
