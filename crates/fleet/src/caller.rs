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

/// Takes lines of the log.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Whether a connection has made a call.
#[derive(Clone, Debug, Default)]
pub struct Called(Arc<AtomicBool>);

impl Called {
    /// Notes a call.
    pub fn set(&self) {
        self.0.store(true, Relaxed);
    }
}

/// A connection; one that ends without a call leaves a line in the log.
pub struct Caller {
    stream: TlsStream<TcpStream>,
    peer: SocketAddr,
    called: Called,
    log: Log,
}

impl Caller {
    /// A connection from there.
    pub fn new(stream: TlsStream<TcpStream>, peer: SocketAddr, log: Log) -> Caller {
        Caller { stream, peer, called: Called::default(), log }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        if !self.called.0.load(Relaxed) {
            (self.log)(&format!("refused {}: it has keys, and made no call", self.peer));
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
