//! What the data plane needs of a machine.

use super::system::{capabilities, cores, field, hugepages, stalls, stolen};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Most time in gaps with which real time is worth a try without compensation.
const STALLED: f64 = 0.01;
const PCI: &str = "/sys/bus/pci/devices";

/// One thing that was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was found.
    pub found: String,
    /// The command that fixes it, if it does not work.
    pub fix: Option<String>,
}

impl Check {
    pub fn good(name: &'static str, found: impl Into<String>) -> Check {
        Check { name, ok: true, found: found.into(), fix: None }
    }

    pub fn bad(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Check {
        Check { name, ok: false, found: found.into(), fix: Some(fix.into()) }
    }
}

/// All checks, in the order in which they are shown.
pub fn all() -> Vec<Check> {
    vec![
        library(),
        hugepage_memory(),
        namespaces(),
        privileges(),
        tshark(),
        nic(),
        clock(),
        isolated(),
        stolen_time(),
    ]
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[cfg(feature = "dpdk")]
fn library() -> Check {
    use incast_dataplane::dpdk::{EMBEDDED, Environment, Mempool, Port, most_ports, version};
    let name = "library";
    let link = || {
        let environment = Environment::start(EMBEDDED)?;
        let pool = std::sync::Arc::new(Mempool::<()>::new(environment, 64, 1_600)?);
        Port::pair(&pool, 8)
    };
    match link() {
        Ok(_) => Check::good(name, format!("{}, starts; {} ports", version(), most_ports())),
        Err(error) => {
            Check::bad(name, error.to_string(), "apt-get install --reinstall libdpdk-dev")
        }
    }
}

#[cfg(not(feature = "dpdk"))]
fn library() -> Check {
    let installed = Command::new("pkg-config").args(["--modversion", "libdpdk"]).output();
    let version = installed.ok().filter(|output| output.status.success());
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    let build = "cargo build --release --features dpdk";
    match version {
        Some(version) => Check::bad(
            "library",
            format!("this program was built without DPDK; libdpdk {version} is installed"),
            build,
        ),
        None => Check::bad(
            "library",
            "this program was built without DPDK, and libdpdk is not installed",
            format!("apt-get install libdpdk-dev pkg-config build-essential && {build}"),
        ),
    }
}

fn hugepage_memory() -> Check {
    let name = "hugepages";
    match hugepages(&read("/proc/meminfo")) {
        Some((free, total, size)) if free > 0 => {
            Check::good(name, format!("{free} of {total} free, {size} KiB each"))
        }
        Some((_, total, size)) => Check::bad(
            name,
            format!("0 of {total} free, {size} KiB each; only a NIC needs them"),
            "sysctl -w vm.nr_hugepages=128",
        ),
        None => Check::bad(
            name,
            "the kernel has none; only a NIC needs them",
            "boot a kernel with CONFIG_HUGETLBFS",
        ),
    }
}

/// Lays out a pair of veth in a namespace of its own, which goes with the process.
fn namespaces() -> Check {
    let name = "namespaces";
    let mut unshare = Command::new("unshare");
    let output = unshare.args(["-Urnm", "ip", "link", "add", "incast0", "type", "veth"]).output();
    let output = match output {
        Err(error) => {
            return Check::bad(
                name,
                format!("no `unshare` ({error})"),
                "apt-get install util-linux",
            );
        }
        Ok(output) if output.status.success() => {
            return Check::good(name, "user and network namespaces, veth pairs");
        }
        Ok(output) => output,
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("no reason given").trim().to_string();
    let closed = |path: &str, value: &str| read(path).trim() == value;
    let fix = if said.contains("No such file") {
        "apt-get install iproute2"
    } else if said.contains("Unknown device type") || said.contains("not supported") {
        "modprobe veth"
    } else if closed("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        "sysctl -w kernel.unprivileged_userns_clone=1"
    } else if closed("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    } else if closed("/proc/sys/user/max_user_namespaces", "0") {
        "sysctl -w user.max_user_namespaces=10000"
    } else {
        "run in a container that may make user namespaces (docker run --security-opt seccomp=unconfined)"
    };
    Check::bad(name, said, fix)
}

/// Interfaces outside of a namespace of one's own need these.
fn privileges() -> Check {
    let has = capabilities(&read("/proc/self/status"));
    match has.contains(&"CAP_NET_RAW") {
        true => Check::good("privileges", has.join(", ")),
        false => Check::bad(
            "privileges",
            "no CAP_NET_RAW: network interfaces outside of namespaces cannot be opened",
            "sudo incast ..., or setcap cap_net_raw,cap_net_admin+ep on the program",
        ),
    }
}

fn tshark() -> Check {
    let output = Command::new("tshark").arg("--version").output();
    match output {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            Check::good("tshark", text.lines().next().unwrap_or("there").trim())
        }
        _ => Check::bad("tshark", "not installed", "apt-get install tshark"),
    }
}

/// PCI network devices: address and driver.
fn network_devices() -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(PCI) else { return vec![] };
    let mut devices: Vec<(String, String)> = entries
        .flatten()
        .filter(|entry| {
            let class = std::fs::read_to_string(entry.path().join("class"));
            class.is_ok_and(|class| class.starts_with("0x02"))
        })
        .map(|entry| {
            let driver = std::fs::read_link(entry.path().join("driver")).ok();
            let driver = driver.and_then(|path| Some(path.file_name()?.to_str()?.to_string()));
            let address = entry.file_name().to_string_lossy().into_owned();
            (address, driver.unwrap_or("no driver".into()))
        })
        .collect();
    devices.sort();
    devices
}

fn nic() -> Check {
    let name = "nic";
    let devices = network_devices();
    let list: Vec<String> =
        devices.iter().map(|(address, driver)| format!("{address} ({driver})")).collect();
    // These drivers share the device with DPDK.
    let usable = |driver: &str| {
        driver.starts_with("vfio") || driver.contains("uio") || driver.starts_with("mlx")
    };
    if devices.iter().any(|(_, driver)| usable(driver)) {
        return Check::good(name, list.join(", "));
    }
    let Some((address, _)) = devices.first() else {
        return Check::bad(
            name,
            "no PCI network device",
            "attach a NIC, or pass one through to this machine",
        );
    };
    let iommu =
        std::fs::read_dir("/sys/kernel/iommu_groups").is_ok_and(|mut all| all.next().is_some());
    let fix = match iommu {
        true => format!("modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci {address}"),
        false => format!(
            "boot with intel_iommu=on (or amd_iommu=on), then modprobe vfio-pci && \
             dpdk-devbind.py --bind=vfio-pci {address}"
        ),
    };
    Check::bad(name, format!("the kernel has {}", list.join(", ")), fix)
}

fn clock() -> Check {
    let name = "clock";
    let info = read("/proc/cpuinfo");
    let flags: Vec<&str> =
        field_of_cpu(&info, "flags").unwrap_or_default().split_whitespace().collect();
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let source = source.trim();
    if !Path::new("/proc/cpuinfo").exists() || !cfg!(target_arch = "x86_64") {
        return Check::good(name, format!("the system's, {source}"));
    }
    match flags.contains(&"constant_tsc") {
        true => Check::good(name, format!("constant TSC; the kernel uses {source}")),
        false => Check::bad(
            name,
            format!("the TSC changes its rate; the kernel uses {source}"),
            "use --clock virtual or --clock paced",
        ),
    }
}

/// A field of the first core in `/proc/cpuinfo`, where tabs follow the key.
fn field_of_cpu<'a>(info: &'a str, key: &str) -> Option<&'a str> {
    let line = info.lines().find(|line| line.split(':').next().is_some_and(|k| k.trim() == key))?;
    line.split_once(':').map(|(_, value)| value.trim())
}

fn isolated() -> Check {
    let isolated = cores(&read("/sys/devices/system/cpu/isolated"));
    let status = read("/proc/self/status");
    let usable = field(&status, "Cpus_allowed_list").map_or(0, cores);
    match isolated {
        0 => Check::bad(
            "isolated",
            format!("none of {usable} cores: --clock tsc would measure the scheduler"),
            isolating(usable),
        ),
        count => Check::good("isolated", format!("{count} isolated cores")),
    }
}

/// What isolates cores of so many, of which the first is left to the system.
fn isolating(cores: usize) -> String {
    let last = cores.saturating_sub(1).min(3);
    match last {
        0 => "use --clock compensated: tsc needs a second core".into(),
        1 => "use --clock compensated, or boot with isolcpus=1 nohz_full=1".into(),
        _ => format!("use --clock compensated, or boot with isolcpus=1-{last} nohz_full=1-{last}"),
    }
}

fn stolen_time() -> Check {
    let seen = stalls(Duration::from_millis(300));
    let stolen = stolen(&read("/proc/stat")).unwrap_or(0.0);
    let found = format!(
        "{:.1} % of 0.3 s in gaps over 5 us, the longest {:.0} us; {:.1} % stolen by the host since the start",
        100.0 * seen.share,
        seen.longest.as_secs_f64() * 1e6,
        100.0 * stolen
    );
    match seen.share <= STALLED {
        true => Check::good("stalls", found),
        false => Check::bad(
            "stalls",
            found,
            "end other busy processes, or use --clock virtual or --clock paced",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_dpdk_says_so() {
        let check = library();
        if cfg!(feature = "dpdk") {
            assert!(check.ok && check.found.contains("DPDK"), "{check:?}");
        } else {
            assert!(!check.ok && check.found.contains("built without DPDK"), "{check:?}");
            assert!(check.fix.unwrap().contains("--features dpdk"));
        }
    }

    #[test]
    fn only_cores_that_the_machine_has_are_to_be_isolated() {
        assert!(isolating(1).ends_with("needs a second core"));
        assert!(isolating(2).ends_with("isolcpus=1 nohz_full=1"));
        assert!(isolating(3).ends_with("isolcpus=1-2 nohz_full=1-2"));
        assert!(isolating(64).ends_with("isolcpus=1-3 nohz_full=1-3"));
    }

    #[test]
    fn fields_of_cores_have_tabs() {
        let info = "processor\t: 0\nflags\t\t: fpu constant_tsc\nprocessor\t: 1\nflags\t\t: fpu\n";
        assert_eq!(field_of_cpu(info, "flags"), Some("fpu constant_tsc"));
        assert_eq!(field_of_cpu(info, "bogus"), None);
    }
}
