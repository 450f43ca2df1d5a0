//! Compiles the shim and links with the libraries of DPDK that it uses; nothing without `link`.

#[cfg(not(feature = "link"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}

#[cfg(feature = "link")]
fn main() {
    println!("cargo::rerun-if-changed=src/shim.c");
    println!("cargo::rerun-if-env-changed=PKG_CONFIG");
    println!("cargo::rerun-if-env-changed=PKG_CONFIG_PATH");
    let mut shim = cc::Build::new();
    shim.file("src/shim.c").std("gnu11").opt_level(3).warnings(true).extra_warnings(true);
    for flag in pkg_config("--cflags") {
        // The headers of DPDK are the system's: what is wrong with them is no warning of ours.
        match flag.strip_prefix("-I") {
            Some(folder) => shim.flag("-isystem").flag(folder),
            None => shim.flag(flag),
        };
    }
    shim.compile("incast_dpdk_shim");
    for library in pkg_config("--variable=libdir") {
        println!("cargo::rustc-link-search=native={library}");
    }
    for library in ["net_ring", "ethdev", "mbuf", "mempool", "ring", "eal"] {
        println!("cargo::rustc-link-lib=dylib=rte_{library}");
    }
}

/// Words that pkg-config prints about libdpdk.
#[cfg(feature = "link")]
fn pkg_config(what: &str) -> Vec<String> {
    const FIX: &str = "the feature `dpdk` needs libdpdk: run \
        `apt-get install libdpdk-dev pkg-config build-essential`, or build without the feature";
    let tool = std::env::var("PKG_CONFIG").unwrap_or("pkg-config".into());
    let output = match std::process::Command::new(&tool).args([what, "libdpdk >= 21.11"]).output() {
        Ok(output) => output,
        Err(error) => fail(&format!("cannot run `{tool}` ({error}); {FIX}")),
    };
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        let reason = reason.lines().next().unwrap_or("no reason given").to_string();
        fail(&format!("{FIX} ({tool}: {reason})"));
    }
    String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_string).collect()
}

#[cfg(feature = "link")]
fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    std::process::exit(1)
}
