//! The server: GET only, for this machine only, and nothing but the page and the given folders.

use super::folder::Served;
use incast_experiment::Fault;
use percent_encoding::percent_decode_str;
use std::fs::File;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use tiny_http::{Header, Method, Request, Response, ResponseBox};

/// Requests that are answered at a time; an explanation takes one of them for long.
const AT_A_TIME: usize = 4;
/// What tells the page that it is served with folders.
const MARK: &str = "<meta name=\"incast-explore\" content=\"1\">";

pub(super) struct Server {
    http: tiny_http::Server,
    port: u16,
    page: Vec<u8>,
    folders: Vec<Served>,
}

/// A status with a text.
type Refusal = (u16, String);

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("plain names and values")
}

fn reply(status: u16, kind: &str, body: Vec<u8>) -> ResponseBox {
    Response::from_data(body)
        .with_status_code(status)
        .with_header(header("Content-Type", kind))
        .boxed()
}

impl Server {
    /// Serves `page` and `folders` on a listener.
    ///
    /// # Errors
    /// The listener is of no use.
    pub fn start(
        listener: TcpListener,
        page: &[u8],
        folders: Vec<Served>,
    ) -> Result<Arc<Server>, Fault> {
        let port = listener.local_addr().map_err(Fault::new)?.port();
        let http = tiny_http::Server::from_listener(listener, None).map_err(Fault::new)?;
        let text = String::from_utf8_lossy(page).replacen("<head>", &format!("<head>{MARK}"), 1);
        Ok(Arc::new(Server { http, port, page: text.into_bytes(), folders }))
    }

    /// Where the page is.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers requests until the program ends.
    pub fn serve(self: &Arc<Server>) {
        let workers = (0..AT_A_TIME).map(|_| {
            let own = self.clone();
            thread::spawn(move || {
                own.http.incoming_requests().for_each(|request| own.answer(request))
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            let _ = worker.join();
        }
    }

    fn answer(&self, request: Request) {
        let response = self.permitted(&request).and_then(|()| self.found(request.url()));
        let response = response.unwrap_or_else(|(status, text)| {
            reply(status, "text/plain; charset=utf-8", text.into_bytes())
        });
        let response = response
            .with_header(header("Cache-Control", "no-store"))
            .with_header(header("X-Content-Type-Options", "nosniff"))
            .with_header(header("Cross-Origin-Resource-Policy", "same-origin"));
        // The browser may have gone; there is nobody to tell.
        let _ = request.respond(response);
    }

    /// Whether a request may be answered: pages of other sites reach loopback too, under their own names.
    fn permitted(&self, request: &Request) -> Result<(), Refusal> {
        if *request.method() != Method::Get {
            return Err((405, "only GET is answered".into()));
        }
        let value = |name: &'static str| {
            let found = request.headers().iter().find(|header| header.field.equiv(name));
            found.map(|header| header.value.as_str())
        };
        let own = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        if !value("Host").is_some_and(|host| own.iter().any(|own| own == host)) {
            return Err((403, format!("only requests to {} are answered", own[0])));
        }
        match value("Sec-Fetch-Site") {
            Some("cross-site" | "same-site") if request.url() != "/" => {
                Err((403, "only this page's requests are answered".into()))
            }
            _ => Ok(()),
        }
    }

    fn found(&self, url: &str) -> Result<ResponseBox, Refusal> {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match parts.as_slice() {
            [""] => Ok(reply(200, "text/html; charset=utf-8", self.page.clone())),
            ["folders"] => {
                let all: Vec<_> = self.folders.iter().map(Served::listing).collect();
                Ok(json(&all.into()))
            }
            ["files", folder, file] => self.file(folder, file),
            ["explain"] => self.explain(query),
            _ => Err((404, "there is no such address".into())),
        }
    }

    fn folder(&self, number: &str) -> Result<&Served, Refusal> {
        let found = number.parse().ok().and_then(|number: usize| self.folders.get(number));
        found.ok_or((404, "there is no such folder".into()))
    }

    fn file(&self, folder: &str, file: &str) -> Result<ResponseBox, Refusal> {
        let gone =
            || (404, "there is no such file: was the folder changed? Load the page again".into());
        let path = file.parse().ok().and_then(|file| self.folder(folder).ok()?.file(file));
        let file = File::open(path.ok_or_else(gone)?).map_err(|_| gone())?;
        let kind = header("Content-Type", "application/octet-stream");
        Ok(Response::from_file(file).with_header(kind).boxed())
    }

    fn explain(&self, query: &str) -> Result<ResponseBox, Refusal> {
        let value = |name: &str| {
            let found =
                query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
            percent_decode_str(found.unwrap_or_default()).decode_utf8_lossy().into_owned()
        };
        let flow = value("flow");
        let flow =
            flow.parse().map_err(|_| (400, format!("flow={flow}: expected a flow's number")))?;
        let folder = self.folder(&value("folder"))?;
        let told = folder.explain(&value("run"), flow).map_err(|fault| (422, fault.to_string()))?;
        Ok(json(&told))
    }
}

fn json(value: &serde_json::Value) -> ResponseBox {
    reply(200, "application/json", value.to_string().into_bytes())
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
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let folder = Served::open(&results).unwrap();
        let server = Server::start(listener, b"<html><head></head>", vec![folder]).unwrap();
        let port = server.port;
        thread::spawn(move || server.serve());
        port
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
        assert!(get("/files/0/0").ends_with("PAR1"));
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
        refused("GET /folders", "", "403");
        refused("GET /folders", &format!("{host}Sec-Fetch-Site: cross-site\r\n"), "403");
        refused("POST /folders", &host, "405");
    }

    #[test]
    fn a_folder_without_manifest_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let fault = Served::open(folder.path()).map(drop).unwrap_err().to_string();
        assert!(fault.contains("manifest.json"), "{fault}");
    }
}
