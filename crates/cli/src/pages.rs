//! Memory in large pages. A simulation accesses packets and hosts in an unpredictable order; with
//! pages of 4 KiB it spends much of its time on TLB misses.

use std::ffi::{OsStr, OsString};

/// The environment variable with the tunables of glibc (2.35 and later), read at program start.
const TUNABLES: &str = "GLIBC_TUNABLES";
const LARGE: &str = "glibc.malloc.hugetlb";

/// Re-executes this program with memory in large pages, where the kernel provides them on demand.
/// No effect if the variable already sets this tunable: `GLIBC_TUNABLES=glibc.malloc.hugetlb=0`
/// selects small pages. If re-execution fails, or with another C library, the program continues
/// unchanged.
pub fn ask_for_large_pages() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if let Some(tunables) = with_large_pages(std::env::var_os(TUNABLES).as_deref()) {
        use std::os::unix::process::CommandExt;
        let mut arguments = std::env::args_os();
        let name = arguments.next().unwrap_or_default();
        let Ok(program) = std::env::current_exe() else { return };
        // Returns only when it fails.
        let _ = std::process::Command::new(program)
            .arg0(name)
            .args(arguments)
            .env(TUNABLES, tunables)
            .exec();
    }
}

/// The tunables with large pages added; `None` if they are already set.
fn with_large_pages(tunables: Option<&OsStr>) -> Option<OsString> {
    let mut all = tunables.unwrap_or_default().to_os_string();
    if all.to_string_lossy().contains(LARGE) {
        return None;
    }
    if !all.is_empty() {
        all.push(":");
    }
    all.push(LARGE);
    all.push("=1");
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_once_and_keeps_the_users_setting() {
        let setting = with_large_pages(None).unwrap();
        assert_eq!(setting, "glibc.malloc.hugetlb=1");
        assert_eq!(with_large_pages(Some(&setting)), None, "no second start");
        assert_eq!(with_large_pages(Some(OsStr::new("glibc.malloc.hugetlb=0"))), None);
        let other = with_large_pages(Some(OsStr::new("glibc.malloc.check=1"))).unwrap();
        assert_eq!(other, "glibc.malloc.check=1:glibc.malloc.hugetlb=1");
    }
}
