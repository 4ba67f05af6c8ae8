//! A TCP socket that never blocks.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType, connect,
    ipproto, recv, sendmsg, socket_with, sockopt,
};

use crate::settings::Settings;

/// A socket.
pub struct Socket {
    file: OwnedFd,
}

impl Socket {
    /// Starts a connect.
    pub fn connect(address: &SocketAddr, settings: &Settings) -> Result<Socket, Errno> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let file = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        sockopt::set_tcp_nodelay(&file, true)?;
        sockopt::set_socket_keepalive(&file, true)?;
        if let Some(bytes) = settings.send_buffer_bytes {
            sockopt::set_socket_send_buffer_size(&file, bytes)?;
        }
        if let Some(bytes) = settings.receive_buffer_bytes {
            sockopt::set_socket_recv_buffer_size(&file, bytes)?;
        }
        match connect(&file, address) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(Socket { file }),
            Err(error) => Err(error),
        }
    }

    /// Result of the connect, or another pending error.
    pub fn error(&self) -> Result<(), Errno> {
        sockopt::socket_error(&self.file)?
    }

    /// Sends bytes; without a reader, no signal.
    pub fn send(&self, slices: &[IoSlice<'_>]) -> Result<usize, Errno> {
        let mut control = SendAncillaryBuffer::default();
        retry_on_intr(|| sendmsg(&self.file, slices, &mut control, SendFlags::NOSIGNAL))
    }

    /// Receives bytes; 0 at the end of the connection.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        retry_on_intr(|| recv(&self.file, &mut *buffer, RecvFlags::empty()).map(|got| got.1))
    }

    /// Drops received bytes in the kernel, at most `length`; 0 at the end of the connection.
    pub fn discard(&self, length: usize) -> Result<usize, Errno> {
        retry_on_intr(|| {
            // SAFETY: with MSG_TRUNC, a TCP socket drops bytes and writes none, so the pointer is
            // not used.
            let got = unsafe {
                let nowhere = std::ptr::null_mut();
                libc::recv(self.file.as_raw_fd(), nowhere, length, libc::MSG_TRUNC)
            };
            usize::try_from(got).map_err(|_| {
                let error = io::Error::last_os_error();
                Errno::from_io_error(&error).unwrap_or(Errno::IO)
            })
        })
    }

    /// No byte and no end of the connection has arrived.
    pub fn is_quiet(&self) -> bool {
        let mut byte = [0];
        let peeked = retry_on_intr(|| recv(&self.file, &mut byte, RecvFlags::PEEK));
        peeked.is_err_and(|error| error == Errno::AGAIN)
    }

    /// Makes the kernel acknowledge the next bytes at once.
    pub fn set_quick_ack(&self) {
        // Without this wish, acknowledgements come later, but they come.
        let _ = sockopt::set_tcp_quickack(&self.file, true);
    }

    /// Address of this end.
    pub fn local(&self) -> Option<SocketAddr> {
        SocketAddr::try_from(rustix::net::getsockname(&self.file).ok()?).ok()
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
