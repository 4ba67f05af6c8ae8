//! Where a server listens.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use crate::problem::Problem;

/// Scheme of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// Name in a URL.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// Port of a URL without one.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// Scheme, host and port of a server, written `http://host:port`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// Scheme.
    pub scheme: Scheme,
    /// Name or address of the host; an IPv6 address without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Endpoint {
    /// Value of the `Host` header: the port is omitted if the scheme implies it.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() {
            self.bracketed_host()
        } else {
            self.host_and_port()
        }
    }

    /// Host and port, as `CONNECT` and name look-ups need them.
    pub fn host_and_port(&self) -> String {
        format!("{}:{}", self.bracketed_host(), self.port)
    }

    fn bracketed_host(&self) -> String {
        if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.authority())
    }
}

impl FromStr for Endpoint {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Endpoint, Problem> {
        parse(text).map_err(|rule| Problem::Endpoint { text: text.to_owned(), rule })
    }
}

/// The endpoint, or the broken rule with its remedy.
fn parse(text: &str) -> Result<Endpoint, String> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(format!("the scheme is missing: write http://{text} or https://{text}"));
    };
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return Err(format!("the scheme \"{scheme}\" is unknown: write http or https")),
    };
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    if let Some(at) = authority.find(['/', '?', '#']) {
        return Err(format!("an endpoint has no path: remove \"{}\"", &authority[at..]));
    }
    if authority.contains('@') {
        return Err("an endpoint has no user name: remove the text before \"@\"".to_owned());
    }
    let HostAndPort { host, port } = split(authority)?;
    if host.is_empty() {
        return Err("the host is empty: write http://host:port".to_owned());
    }
    if let Some(letter) = host.chars().find(|c| c.is_whitespace() || c.is_control()) {
        return Err(format!("the host contains {letter:?}: remove it"));
    }
    let port = port.map_or(Ok(scheme.default_port()), parse_port)?;
    Ok(Endpoint { scheme, host: host.to_owned(), port })
}

struct HostAndPort<'a> {
    host: &'a str,
    port: Option<&'a str>,
}

fn split(authority: &str) -> Result<HostAndPort<'_>, String> {
    if let Some(inside) = authority.strip_prefix('[') {
        let Some((host, rest)) = inside.split_once(']') else {
            return Err("the bracket of the IPv6 address is not closed: add \"]\"".to_owned());
        };
        if host.parse::<Ipv6Addr>().is_err() {
            return Err(format!("\"{host}\" is not an IPv6 address: write one such as [::1]"));
        }
        let port = rest.strip_prefix(':');
        if port.is_none() && !rest.is_empty() {
            return Err(format!("\"{rest}\" follows the IPv6 address: write [address]:port"));
        }
        return Ok(HostAndPort { host, port });
    }
    if authority.matches(':').count() > 1 {
        return Err(format!("an IPv6 address needs brackets: write [{authority}]"));
    }
    Ok(match authority.split_once(':') {
        Some((host, port)) => HostAndPort { host, port: Some(port) },
        None => HostAndPort { host: authority, port: None },
    })
}

fn parse_port(text: &str) -> Result<u16, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let port = text.parse().ok().filter(|port| digits && *port > 0);
    port.ok_or_else(|| format!("the port \"{text}\" is not a number from 1 to 65535"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        text.parse::<Endpoint>().unwrap_err().to_string()
    }

    #[test]
    fn endpoints_are_read_and_written() {
        for (text, host, port, written) in [
            ("http://store", "store", 80, "http://store"),
            ("https://store:443/", "store", 443, "https://store"),
            ("HTTP://10.0.0.1:9000", "10.0.0.1", 9000, "http://10.0.0.1:9000"),
            ("https://[::1]:9000", "::1", 9000, "https://[::1]:9000"),
            ("http://[fe80::1]", "fe80::1", 80, "http://[fe80::1]"),
        ] {
            let endpoint: Endpoint = text.parse().unwrap();
            assert_eq!((endpoint.host.as_str(), endpoint.port), (host, port));
            assert_eq!(endpoint.to_string(), written);
        }
    }

    #[test]
    fn the_authority_omits_the_default_port_only() {
        let endpoint: Endpoint = "https://[::1]:443".parse().unwrap();
        assert_eq!(endpoint.authority(), "[::1]");
        assert_eq!(endpoint.host_and_port(), "[::1]:443");
        assert_eq!("http://a:443".parse::<Endpoint>().unwrap().authority(), "a:443");
    }

    #[test]
    fn errors_name_the_rule() {
        for (text, rule) in [
            ("store:9000", "the scheme is missing: write http://store:9000"),
            ("ftp://store", "the scheme \"ftp\" is unknown"),
            ("http://store:0", "the port \"0\""),
            ("http://store:65536", "the port \"65536\""),
            ("http://store:", "the port \"\""),
            ("http://store:+1", "the port \"+1\""),
            ("http://store/bucket", "remove \"/bucket\""),
            ("http://store?a", "remove \"?a\""),
            ("http://me@store", "no user name"),
            ("http://", "the host is empty"),
            ("http://:9000", "the host is empty"),
            ("http://a b", "contains ' '"),
            ("http://::1", "needs brackets: write [::1]"),
            ("http://[::1", "not closed"),
            ("http://[store]", "not an IPv6 address"),
            ("http://[::1]9000", "write [address]:port"),
        ] {
            let problem = problem(text);
            assert!(problem.contains(rule) && problem.contains(text), "{problem}");
        }
    }
}
