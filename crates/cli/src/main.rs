//! The `incast` command; see the library for what it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    incast_cli::pages::ask_for_large_pages();
    let program = std::env::current_exe().unwrap_or_else(|_| "incast".into());
    incast_cli::run(vec![program.into()], std::env::args_os()).into()
}
