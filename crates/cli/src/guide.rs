//! `incast completions` and `incast man`: what shells and `man` know of the command line.

use crate::arguments::{Completions, Man};
use crate::{Ended, command_line};
use incast_experiment::Fault;
use std::io::Write;

pub fn completions(options: &Completions) -> Result<Ended, Fault> {
    let mut text = vec![];
    clap_complete::generate(options.shell, &mut command_line(), "incast", &mut text);
    crate::printed(std::io::stdout().write_all(&text));
    Ok(Ended::Done)
}

pub fn man(options: &Man) -> Result<Ended, Fault> {
    let folder = &options.folder;
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command_line(), folder));
    written.map_err(|error| {
        Fault::unwritten(format!("{}: could not be written: {error}", folder.display()))
    })?;
    say!("{}", folder.join("incast.1").display());
    Ok(Ended::Done)
}
