//! `incast explore`: opens results folders in a browser, by a server on the loopback interface.

mod folder;
mod server;

use crate::Ended;
use crate::arguments::Explore;
use crate::session::on_signal;
use crate::warnings::{NO_BROWSER, warn};
use folder::Served;
use incast_experiment::Fault;
use server::Server;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The port that is tried first, so that addresses of views last from one call to the next.
const PORT: u16 = 7341;

pub fn explore(options: Explore) -> Result<Ended, Fault> {
    let page = PAGE.ok_or_else(|| {
        Fault::new(
            "this program was built without the explorer's page: run `make explorer` (it needs Node.js 20.19 \
             or later with npm) and build the program again, or open the page of another build as a file and \
             choose the folder there. `incast explain` and report.html need no page",
        )
    })?;
    let folders: Vec<Served> =
        options.results.iter().map(|folder| Served::open(folder)).collect::<Result<_, Fault>>()?;
    let listener = listen(options.port)?;
    let server = Server::start(listener, page, folders)?;
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

/// Listens on loopback: at the port asked for, else at the usual one, else at any.
fn listen(port: Option<u16>) -> Result<TcpListener, Fault> {
    let bind = |port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    match port {
        Some(port) => bind(port).map_err(|error| {
            let problem = format!("{error}: choose another port, or leave it out");
            Fault::value("--port", port, problem)
        }),
        None => bind(PORT).or_else(|_| bind(0)).map_err(Fault::new),
    }
}
