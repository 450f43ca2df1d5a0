//! What a device's name says, and why it may not be there.

use crate::Error;
use crate::error::reason;
use crate::raw::{incast_dpdk_bring_up, incast_dpdk_may_capture};
use std::ffi::CString;
use std::path::Path;

/// What kind of device.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    /// A network interface, through the kernel.
    Interface(String),
    /// A PCI address.
    Pci(String),
    Other,
}

/// A device as DPDK knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Device {
    pub name: String,
    pub arguments: String,
    kind: Kind,
}

/// The full form of a PCI address, with its domain.
fn pci(text: &str) -> Option<String> {
    let full = if text.matches(':').count() == 1 { format!("0000:{text}") } else { text.into() };
    let (rest, function) = full.rsplit_once('.')?;
    let parts: Vec<&str> = rest.split(':').collect();
    let hex = |part: &str, most: usize| {
        !part.is_empty() && part.len() <= most && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let [domain, bus, slot] = parts[..] else { return None };
    let valid = hex(domain, 8) && hex(bus, 2) && hex(slot, 2) && hex(function, 1);
    valid.then(|| full.to_lowercase())
}

impl Device {
    pub fn parse(text: &str) -> Device {
        let (name, rest) = text.split_once(',').unwrap_or((text, ""));
        if let Some(address) = pci(name) {
            let arguments = text.replacen(name, &address, 1);
            return Device { name: address.clone(), arguments, kind: Kind::Pci(address) };
        }
        let interface = rest.split(',').find_map(|part| part.strip_prefix("iface="));
        let kind = match interface {
            Some(interface) => Kind::Interface(interface.into()),
            None if !name.contains(':') && !name.starts_with("net_") => {
                let vdev = format!("net_af_packet_{name}");
                let arguments = format!("{vdev},iface={name}");
                return Device { name: vdev, arguments, kind: Kind::Interface(name.into()) };
            }
            None => Kind::Other,
        };
        Device { name: name.into(), arguments: text.into(), kind }
    }

    /// What is known to be wrong before DPDK tries.
    pub fn check(&self) -> Result<(), Error> {
        match &self.kind {
            Kind::Interface(name) => {
                let present = interfaces();
                if !present.contains(name) {
                    return Err(Error::NoInterface { name: name.clone(), present });
                }
                // SAFETY: opens and closes a socket.
                if unsafe { incast_dpdk_may_capture() } != 0 {
                    return Err(Error::Privilege { device: self.arguments.clone() });
                }
            }
            Kind::Pci(address) if !Path::new(PCI).join(address).exists() => {
                let present = network_devices();
                return Err(Error::NoDevice { address: address.clone(), present });
            }
            Kind::Other if self.name.contains(':') => {
                let reason = "a PCI address is written as 0000:3b:00.0".into();
                return Err(Error::Port { device: self.arguments.clone(), reason });
            }
            _ => {}
        }
        Ok(())
    }

    /// Its address, if it is a PCI device.
    pub fn pci(&self) -> Option<&str> {
        match &self.kind {
            Kind::Pci(address) => Some(address),
            _ => None,
        }
    }

    /// Brings the network interface up, if it is one: frames cross no other.
    pub fn bring_up(&self) -> Result<(), Error> {
        let Kind::Interface(name) = &self.kind else { return Ok(()) };
        let Ok(text) = CString::new(name.as_str()) else { return Ok(()) };
        // SAFETY: a text.
        match unsafe { incast_dpdk_bring_up(text.as_ptr()) } {
            0 => Ok(()),
            error => Err(Error::Port { device: name.clone(), reason: reason(error) }),
        }
    }

    /// Why DPDK may have refused it.
    pub fn refused(&self) -> Option<Error> {
        let Kind::Pci(address) = &self.kind else { return None };
        let driver = driver(address);
        let own =
            driver.as_ref().is_some_and(|name| name.starts_with("vfio") || name.contains("uio"));
        (!own).then(|| Error::Driver { address: address.clone(), driver })
    }
}

const PCI: &str = "/sys/bus/pci/devices";

/// The driver that has a PCI device.
fn driver(address: &str) -> Option<String> {
    let link = std::fs::read_link(Path::new(PCI).join(address).join("driver")).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

/// PCI devices of the class of network controllers, each with its driver.
fn network_devices() -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(PCI) else { return vec![] };
    let mut found: Vec<String> = entries
        .flatten()
        .filter(|entry| {
            std::fs::read_to_string(entry.path().join("class"))
                .is_ok_and(|class| class.starts_with("0x02"))
        })
        .map(|entry| {
            let address = entry.file_name().to_string_lossy().into_owned();
            let driver = driver(&address).unwrap_or("no driver".into());
            format!("{address} ({driver})")
        })
        .collect();
    found.sort();
    found
}

/// Network interfaces of this thread's namespace.
fn interfaces() -> Vec<String> {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let name = |line: &str| line.split_once(':').map(|(name, _)| name.trim().to_string());
    text.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device_of_pci(text: &str) -> Option<String> {
        Device::parse(text).pci().map(str::to_string)
    }

    #[test]
    fn a_device_is_named_in_four_ways() {
        let device = Device::parse("0000:3B:00.0");
        assert_eq!(
            (device.name.as_str(), device.kind),
            ("0000:3b:00.0", Kind::Pci("0000:3b:00.0".into()))
        );
        assert_eq!(Device::parse("3b:00.1,mprq_en=1").arguments, "0000:3b:00.1,mprq_en=1");
        let veth = Device::parse("veth0");
        assert_eq!(veth.arguments, "net_af_packet_veth0,iface=veth0");
        assert_eq!(veth.kind, Kind::Interface("veth0".into()));
        let same = Device::parse("net_af_packet7,iface=veth0");
        assert_eq!(
            (same.name.as_str(), same.kind),
            ("net_af_packet7", Kind::Interface("veth0".into()))
        );
        assert_eq!(Device::parse("net_tap0").kind, Kind::Other);
        let wrong = Device::parse("3b:00");
        assert_eq!((&wrong.kind, wrong.pci()), (&Kind::Other, None));
        assert!(wrong.check().unwrap_err().to_string().contains("0000:3b:00.0"));
        assert_eq!(device_of_pci("3b:00.0"), Some("0000:3b:00.0".into()));
    }
}
