//! The server: GET only, for this machine only, and nothing but the page and the given folders.

use super::folder::Served;
use incast_experiment::Fault;
use incast_experiment::fault::expected;
use oxhttp::model::{Body, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use percent_encoding::percent_decode_str;
use std::fs::File;
use std::io;
use std::iter::{once, repeat_with};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What tells the page that it is served with folders.
const MARK: &str = "<meta name=\"incast-explore\" content=\"1\">";
/// How long a connection may be silent: longer than browsers keep one that they do not use.
const SILENCE: Duration = Duration::from_secs(600);
/// Connections at a time, each with a thread of its own. More wait until one of these ends.
const CONNECTIONS: usize = 512;
/// The port that is tried first, so that addresses of views last from one call to the next.
const PORT: u16 = 7341;
/// Free ports that are tried after it.
const TRIES: usize = 16;

pub(super) struct Server {
    /// Written once, before the first request.
    port: AtomicU16,
    page: Vec<u8>,
    folders: Vec<Served>,
    /// Explanations are made one after the other: each uses all cores.
    explaining: Mutex<()>,
}

/// A status with a text.
type Refusal = (StatusCode, String);

fn reply(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    set(&mut response, header::CONTENT_TYPE, kind);
    response
}

fn set(response: &mut Response<Body>, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}

impl Server {
    /// Serves `page` and `folders` on loopback: at the port asked for, else at the usual one, else at
    /// any that is free.
    ///
    /// # Errors
    /// The port asked for is taken, or none is free.
    pub fn start(
        asked: Option<u16>,
        page: &[u8],
        folders: Vec<Served>,
    ) -> Result<Arc<Server>, Fault> {
        match asked {
            Some(port) => Server::at(once(Ok(port)), page, folders).map_err(|error| {
                let problem = format!("{error}: choose another port, or leave it out");
                Fault::value("--port", port, problem)
            }),
            None => {
                let ports = once(Ok(PORT)).chain(repeat_with(free).take(TRIES));
                Server::at(ports, page, folders).map_err(Fault::new)
            }
        }
    }

    /// Serves at the first of `ports` that nobody else has.
    fn at(
        ports: impl Iterator<Item = io::Result<u16>>,
        page: &[u8],
        folders: Vec<Served>,
    ) -> io::Result<Arc<Server>> {
        let text = String::from_utf8_lossy(page).replacen("<head>", &format!("<head>{MARK}"), 1);
        let (page, explaining) = (text.into_bytes(), Mutex::new(()));
        let server = Arc::new(Server { port: AtomicU16::new(0), page, folders, explaining });
        let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for port in ports {
            let port = port?;
            server.port.store(port, Ordering::Relaxed);
            let own = server.clone();
            let http = oxhttp::Server::new(move |request| own.answer(request))
                .bind((Ipv4Addr::LOCALHOST, port))
                .with_global_timeout(SILENCE)
                .with_max_concurrent_connections(CONNECTIONS);
            match http.spawn() {
                Ok(_) => return Ok(server),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn port(&self) -> u16 {
        self.port.load(Ordering::Relaxed)
    }

    /// Where the page is.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port())
    }

    fn answer(&self, request: &Request<Body>) -> Response<Body> {
        let found = self.permitted(request).and_then(|()| {
            let url = request.uri();
            self.found(url.path(), url.query().unwrap_or_default())
        });
        let mut response =
            found.unwrap_or_else(|(status, text)| reply(status, "text/plain; charset=utf-8", text));
        set(&mut response, header::CACHE_CONTROL, "no-store");
        set(&mut response, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        let name = HeaderName::from_static("cross-origin-resource-policy");
        set(&mut response, name, "same-origin");
        response
    }

    /// Whether a request may be answered: pages of other sites reach loopback too, under their own names.
    fn permitted(&self, request: &Request<Body>) -> Result<(), Refusal> {
        if request.method() != Method::GET {
            return Err((StatusCode::METHOD_NOT_ALLOWED, "only GET is answered".into()));
        }
        let value = |name: &str| request.headers().get(name).and_then(|own| own.to_str().ok());
        let own = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", self.port()));
        if !value("host").is_some_and(|host| own.iter().any(|own| own == host)) {
            let problem = format!("only requests to {} are answered", own[0]);
            return Err((StatusCode::FORBIDDEN, problem));
        }
        match value("sec-fetch-site") {
            Some("cross-site" | "same-site") if request.uri().path() != "/" => {
                Err((StatusCode::FORBIDDEN, "only this page's requests are answered".into()))
            }
            _ => Ok(()),
        }
    }

    fn found(&self, path: &str, query: &str) -> Result<Response<Body>, Refusal> {
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match parts.as_slice() {
            [""] => Ok(reply(StatusCode::OK, "text/html; charset=utf-8", self.page.clone())),
            ["folders"] => {
                let all: Vec<_> = self.folders.iter().map(Served::listing).collect();
                Ok(json(&all.into()))
            }
            ["files", folder, file] => self.file(folder, file),
            ["explain"] => self.explain(query),
            _ => Err((StatusCode::NOT_FOUND, "there is no such address".into())),
        }
    }

    fn folder(&self, number: &str) -> Result<&Served, Refusal> {
        let found = number.parse().ok().and_then(|number: usize| self.folders.get(number));
        found.ok_or((StatusCode::NOT_FOUND, "there is no such folder".into()))
    }

    fn file(&self, folder: &str, file: &str) -> Result<Response<Body>, Refusal> {
        let gone = || {
            let problem = "there is no such file: was the folder changed? Load the page again";
            (StatusCode::NOT_FOUND, problem.into())
        };
        let path = file.parse().ok().and_then(|file| self.folder(folder).ok()?.file(file));
        let file = File::open(path.ok_or_else(gone)?).map_err(|_| gone())?;
        Ok(reply(StatusCode::OK, "application/octet-stream", Body::from_read(file)))
    }

    fn explain(&self, query: &str) -> Result<Response<Body>, Refusal> {
        let value = |name: &str| {
            let found =
                query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
            percent_decode_str(found.unwrap_or_default()).decode_utf8_lossy().into_owned()
        };
        let flow = value("flow");
        let refused = |_| {
            let fault = Fault::value("flow", &flow, expected("a flow's number"));
            (StatusCode::BAD_REQUEST, fault.to_string())
        };
        let flow = flow.parse().map_err(refused)?;
        let folder = self.folder(&value("folder"))?;
        let _turn = self.explaining.lock().unwrap_or_else(PoisonError::into_inner);
        let told = folder.explain(&value("run"), flow);
        let told = told.map_err(|fault| (StatusCode::UNPROCESSABLE_ENTITY, fault.to_string()))?;
        Ok(json(&told))
    }
}

/// A port that is free now. Another program may take it before the server does: it is tried, and
/// the next one after it.
fn free() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn json(value: &serde_json::Value) -> Response<Body> {
    reply(StatusCode::OK, "application/json", value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::path::Path;

    /// A running server of one folder with a manifest, a table and a file outside of it.
    fn serving(outside: &Path) -> u16 {
        let results = outside.join("results");
        std::fs::create_dir_all(results.join("dctcp")).unwrap();
        std::fs::write(results.join("manifest.json"), "{}").unwrap();
        std::fs::write(results.join("dctcp/flows.parquet"), "PAR1").unwrap();
        std::fs::write(outside.join("secret"), "secret").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.join("secret"), results.join("link.toml")).unwrap();
        let folder = Served::open(&results).unwrap();
        let ports = repeat_with(free).take(TRIES);
        Server::at(ports, b"<html><head></head>", vec![folder]).unwrap().port()
    }

    /// Sends a request's head as it is and gives the answer.
    fn ask(port: u16, line: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(stream, "{line} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn only_the_page_and_the_files_of_the_folders_are_served_and_only_here() {
        let outside = tempfile::tempdir().unwrap();
        let port = serving(outside.path());
        let host = format!("Host: 127.0.0.1:{port}\r\n");
        let get = |path: &str| ask(port, &format!("GET {path}"), &host);
        assert!(get("/").contains(MARK), "the page knows that it is served");
        let listed = get("/folders");
        assert!(listed.contains(r#""path":"dctcp/flows.parquet""#), "{listed}");
        assert!(!listed.contains("link.toml"), "links lead out of the folder");
        // Files are in order: dctcp/flows.parquet, manifest.json.
        assert!(get("/files/0/0").contains("PAR1"));
        for path in [
            "/files/0/2",
            "/files/1/0",
            "/files/0/../../secret",
            "/files/0/..%2f..%2fsecret",
            "/secret",
        ] {
            let answer = get(path);
            assert!(
                answer.starts_with("HTTP/1.1 404") && !answer.ends_with("secret"),
                "{path}: {answer}"
            );
        }
        assert!(get("/explain?folder=0&run=dctcp&flow=x").starts_with("HTTP/1.1 400"));
        let refused = |line: &str, headers: &str, status: &str| {
            let answer = ask(port, line, headers);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status}")),
                "{line} {headers}: {answer}"
            );
        };
        refused("GET /folders", &format!("Host: evil.example:{port}\r\n"), "403");
        refused("GET /folders", "", "400");
        refused("GET /folders", &format!("{host}Sec-Fetch-Site: cross-site\r\n"), "403");
        refused("POST /folders", &host, "405");
    }

    /// A browser keeps connections open and opens many at once: none may wait for another.
    #[test]
    fn silent_and_half_sent_requests_hold_up_nobody() {
        let outside = tempfile::tempdir().unwrap();
        let port = serving(outside.path());
        let connect = || {
            let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            stream
        };
        let get = format!("GET /folders HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
        let first = |stream: &mut TcpStream| {
            let mut line = [0; 15];
            stream.read_exact(&mut line).expect("an answer within ten seconds");
            assert_eq!(&line, b"HTTP/1.1 200 OK");
        };
        // What is held up depends on chance: one try shows nothing.
        for _ in 0..32 {
            // All at once, every one before the first answer is read; none is closed.
            let mut all: Vec<TcpStream> = (0..64).map(|_| connect()).collect();
            for (at, stream) in all.iter_mut().enumerate() {
                match at % 4 {
                    0 => {}
                    1 => stream.write_all(&get.as_bytes()[..25]).unwrap(),
                    _ => stream.write_all(get.as_bytes()).unwrap(),
                }
            }
            all.iter_mut().enumerate().filter(|(at, _)| at % 4 > 1).for_each(|(_, own)| first(own));
            // What was half sent is answered once it is whole.
            for stream in all.iter_mut().skip(1).step_by(4) {
                stream.write_all(&get.as_bytes()[25..]).unwrap();
                first(stream);
            }
        }
        first(&mut {
            let mut late = connect();
            late.write_all(get.as_bytes()).unwrap();
            late
        });
    }

    /// Another program has taken the port since it was found free: the next one is served.
    #[test]
    fn a_port_that_was_taken_meanwhile_is_passed_over() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = other.local_addr().unwrap().port();
        let ports = once(Ok(taken)).chain(repeat_with(free).take(TRIES));
        let server = Server::at(ports, b"<head>", vec![]).unwrap();
        assert_ne!(server.port(), taken);
        let head = format!("Host: 127.0.0.1:{}\r\n", server.port());
        assert!(ask(server.port(), "GET /", &head).contains(MARK), "it answers under its port");
        let refused = Server::start(Some(taken), b"<head>", vec![]).map(drop).unwrap_err();
        assert!(refused.to_string().starts_with(&format!("--port = `{taken}`: ")), "{refused}");
    }

    #[test]
    fn a_folder_without_manifest_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let fault = Served::open(folder.path()).map(drop).unwrap_err().to_string();
        assert!(fault.contains("manifest.json"), "{fault}");
    }
}
