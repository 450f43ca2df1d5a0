//! DPDK's environment: started once per process.

use crate::Error;
use crate::device::Device;
use crate::error::{messages, reason};
use crate::raw::{
    incast_dpdk_init, incast_dpdk_sibling, incast_dpdk_thread_is_registered,
    incast_dpdk_thread_register, incast_dpdk_thread_unregister, incast_dpdk_tsc_hz,
    incast_dpdk_version,
};
use std::ffi::{CStr, CString, c_char};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Arguments for rings within the process: no privilege, hugepages or devices.
pub const EMBEDDED: &str = "--no-huge -m 1024 --no-pci --no-telemetry --no-shconf";

/// Arguments for network interfaces through the kernel: as [`EMBEDDED`], with little memory, as each
/// node is a process.
pub const WIRE: &str = "--no-huge -m 64 --no-pci --no-telemetry --no-shconf";

/// MiB of memory for a process with devices through the kernel, and more for each of them: 3,072 mbufs
/// and the rings that it shares with the kernel.
const MEMORY: usize = 48;
const MEMORY_PER_DEVICE: usize = 16;

/// EAL arguments with which these devices can be opened ([`Port::open`](crate::Port::open)). Of a PCI
/// device the process needs hugepages; without one, no privilege beyond that of the devices.
///
/// # Errors
/// A device is not there, or may not be used.
pub fn arguments_for(devices: &[&str]) -> Result<String, Error> {
    let devices: Vec<Device> = devices.iter().map(|device| Device::parse(device)).collect();
    devices.iter().try_for_each(Device::check)?;
    let addresses: Vec<String> =
        devices.iter().filter_map(Device::pci).map(|address| format!(" -a {address}")).collect();
    if !addresses.is_empty() {
        return Ok(format!("--in-memory --no-telemetry{}", addresses.concat()));
    }
    let memory = MEMORY + MEMORY_PER_DEVICE * devices.len();
    let mut drivers = vec![sibling("mempool_ring")];
    for device in &devices {
        let driver = driver_of(&device.name);
        if !drivers.contains(&driver) {
            drivers.push(driver);
        }
    }
    let drivers: Vec<String> =
        drivers.into_iter().flatten().map(|path| format!(" -d {path}")).collect();
    let start = format!("--no-huge -m {memory} --no-pci --no-telemetry --no-shconf");
    Ok(start + &drivers.concat())
}

/// The library of the driver of a virtual device, whose name begins with that of the driver.
fn driver_of(device: &str) -> Option<String> {
    let lengths = (1..=device.len()).rev().filter(|end| device.is_char_boundary(*end));
    lengths.map(|end| &device[..end]).find_map(sibling)
}

/// The arguments of the start, if there was one.
static STARTED: Mutex<Option<Result<String, Error>>> = Mutex::new(None);

/// A proof that DPDK runs. It runs until the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Environment(());

/// The version of the library, such as `DPDK 22.11.11`.
pub fn version() -> String {
    // SAFETY: a static text.
    unsafe { CStr::from_ptr(incast_dpdk_version()) }.to_string_lossy().into_owned()
}

impl Environment {
    /// Starts DPDK with these EAL arguments, separated by spaces. A later call with the same
    /// arguments returns the same; one with others fails.
    ///
    /// Without `-l`, `-c` or `--lcores` the calling thread stays on the cores on which it may run;
    /// with them, DPDK pins it, and threads that it creates inherit that. Without `-d`, `-a` or
    /// `--vdev`, and with `--no-pci`, only the drivers that rings and network interfaces need are
    /// loaded; otherwise all that are installed, which takes half a second.
    ///
    /// DPDK says nothing unless the arguments ask for its log (`--log-level` and the like): what it
    /// would say is in the error, if it does not start.
    pub fn start(arguments: &str) -> Result<Environment, Error> {
        let mut started = STARTED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let first = match &*started {
            None => {
                let result = init(arguments).map(|()| arguments.to_string());
                *started = Some(result.clone());
                result?
            }
            Some(before) => before.clone()?,
        };
        if first == arguments {
            Ok(Environment(()))
        } else {
            Err(Error::Restart { first, now: arguments.into() })
        }
    }

    /// Gives this thread a place among DPDK's threads, with a cache for each mempool; that of the
    /// start has one. Returns `None` if it has one already, or if there are no more: then it works
    /// without caches.
    pub fn register_thread(&self) -> Option<Registered> {
        // SAFETY: DPDK runs.
        let registered = unsafe {
            incast_dpdk_thread_is_registered() == 0 && incast_dpdk_thread_register() == 0
        };
        registered.then_some(Registered(std::marker::PhantomData))
    }

    /// Cycles of the processor's counter per second, as DPDK measured them.
    pub fn cycles_per_second(&self) -> u64 {
        // SAFETY: DPDK runs.
        unsafe { incast_dpdk_tsc_hz() }
    }

    /// A name that nothing else in this process has.
    pub(crate) fn name(&self, what: &str) -> CString {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        CString::new(format!("{what}{number}")).expect("no zero in it")
    }
}

/// A thread that DPDK knows, until this is dropped.
#[derive(Debug)]
pub struct Registered(std::marker::PhantomData<*const ()>);

impl Drop for Registered {
    fn drop(&mut self) {
        // SAFETY: it was registered, by this thread: the value does not leave it.
        unsafe { incast_dpdk_thread_unregister() }
    }
}

fn init(arguments: &str) -> Result<(), Error> {
    let given: Vec<&str> = arguments.split_whitespace().collect();
    let has = |names: &[&str]| {
        given.iter().any(|word| {
            names.iter().any(|name| word == name || word.starts_with(&format!("{name}=")))
        })
    };
    let mut words: Vec<String> = vec!["incast".into()];
    words.extend(given.iter().map(|word| word.to_string()));
    if !has(&["-l", "-c", "--lcores"]) {
        words.push(format!("--lcores=0@({})", allowed_cores().unwrap_or("0".into())));
    }
    if !has(&["-d", "-a", "--vdev"]) && has(&["--no-pci"]) {
        for driver in ["mempool_ring", "net_ring", "net_af_packet"] {
            if let Some(path) = sibling(driver) {
                words.extend(["-d".into(), path]);
            }
        }
    }
    // Who asks for a log wants to read it.
    let aloud =
        has(&["--log-level", "--log-color", "--log-timestamp", "--syslog", "-v", "--help", "-h"]);
    let fault = |reason: String| Error::Start { arguments: arguments.into(), reason };
    let words: Result<Vec<CString>, _> = words.into_iter().map(CString::new).collect();
    let words = words.map_err(|_| fault("an argument contains a zero byte".into()))?;
    // DPDK keeps its arguments, and may reorder them.
    let mut argv: Vec<*mut c_char> = words.into_iter().map(CString::into_raw).collect();
    argv.push(std::ptr::null_mut());
    let argv = argv.leak();
    let count = argv.len() as i32 - 1;
    // SAFETY: the arguments live for ever; the lock of the caller keeps this the only start.
    let result = unsafe { incast_dpdk_init(count, argv.as_mut_ptr(), aloud.into()) };
    if result != 0 {
        return Err(fault(reason(result)));
    }
    messages();
    Ok(())
}

/// The cores on which this thread may run, as `0-3,8`.
fn allowed_cores() -> Option<String> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_string())
}

/// The file of another library of the same DPDK.
fn sibling(name: &str) -> Option<String> {
    let name = CString::new(name).ok()?;
    let mut path = vec![0; 4096];
    // SAFETY: the buffer has the stated size; the result ends with a zero.
    let result = unsafe {
        incast_dpdk_sibling(name.as_ptr(), path.as_mut_ptr().cast::<c_char>(), path.len())
    };
    let path = CStr::from_bytes_until_nul(&path).ok()?.to_str().ok()?;
    (result == 0 && std::path::Path::new(path).exists()).then(|| path.to_string())
}
