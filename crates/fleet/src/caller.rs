//! A connection that got past the handshake.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use crate::log::AgentLog;

/// Takes lines of the log.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Whether a connection has made a call, and where it comes from.
#[derive(Clone, Debug)]
pub struct Called {
    peer: SocketAddr,
    has_called: Arc<AtomicBool>,
}

impl Default for Called {
    fn default() -> Called {
        Called { peer: ([0, 0, 0, 0], 0).into(), has_called: Arc::default() }
    }
}

impl Called {
    /// Notes a call.
    pub fn set(&self) {
        self.has_called.store(true, Relaxed);
    }

    /// Address of the client.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }
}

/// A connection; one that ends without a call leaves a line in the log.
pub struct Caller {
    stream: TlsStream<TcpStream>,
    called: Called,
    log: AgentLog,
}

impl Caller {
    /// A connection from there.
    pub fn new(stream: TlsStream<TcpStream>, peer: SocketAddr, log: AgentLog) -> Caller {
        Caller { stream, called: Called { peer, ..Called::default() }, log }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        if !self.called.has_called.load(Relaxed) {
            self.log.refused(self.called.peer, "it has keys, and made no call");
        }
    }
}

impl Connected for Caller {
    type ConnectInfo = Called;

    fn connect_info(&self) -> Called {
        self.called.clone()
    }
}

impl AsyncRead for Caller {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, bytes)
    }
}

impl AsyncWrite for Caller {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
