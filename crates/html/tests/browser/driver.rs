//! A headless Chromium, driven by ChromeDriver's protocol over plain HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// Options without which it asks the network for updates, or will not start as root.
const OPTIONS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
];

/// A browser; it ends when this is dropped.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    // Removed last, when the browser is gone.
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts one; absent where the programs are, with the reason printed.
    pub fn start() -> Option<Browser> {
        let spawned = Command::new("chromedriver")
            .args(["--port=0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut driver = match spawned {
            Ok(driver) => driver,
            Err(error) => {
                let thread = std::thread::current();
                let name = thread.name().unwrap_or("a test").to_owned();
                println!("skipped: {name}: chromedriver cannot be started: {error}");
                return None;
            }
        };
        let lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_suffix('.')?.rsplit_once("on port ")?.1.parse().ok());
        let profile = tempfile::tempdir().expect("a directory");
        let port = port.expect("chromedriver tells its port");
        let mut browser = Browser { driver, port, session: String::new(), _profile: profile };
        let mut options: Vec<String> = OPTIONS.iter().map(|of| (*of).to_owned()).collect();
        options.push(format!("--user-data-dir={}", browser._profile.path().display()));
        let capabilities = json!({
            "browserName": "chrome",
            "goog:chromeOptions": { "args": options },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        });
        let asked = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let answer = browser.request("POST", "/session", &asked);
        browser.session = answer["sessionId"].as_str().expect("a session").to_owned();
        Some(browser)
    }

    /// Opens a page.
    pub fn open(&self, page: &Path) {
        self.post("url", &json!({ "url": format!("file://{}", page.display()) }));
    }

    /// The value of an expression, or of the last `return`.
    pub fn run(&self, script: &str) -> Value {
        let body =
            if script.contains("return") { script.into() } else { format!("return {script}") };
        self.post("execute/sync", &json!({ "script": body, "args": [] }))
    }

    /// A command of the browser's own protocol.
    pub fn command(&self, name: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": name, "params": parameters }))
    }

    /// Presses keys, as W3C names them.
    pub fn press(&self, keys: &str) {
        let press = |key: char| {
            let key = key.to_string();
            [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]
        };
        let actions: Vec<Value> = keys.chars().flat_map(press).collect();
        self.act(&json!({ "type": "key", "id": "keyboard", "actions": actions }));
    }

    /// Moves the mouse through places of the window, with its button down from the first to the
    /// last where it drags.
    pub fn mouse(&self, places: &[(f64, f64)], drags: bool) {
        let mut actions = Vec::new();
        for (nth, (x, y)) in places.iter().enumerate() {
            let (x, y) = (x.round(), y.round());
            actions.push(json!({ "type": "pointerMove", "duration": 0, "x": x, "y": y }));
            if drags && nth == 0 {
                actions.push(json!({ "type": "pointerDown", "button": 0 }));
            }
        }
        if drags {
            actions.push(json!({ "type": "pointerUp", "button": 0 }));
        }
        let mouse = json!({ "pointerType": "mouse" });
        self.act(&json!({
            "type": "pointer", "id": "mouse", "parameters": mouse, "actions": actions
        }));
    }

    fn act(&self, input: &Value) {
        self.post("actions", &json!({ "actions": [input] }));
    }

    /// The window as a PNG.
    pub fn screenshot(&self) -> Vec<u8> {
        bytes(&self.get("screenshot"))
    }

    /// The page as a PDF.
    pub fn print(&self) -> Vec<u8> {
        bytes(&self.post("print", &json!({ "background": true })))
    }

    /// Messages of the console since the last call.
    pub fn console(&self) -> Vec<String> {
        let log = self.post("se/log", &json!({ "type": "browser" }));
        let entries = log.as_array().expect("a list");
        entries.iter().map(|entry| entry["message"].to_string()).collect()
    }

    /// Addresses that were asked for since the last call.
    pub fn requests(&self) -> Vec<String> {
        let log = self.post("se/log", &json!({ "type": "performance" }));
        let url = |entry: &Value| {
            let event: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let event = &event["message"];
            let is_request = event["method"] == "Network.requestWillBeSent";
            Some(event["params"]["request"]["url"].as_str().filter(|_| is_request)?.to_owned())
        };
        log.as_array().expect("a list").iter().filter_map(url).collect()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.request("POST", &format!("/session/{}/{path}", self.session), body)
    }

    fn get(&self, path: &str) -> Value {
        self.request("GET", &format!("/session/{}/{path}", self.session), &Value::Null)
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream =
            TcpStream::connect(("127.0.0.1", self.port)).expect("chromedriver listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all((head + &body).as_bytes()).expect("sent");
        let mut answer: Value = serde_json::from_slice(&self::answer(stream)).expect("JSON");
        let value = answer["value"].take();
        assert!(value.get("error").is_none(), "{method} {path}: {value}");
        value
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.request("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        // A killed driver takes its browser along only where the session has ended before.
        let _ = TcpStream::connect(("127.0.0.1", self.port)).map(|mut stream| {
            let _ = stream.write_all(b"GET /shutdown HTTP/1.1\r\nHost: localhost\r\n\r\n");
            let _ = stream.read(&mut [0; 256]);
        });
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The body of an answer; the driver keeps the connection open behind it.
fn answer(stream: TcpStream) -> Vec<u8> {
    let mut answer = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        answer.read_line(&mut line).expect("a line");
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().expect("a length");
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    answer.read_exact(&mut body).expect("a body");
    body
}

/// The bytes of a text in base64.
fn bytes(text: &Value) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let text = text.as_str().expect("a text");
    let digits: Vec<u32> = text.bytes().filter_map(digit).map(u32::from).collect();
    let four = |four: &[u32]| {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - four.len()));
        let bytes = bits.to_be_bytes();
        bytes[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(four).collect()
}
