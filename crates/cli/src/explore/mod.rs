//! `incast explore`: opens results folders in a browser, by a server on the loopback interface.

mod folder;
pub mod page;
mod server;

use crate::arguments::Explore;
use crate::process::Ended;
use crate::session::on_signal;
use crate::warnings::{NO_BROWSER, warn};
use folder::Served;
use incast_experiment::Fault;
use page::PAGE;
use server::Server;

pub fn explore(options: Explore) -> Result<Ended, Fault> {
    let page = PAGE.ok_or_else(|| {
        Fault::new(
            "this program was built without the explorer's page: run `make explorer` and build the program again, or open the page of another build as a file and \
             choose the folder there. `incast explain` and report.html need no page",
        )
    })?;
    let folders: Vec<Served> =
        options.results.iter().map(|folder| Served::open(folder)).collect::<Result<_, Fault>>()?;
    let server = Server::start(options.port, page, folders)?;
    let address = server.address();
    say!("{address}");
    eprintln!("press Ctrl-C to end");
    on_signal(|| std::process::exit(0));
    if !options.no_open
        && let Err(error) = open::that_detached(&address)
    {
        warn(&NO_BROWSER, &[("error", &error), ("address", &address)]);
    }
    loop {
        std::thread::park();
    }
}
