//! TCP_INFO.

use candor_http::NoBuffers;

use crate::requests::{client, get, settings};
use crate::server::Server;

#[test]
fn the_kernel_counts_what_the_answer_counts() {
    let server = Server::answers(vec![vec!["HTTP/1.1 204 No Content\r\n\r\n"]]);
    let mut client = client(settings(&server.url), 1);
    assert_eq!(client.tcp_info(0), None);
    let answer = client.exchange(&get("/"), &mut NoBuffers).clone();
    let info = client.tcp_info(0).unwrap();
    assert_eq!((Some(info.peer), info.local.unwrap().ip()), (answer.peer, info.peer.ip()));
    // The kernel counts the end of the connection as one more byte.
    let ended = info.bytes_received.unwrap() - answer.received_bytes;
    assert!(ended <= 1, "{info:?}");
    assert_eq!(info.bytes_sent.unwrap_or(answer.sent_bytes), answer.sent_bytes);
    assert_eq!(info.bytes_retrans.unwrap_or(0), 0);
    assert!(info.snd_mss.unwrap() >= 500 && info.snd_cwnd.unwrap() >= 1);
    assert!(info.pmtu.unwrap() >= 1280);
    assert!(info.rtt_us.unwrap() > 0 && info.min_rtt_us.unwrap() <= info.rtt_us.unwrap());
}
