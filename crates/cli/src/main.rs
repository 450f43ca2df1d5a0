//! The `incast` command; see the library for what it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    incast_cli::pages::ask_for_large_pages();
    incast_cli::run(std::env::args_os()).into()
}
