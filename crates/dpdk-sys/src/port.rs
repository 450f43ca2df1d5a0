//! Ports: of rings, network interfaces and NICs.

use crate::device::Device;
use crate::error::reason;
use crate::mbuf::{append, hand_over};
use crate::raw::{
    incast_dpdk_forward, incast_dpdk_most_ports, incast_dpdk_port_address, incast_dpdk_port_close,
    incast_dpdk_port_counts, incast_dpdk_port_find, incast_dpdk_port_is_up,
    incast_dpdk_port_of_rings, incast_dpdk_port_start, incast_dpdk_ports, incast_dpdk_probe,
    incast_dpdk_rx, incast_dpdk_tx,
};
use crate::{Error, Mbuf, Mempool, Ring};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Descriptors of a device's queues; a device may have fewer.
const DESCRIPTORS: u16 = 512;

/// How many ports this build of DPDK has (`RTE_MAX_ETHPORTS`).
pub fn most_ports() -> usize {
    // SAFETY: a constant.
    unsafe { incast_dpdk_most_ports() as usize }
}

/// Numbers of the ports that have an owner. Locked while a port is opened or closed, so that DPDK does not
/// give a number to one while another still closes it.
static OWNED: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

fn owned() -> MutexGuard<'static, BTreeSet<u16>> {
    OWNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a port has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Frames received.
    pub received: u64,
    /// Frames sent.
    pub sent: u64,
    /// Frames that came and found no room.
    pub missed: u64,
    /// Frames that came and found no free mbuf.
    pub without_memory: u64,
}

/// Two ports share each ring, and neither uses it by itself.
struct Held<T>(Ring<T>);

// SAFETY: nothing is done with it but to free it, when the last port is gone.
unsafe impl<T: Send> Sync for Held<T> {}

/// A port that was started, with one queue in each direction. Stopped and removed when it is dropped.
pub struct Port<T> {
    number: u16,
    /// Freed after the port has been closed.
    _rings: Vec<Arc<Held<T>>>,
    /// Freed after what lies in the rings.
    pool: Arc<Mempool<T>>,
}

impl<T> Port<T> {
    /// The two ends of a link: two ports over a pair of rings of `capacity` mbufs.
    pub fn pair(pool: &Arc<Mempool<T>>, capacity: usize) -> Result<[Port<T>; 2], Error> {
        let ring = || Ring::new(pool.environment(), capacity).map(|ring| Arc::new(Held(ring)));
        let (there, back) = (ring()?, ring()?);
        Ok([Port::of_rings(pool, &back, &there)?, Port::of_rings(pool, &there, &back)?])
    }

    fn of_rings(
        pool: &Arc<Mempool<T>>,
        from: &Arc<Held<T>>,
        to: &Arc<Held<T>>,
    ) -> Result<Port<T>, Error> {
        let mut owned = owned();
        let name = pool.environment().name("p");
        // SAFETY: both rings outlive the port, which holds them.
        let result = unsafe { incast_dpdk_port_of_rings(name.as_ptr(), from.0.raw(), to.0.raw()) };
        // SAFETY: DPDK runs.
        if result < 0 && unsafe { incast_dpdk_ports() } as usize == most_ports() {
            return Err(Error::Ports { most: most_ports() });
        }
        let rings = vec![from.clone(), to.clone()];
        Port::started(&mut owned, pool, rings, result, &name.to_string_lossy())
    }

    /// Opens a device: a network interface by its name (`veth0`), a NIC by its PCI address, which the
    /// EAL arguments must admit (`-a 0000:3b:00.0`), or any device by DPDK's arguments for it
    /// (`net_af_packet0,iface=veth0`).
    ///
    /// # Errors
    /// It is not there, may not be used, or another `Port` of this process has it: each queue has one user.
    pub fn open(pool: &Arc<Mempool<T>>, device: &str) -> Result<Port<T>, Error> {
        let found = Device::parse(device);
        let fault = |reason: String| Error::Port { device: device.into(), reason };
        let text = |text: &str| {
            CString::new(text).map_err(|_| fault("its name contains a zero byte".into()))
        };
        let name = text(&found.name)?;
        let mut owned = owned();
        // SAFETY: DPDK runs; the name is a text.
        let find = || unsafe { incast_dpdk_port_find(name.as_ptr()) };
        let mut result = find();
        if result < 0 {
            found.check()?;
            found.bring_up()?;
            let arguments = text(&found.arguments)?;
            // SAFETY: DPDK runs; the arguments are a text.
            let probed = unsafe { incast_dpdk_probe(arguments.as_ptr()) };
            if probed != 0 {
                return Err(found.refused().unwrap_or_else(|| fault(reason(probed))));
            }
            result = find();
        }
        Port::started(&mut owned, pool, vec![], result, device)
    }

    /// Takes port `number`, if no other handle has it, and starts it.
    fn started(
        owned: &mut BTreeSet<u16>,
        pool: &Arc<Mempool<T>>,
        rings: Vec<Arc<Held<T>>>,
        number: i32,
        device: &str,
    ) -> Result<Port<T>, Error> {
        let fault = |error| Error::Port { device: device.into(), reason: reason(error) };
        let number = u16::try_from(number).map_err(|_| fault(number))?;
        if owned.contains(&number) {
            return Err(Error::InUse { device: device.into() });
        }
        let mtu = pool.longest().saturating_sub(14).min(u16::MAX as usize) as u16;
        // SAFETY: the port exists and has no other user; the pool outlives it: the handle holds it.
        let started = unsafe { incast_dpdk_port_start(number, pool.raw(), DESCRIPTORS, mtu) };
        if started != 0 {
            let fault = fault(started);
            // SAFETY: it is still nobody's.
            unsafe { incast_dpdk_port_close(number) };
            return Err(fault);
        }
        owned.insert(number);
        Ok(Port { number, _rings: rings, pool: pool.clone() })
    }

    /// Its number in DPDK.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// Its packet memory.
    pub fn pool(&self) -> &Arc<Mempool<T>> {
        &self.pool
    }

    /// Takes at most `most` frames that have come; returns how many.
    #[inline]
    pub fn receive(&mut self, most: usize, into: &mut Vec<Mbuf<T>>) -> usize {
        let most = most.min(u16::MAX as usize);
        // SAFETY: there is room for as many pointers as stated; the handle is this queue's one user.
        append(into, most, |out| unsafe { incast_dpdk_rx(self.number, out, most as u16) as usize })
    }

    /// Sends the first of `from`, as many as the device takes; returns how many.
    #[inline]
    pub fn send(&mut self, from: &mut Vec<Mbuf<T>>) -> usize {
        // SAFETY: as many pointers as stated; the handle is this queue's one user.
        hand_over(from, |start, count| unsafe {
            incast_dpdk_tx(self.number, start, count.min(u16::MAX as usize) as u16) as usize
        })
    }

    /// Its Ethernet address; zeros if it has none.
    pub fn address(&self) -> [u8; 6] {
        let mut address = [0; 6];
        // SAFETY: room for six bytes.
        unsafe { incast_dpdk_port_address(self.number, address.as_mut_ptr()) };
        address
    }

    /// Whether its link is up.
    pub fn is_up(&self) -> bool {
        // SAFETY: the port exists.
        unsafe { incast_dpdk_port_is_up(self.number) == 1 }
    }

    /// What it has counted.
    pub fn counts(&self) -> Counts {
        let mut counts = [0; 4];
        // SAFETY: room for four numbers.
        unsafe { incast_dpdk_port_counts(self.number, counts.as_mut_ptr()) };
        let [received, sent, missed, without_memory] = counts;
        Counts { received, sent, missed, without_memory }
    }
}

impl<T> Drop for Port<T> {
    fn drop(&mut self) {
        let mut owned = owned();
        // SAFETY: the handle owned it.
        unsafe { incast_dpdk_port_close(self.number) };
        owned.remove(&self.number);
    }
}

impl<T> std::fmt::Debug for Port<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Port({})", self.number)
    }
}

/// A bare forwarder in C, to compare with: moves up to `most` frames that wait at `from` to `to` in bursts,
/// setting a bit of each; what does not fit is lost. Returns how many it took, and the cycles.
pub fn forward<T>(from: &mut Port<T>, to: &mut Port<T>, burst: usize, most: u64) -> (u64, u64) {
    let (burst, mut cycles) = (burst.clamp(1, 512) as u16, 0);
    // SAFETY: both ports exist and are borrowed exclusively.
    let frames = unsafe { incast_dpdk_forward(from.number, to.number, burst, most, &mut cycles) };
    (frames, cycles)
}
