//! What can go wrong with DPDK, each with what to do about it.

use crate::raw::{incast_dpdk_messages, incast_dpdk_strerror};
use std::ffi::CStr;
use std::fmt;

/// Why DPDK did not do what was requested.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// DPDK does not start.
    Start {
        /// Its arguments.
        arguments: String,
        /// The reason.
        reason: String,
    },
    /// DPDK was started before, in this process, with other arguments.
    Restart {
        /// The arguments of the first start.
        first: String,
        /// The present ones.
        now: String,
    },
    /// Packet memory does not fit.
    Memory {
        /// Mbufs requested.
        count: usize,
        /// Bytes of each.
        bytes: usize,
        /// The reason.
        reason: String,
    },
    /// A ring cannot be created.
    Ring {
        /// Mbufs it was to hold.
        count: usize,
        /// The reason.
        reason: String,
    },
    /// There is no such network interface.
    NoInterface {
        /// Its name.
        name: String,
        /// Those there are.
        present: Vec<String>,
    },
    /// There is no PCI device of this address.
    NoDevice {
        /// The address.
        address: String,
        /// Addresses of network devices that there are, each with its driver.
        present: Vec<String>,
    },
    /// The device is there, and the kernel's driver or none has it.
    Driver {
        /// Its address.
        address: String,
        /// The driver that has it, if one does.
        driver: Option<String>,
    },
    /// The process may not open raw packet sockets.
    Privilege {
        /// The device's arguments.
        device: String,
    },
    /// All ports of this build of DPDK are in use.
    Ports {
        /// How many there are.
        most: usize,
    },
    /// Another handle of this process has the port.
    InUse {
        /// Its name or the device's arguments.
        device: String,
    },
    /// A port cannot be opened for another reason.
    Port {
        /// Its name or the device's arguments.
        device: String,
        /// The reason.
        reason: String,
    },
}

/// What an error number means, and the last thing DPDK said about it.
pub(crate) fn reason(error: i32) -> String {
    // SAFETY: the text is static or of this thread, and copied at once.
    let text = unsafe { CStr::from_ptr(incast_dpdk_strerror(-error)) };
    let text = text.to_string_lossy().into_owned();
    match messages().lines().rfind(|line| !line.trim().is_empty()) {
        Some(said) => format!("{text}; DPDK: {}", said.trim()),
        None => text,
    }
}

/// What DPDK has said since the last call.
pub(crate) fn messages() -> String {
    let mut bytes = vec![0; 4096];
    // SAFETY: the buffer has the stated size.
    let count = unsafe { incast_dpdk_messages(bytes.as_mut_ptr(), bytes.len()) };
    bytes.truncate(count);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn list(present: &[String]) -> String {
    if present.is_empty() { "none".into() } else { present.join(", ") }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Start { arguments, reason } => {
                write!(f, "DPDK does not start with the arguments `{arguments}`: {reason}")
            }
            Error::Restart { first, now } => write!(
                f,
                "DPDK starts once per process; it runs with the arguments `{first}` and cannot restart with `{now}`"
            ),
            Error::Memory { count, bytes, reason } => write!(
                f,
                "packet memory of {count} mbufs of {bytes} B ({} MiB) does not fit: {reason}; \
                 raise `-m` in the EAL arguments",
                count * bytes / (1 << 20)
            ),
            Error::Ring { count, reason } => {
                write!(f, "a ring for {count} mbufs cannot be created: {reason}")
            }
            Error::NoInterface { name, present } => write!(
                f,
                "there is no network interface `{name}` in this network namespace; there are: {}",
                list(present)
            ),
            Error::NoDevice { address, present } => {
                write!(f, "there is no PCI device {address}; network devices: {}", list(present))
            }
            Error::Driver { address, driver } => {
                let has = match driver {
                    Some(driver) => format!("has the kernel driver `{driver}`"),
                    None => "has no driver".into(),
                };
                write!(
                    f,
                    "PCI device {address} {has}: `dpdk-devbind.py --bind=vfio-pci {address}` gives it to DPDK, and \
                     the EAL arguments must name it (`-a {address}`)"
                )
            }
            Error::Privilege { device } => write!(
                f,
                "no privilege to open `{device}`: raw sockets need CAP_NET_RAW; run as root, or inside `unshare -Urn`"
            ),
            Error::Ports { most } => {
                write!(
                    f,
                    "this build of DPDK has {most} ports (RTE_MAX_ETHPORTS), and all are in use"
                )
            }
            Error::InUse { device } => write!(
                f,
                "port `{device}` is open in this process already: a port has one user; open it once, or \
                 close the first one"
            ),
            Error::Port { device, reason } => {
                write!(f, "port `{device}` cannot be opened: {reason}")
            }
        }
    }
}

impl std::error::Error for Error {}
