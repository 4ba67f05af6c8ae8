//! Requests through a proxy.

use candor_http::{FaultKind, NoBuffers, Problem, Settings, Transport};

use crate::requests::{client, get, settings};
use crate::server::Server;
use crate::tls::{Identity, encrypt};

#[test]
fn a_plain_endpoint_is_named_in_the_target() {
    let server = Server::run(|listener| {
        let mut peer = listener.accept();
        let head = peer.request().head;
        assert!(
            head.starts_with("GET http://no-such-host.invalid:9000/key HTTP/1.1\r\n"),
            "{head}"
        );
        peer.send("HTTP/1.1 204 No Content\r\n\r\n");
    });
    let proxy = Some(server.url.parse().unwrap());
    let mut client = client(Settings { proxy, ..settings("http://no-such-host.invalid:9000") }, 1);
    let answer = client.exchange(&get("/key"), &mut NoBuffers);
    assert_eq!((answer.status, answer.fault.clone()), (204, None));
}

#[test]
fn an_encrypted_endpoint_is_reached_through_a_tunnel() {
    let identity = Identity::new();
    let config = identity.config();
    let server = Server::run(move |listener| {
        let mut peer = listener.accept();
        let head = peer.head();
        assert_eq!(head, "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n");
        peer.send("HTTP/1.1 200 Connection established\r\n\r\n");
        let mut peer = encrypt(peer, config);
        assert!(peer.request().head.starts_with("GET /key HTTP/1.1\r\n"));
        peer.send("HTTP/1.1 204 No Content\r\n\r\n");
    });
    let mut settings = identity.settings(&server);
    settings.proxy = Some(server.url.parse().unwrap());
    settings.endpoints[0].port = 443;
    let mut client = client(settings, 1);
    let answer = client.exchange(&get("/key"), &mut NoBuffers);
    assert_eq!((answer.status, answer.fault.clone()), (204, None));
    assert!(answer.moments.connect_ns < answer.moments.tls_ns);
}

#[test]
fn a_refused_tunnel_is_a_connect_fault() {
    let identity = Identity::new();
    let server = Server::answers(vec![vec!["HTTP/1.1 407 Authenticate\r\nX: y\r\n\r\nno"]]);
    let mut settings = identity.settings(&server);
    settings.proxy = Some(server.url.parse().unwrap());
    let fault = client(settings, 1).connect_all().remove(0).fault.unwrap();
    assert_eq!(fault.kind, FaultKind::Connect);
    assert!(fault.message.contains("with status 407"), "{fault:?}");
}

#[test]
fn a_proxy_with_tls_is_refused() {
    let proxy = Some("https://proxy:3128".parse().unwrap());
    let settings = Settings { proxy, ..settings("http://store") };
    let problem = Transport::new(settings).err().unwrap();
    assert!(matches!(&problem, Problem::Proxy { proxy } if proxy == "https://proxy:3128"));
}
