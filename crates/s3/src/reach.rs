//! Access to the buckets of a job: servers, users, region, places.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use candor_http::{Endpoint, Settings, Transport};
use candor_plan::bucket::{self, Bucket, CredentialSource, Protocol};

use crate::credentials::{Found, Host, find};
use crate::{Addressing, CredentialList, Credentials, Login, Place, Site, vault};

/// A reason why buckets cannot be accessed, with its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The place, the rule and the value.
    pub message: String,
    /// An order that makes it work.
    pub remedy: String,
    /// Key of the bucket's section that is wrong.
    pub key: &'static str,
}

impl Refusal {
    /// A refusal of the bucket.
    pub fn new(message: impl Into<String>, remedy: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), remedy: remedy.into(), key: "bucket" }
    }

    /// The same, with the key that is wrong.
    #[must_use]
    pub fn at(self, key: &'static str) -> Refusal {
        Refusal { key, ..self }
    }
}

/// Access to the buckets of a job.
pub struct Reach {
    /// Servers and connections.
    pub transport: Arc<Transport>,
    /// Sites by endpoint.
    pub sites: Vec<Site>,
    /// Places by endpoint and bucket.
    pub places: Vec<Vec<Place>>,
    /// Requests go over TLS.
    pub is_tls: bool,
    protocol: Protocol,
    users: Vec<Credentials>,
}

/// Variables that name a proxy, by scheme.
const PROXIES: [[&str; 2]; 2] = [["http_proxy", "HTTP_PROXY"], ["https_proxy", "HTTPS_PROXY"]];

impl Reach {
    /// Access to buckets with the same servers.
    ///
    /// # Errors
    /// A name, an endpoint, a file or a user that cannot be used.
    pub fn of(buckets: &[&Bucket]) -> Result<Reach, Refusal> {
        let Some(first) = buckets.first() else {
            return Err(Refusal::new("no bucket is named", "name a bucket"));
        };
        let profile = match &first.credentials {
            CredentialSource::Profile(name) => Some(name.as_str()),
            _ => None,
        };
        let found = match find(&Host, profile) {
            Ok(found) => found,
            // Only these sources need the search.
            Err(error) if needs_search(first) => {
                let remedy = "correct it, or use other credentials";
                return Err(Refusal::new(error.to_string(), remedy).at("credentials"));
            }
            Err(_) => Found::default(),
        };
        let region = first.region.clone().or(found.region.clone());
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        let endpoints = endpoints(first, &found, &region)?;
        let sites = endpoints.iter().map(|endpoint| site(first, endpoint, &region));
        let sites = sites.collect::<Result<Vec<_>, _>>()?;
        let places = sites.iter().map(|site| places(first.protocol, site, buckets));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        let is_tls = endpoints.iter().any(|endpoint| endpoint.scheme.name() == "https");
        Ok(Reach {
            transport: transport(first, endpoints)?,
            sites,
            places,
            is_tls,
            protocol: first.protocol,
            users: users(&first.credentials, found).map_err(|refusal| refusal.at("credentials"))?,
        })
    }

    /// Login of a rank.
    pub fn login(&self, rank: u64) -> Login {
        let count = self.users.len() as u64;
        let user = rank.checked_rem(count).map(|nth| &self.users[nth as usize]);
        match (self.protocol, user) {
            (_, None) => Login::Anonymous,
            (Protocol::S3, Some(user)) => Login::s3(Some(user.clone()), &self.sites[0]),
            (Protocol::Swift, Some(user)) => Login::token(user),
            (Protocol::Webdav, Some(user)) => Login::of_user(user),
        }
    }

    /// True if requests are signed.
    pub fn signs(&self) -> bool {
        self.protocol == Protocol::S3 && !self.users.is_empty()
    }

    /// Number of the endpoint of a connection.
    pub fn endpoint(&self, connection: u64) -> usize {
        (connection % self.sites.len() as u64) as usize
    }
}

fn needs_search(bucket: &Bucket) -> bool {
    matches!(bucket.credentials, CredentialSource::Environment | CredentialSource::Profile(_))
}

/// Amazon's server of a region.
fn of_region(region: &str) -> String {
    format!("https://s3.{region}.amazonaws.com")
}

fn endpoints(bucket: &Bucket, found: &Found, region: &str) -> Result<Vec<Endpoint>, Refusal> {
    let texts = if bucket.endpoints.is_empty() {
        vec![found.endpoint.clone().unwrap_or_else(|| of_region(region))]
    } else {
        bucket.endpoints.clone()
    };
    let each = texts.iter().map(|text| {
        text.parse::<Endpoint>().map_err(|error| {
            let remedy = "give a URL such as http://HOST:9000";
            Refusal::new(error.to_string(), remedy).at("endpoints")
        })
    });
    each.collect()
}

fn site(bucket: &Bucket, endpoint: &Endpoint, region: &str) -> Result<Site, Refusal> {
    let addressing = match bucket.addressing {
        bucket::Addressing::Path => Addressing::Path,
        bucket::Addressing::VirtualHost => Addressing::VirtualHost,
    };
    Site::new(&endpoint.authority(), region, addressing)
        .map_err(|error| Refusal::new(error.to_string(), "correct the endpoint or addressing"))
        .map_err(|refusal| refusal.at("endpoints"))
}

fn places(protocol: Protocol, site: &Site, buckets: &[&Bucket]) -> Result<Vec<Place>, Refusal> {
    let each = buckets.iter().map(|bucket| {
        if protocol == Protocol::Webdav && bucket.bucket.is_empty() {
            return Ok(site.root());
        }
        let place = site.bucket(&bucket.bucket);
        place.map_err(|error| Refusal::new(error.to_string(), "use another name"))
    });
    each.collect()
}

fn buffer_bytes(size: candor_plan::Bytes) -> usize {
    size.0 as usize
}

fn transport(bucket: &Bucket, endpoints: Vec<Endpoint>) -> Result<Arc<Transport>, Refusal> {
    let connections = &bucket.connections;
    let proxy = proxy(&endpoints)?;
    let settings = Settings {
        insecure: bucket.insecure,
        ca_file: bucket.ca_file.clone(),
        proxy,
        connect_timeout: Duration::from_nanos(connections.connect_timeout.0),
        answer_timeout: Duration::from_nanos(connections.answer_timeout.0),
        keep_alive: !connections.close_each,
        send_buffer_bytes: connections.send_buffer.map(buffer_bytes),
        receive_buffer_bytes: connections.receive_buffer.map(buffer_bytes),
        quick_ack: connections.quick_ack,
        resolve: Vec::new(),
        endpoints,
    };
    Transport::new(settings)
        .map_err(|error| Refusal::new(error.to_string(), "correct the endpoint or the file"))
        .map_err(|refusal| refusal.at("ca_file"))
}

/// Proxy of the environment, unless the host is exempt.
fn proxy(endpoints: &[Endpoint]) -> Result<Option<Endpoint>, Refusal> {
    let Some(first) = endpoints.first() else { return Ok(None) };
    let exempt = variable("no_proxy", "NO_PROXY").map(|(_, value)| value).unwrap_or_default();
    if is_exempt(&first.host, &exempt) {
        return Ok(None);
    }
    let [lower, upper] = PROXIES[usize::from(first.scheme.name() == "https")];
    let Some((name, text)) = variable(lower, upper) else { return Ok(None) };
    let parsed = text.trim_end_matches('/').parse::<Endpoint>();
    parsed.map(Some).map_err(|error| {
        Refusal::new(format!("{name}: {error}"), format!("correct or unset {name}"))
    })
}

/// The first of two variables that has a value, with its name.
fn variable(lower: &'static str, upper: &'static str) -> Option<(&'static str, String)> {
    [lower, upper].into_iter().find_map(|name| {
        let value = std::env::var(name).ok()?;
        (!value.is_empty()).then_some((name, value))
    })
}

/// True if a list of `no_proxy` names a host, or if the host is this one.
fn is_exempt(host: &str, list: &str) -> bool {
    let is_here = host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    is_here
        || list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
            let name = entry.trim_start_matches('.');
            entry == "*" || host == name || host.ends_with(&format!(".{name}"))
        })
}

fn users(source: &CredentialSource, found: Found) -> Result<Vec<Credentials>, Refusal> {
    match source {
        CredentialSource::Anonymous => Ok(Vec::new()),
        CredentialSource::Environment | CredentialSource::Profile(_) => {
            found.credentials.map(|one| vec![one]).ok_or_else(|| {
                let message = "no credentials: neither AWS_ACCESS_KEY_ID and \
                               AWS_SECRET_ACCESS_KEY nor a profile has keys";
                Refusal::new(message, "set both variables")
            })
        }
        CredentialSource::File(path) => file_users(path),
        CredentialSource::Given(keys) => {
            let each = keys.iter().map(|key| {
                vault::keys_of(key).ok_or_else(|| {
                    let message = format!("this host has no secret for the access key {key}");
                    let remedy =
                        "give it on the command line, or set credentials = \"environment\"";
                    Refusal::new(message, remedy)
                })
            });
            each.collect()
        }
    }
}

fn file_users(path: &Path) -> Result<Vec<Credentials>, Refusal> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Refusal::new(format!("{shown}: {error}"), "name a file of ACCESS_KEY:SECRET_KEY lines")
    })?;
    let list = CredentialList::of_file(&shown, &text);
    match (list.users.is_empty(), list.bad.first()) {
        (false, None) => Ok(list.users),
        (_, Some(bad)) => Err(Refusal::new(bad.to_string(), "correct or remove the line")),
        (true, None) => {
            Err(Refusal::new(format!("{shown} has no users"), "add a line ACCESS_KEY:SECRET_KEY"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(endpoint: &str) -> Bucket {
        Bucket {
            bucket: "data".into(),
            endpoints: vec![endpoint.into()],
            credentials: CredentialSource::Anonymous,
            ..Bucket::default()
        }
    }

    fn refusal(bucket: &Bucket) -> String {
        Reach::of(&[bucket]).err().map(|refusal| refusal.message).unwrap_or_default()
    }

    #[test]
    fn bad_input_is_named() {
        assert!(refusal(&bucket("127.0.0.1:9000")).contains("127.0.0.1:9000"));
        assert!(refusal(&bucket("http://127.0.0.1:99999")).contains("99999"));
        let named = Bucket { bucket: "no/bucket".into(), ..bucket("http://127.0.0.1:9") };
        assert!(refusal(&named).contains("no/bucket"));
        let credentials = CredentialSource::Given(vec!["unknown-key".into()]);
        let given = Bucket { credentials, ..bucket("http://127.0.0.1:9") };
        assert!(refusal(&given).contains("unknown-key"));
        let credentials = CredentialSource::File("/nonexistent/users".into());
        let file = Bucket { credentials, ..bucket("http://127.0.0.1:9") };
        assert!(refusal(&file).contains("/nonexistent/users"));
    }

    #[test]
    fn hosts_are_exempt_from_proxies_by_name_and_end() {
        for (host, list, expected) in [
            ("127.0.0.1", "", true),
            ("localhost", "", true),
            ("s3.example.com", "example.com", true),
            ("s3.example.com", ".example.com, other", true),
            ("badexample.com", "example.com", false),
            ("s3.example.com", "", false),
            ("s3.example.com", "*", true),
        ] {
            assert_eq!(is_exempt(host, list), expected, "{host} {list}");
        }
    }

    #[test]
    fn ranks_take_users_and_connections_take_endpoints_in_turn() {
        let mut two = bucket("http://127.0.0.1:9");
        two.endpoints.push("http://127.0.0.1:10".into());
        let Ok(reach) = Reach::of(&[&two]) else { panic!("the buckets are accessible") };
        assert_eq!([0, 1, 2].map(|connection| reach.endpoint(connection)), [0, 1, 0]);
        assert!(!reach.signs() && !reach.is_tls);
    }
}
