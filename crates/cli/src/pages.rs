//! Memory in large pages: a simulation touches its packets and hosts in no order that a processor
//! foresees, and with pages of 4 KiB it spends a good part of its time looking pages up.

use std::ffi::{OsStr, OsString};

/// The variable by which glibc (2.35 and later) is tuned at start, and by nothing else.
const TUNABLES: &str = "GLIBC_TUNABLES";
const LARGE: &str = "glibc.malloc.hugetlb";

/// Starts this program again, in its place, with memory in large pages where the kernel grants them
/// on demand. Does nothing if the variable already says something about them: set
/// `GLIBC_TUNABLES=glibc.malloc.hugetlb=0` to stay with small ones. If that fails, or with another
/// C library, the program runs as it is.
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

/// The tunables with large pages added; nothing if they are spoken of already.
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
    fn asks_once_and_keeps_what_a_person_chose() {
        let asked = with_large_pages(None).unwrap();
        assert_eq!(asked, "glibc.malloc.hugetlb=1");
        assert_eq!(with_large_pages(Some(&asked)), None, "no second start");
        assert_eq!(with_large_pages(Some(OsStr::new("glibc.malloc.hugetlb=0"))), None);
        let other = with_large_pages(Some(OsStr::new("glibc.malloc.check=1"))).unwrap();
        assert_eq!(other, "glibc.malloc.check=1:glibc.malloc.hugetlb=1");
    }
}
