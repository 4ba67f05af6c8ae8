//! The kernel's view of a connection: `TCP_INFO`.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};

use crate::socket::Socket;

/// Bytes of `struct tcp_info` that are read.
const LENGTH: usize = 232;

/// Counters since the connection was made, and its current state. A field that the running kernel
/// does not have is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// Address of this end.
    pub local: Option<SocketAddr>,
    /// Address of the server or proxy.
    pub peer: SocketAddr,
    /// Smoothed round trip, in µs.
    pub rtt_us: Option<u32>,
    /// Smallest round trip, in µs.
    pub min_rtt_us: Option<u32>,
    /// Congestion window, in segments.
    pub snd_cwnd: Option<u32>,
    /// Segment size for sending, in bytes.
    pub snd_mss: Option<u32>,
    /// The peer's receive window, in bytes.
    pub snd_wnd: Option<u32>,
    /// Path MTU, in bytes.
    pub pmtu: Option<u32>,
    /// Segments that were sent again.
    pub total_retrans: Option<u32>,
    /// Reorderings that were noticed.
    pub reord_seen: Option<u32>,
    /// Last delivery rate, in bytes per second.
    pub delivery_rate: Option<u64>,
    /// Time with bytes to send, in µs.
    pub busy_time_us: Option<u64>,
    /// Busy time in which the peer's window was the limit, in µs.
    pub rwnd_limited_us: Option<u64>,
    /// Busy time in which the send buffer was the limit, in µs.
    pub sndbuf_limited_us: Option<u64>,
    /// Bytes that the peer acknowledged.
    pub bytes_acked: Option<u64>,
    /// Bytes that were received.
    pub bytes_received: Option<u64>,
    /// Bytes that were sent, repeated ones included.
    pub bytes_sent: Option<u64>,
    /// Bytes that were sent again.
    pub bytes_retrans: Option<u64>,
}

/// Reads the state of a socket. `None` if the kernel refuses.
pub fn read(socket: &Socket, peer: SocketAddr) -> Option<TcpInfo> {
    let mut raw = [0_u8; LENGTH];
    let known = kernel_info(socket, &mut raw).ok()?;
    let bytes = &raw[..known];
    // Offsets in `struct tcp_info` of linux/tcp.h, to which the kernel only appends.
    Some(TcpInfo {
        local: socket.local(),
        peer,
        snd_mss: u32_at(bytes, 16),
        pmtu: u32_at(bytes, 60),
        rtt_us: u32_at(bytes, 68),
        snd_cwnd: u32_at(bytes, 80),
        total_retrans: u32_at(bytes, 100),
        bytes_acked: u64_at(bytes, 120),
        bytes_received: u64_at(bytes, 128),
        min_rtt_us: u32_at(bytes, 148),
        delivery_rate: u64_at(bytes, 160),
        busy_time_us: u64_at(bytes, 168),
        rwnd_limited_us: u64_at(bytes, 176),
        sndbuf_limited_us: u64_at(bytes, 184),
        bytes_sent: u64_at(bytes, 200),
        bytes_retrans: u64_at(bytes, 208),
        reord_seen: u32_at(bytes, 220),
        snd_wnd: u32_at(bytes, 228),
    })
}

/// Fills the buffer, and returns the bytes that the kernel knows.
fn kernel_info(socket: &Socket, raw: &mut [u8; LENGTH]) -> io::Result<usize> {
    let mut length = LENGTH as libc::socklen_t;
    // SAFETY: pointer and length describe `raw`, and the kernel writes at most `length` bytes.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            raw.as_mut_ptr().cast(),
            &mut length,
        )
    };
    if result == 0 { Ok(length as usize) } else { Err(io::Error::last_os_error()) }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(field.try_into().expect("4 bytes")))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at + 8)?;
    Some(u64::from_ne_bytes(field.try_into().expect("8 bytes")))
}
