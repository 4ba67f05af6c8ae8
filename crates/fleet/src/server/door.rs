//! The way to an agent: handshakes, bounded in number and time, so that strangers keep no
//! coordinator out.
//!
//! A connection that says nothing is dropped after a second, or when another one needs its place.
//! A source that has [`FROM_SOURCE_MAX`] handshakes under way gets another only for its oldest.

use std::cmp::Reverse;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;

use crate::caller::Caller;
use crate::identity::Identity;
use crate::log::{AgentLog, Source};
use crate::reason::Reason;
use crate::secret::{KeyError, UserKey};

/// Handshakes at a time.
const HANDSHAKES_MAX: usize = 64;
/// Handshakes of one source at a time.
const FROM_SOURCE_MAX: usize = 8;
/// Longest time for the first byte of a handshake.
const FIRST_BYTE_MAX: Duration = Duration::from_secs(1);
/// Longest time for a handshake.
const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

/// A handshake under way.
struct Guest<H> {
    id: u64,
    peer: SocketAddr,
    is_silent: bool,
    handle: H,
}

/// Handshakes under way, the oldest first.
struct Room<H> {
    next_id: u64,
    guests: Vec<Guest<H>>,
}

impl<H> Default for Room<H> {
    fn default() -> Room<H> {
        Room { next_id: 0, guests: Vec::new() }
    }
}

impl<H> Room<H> {
    /// Adds a handshake, which the handle ends; and the handshake that has to leave for it.
    fn enter(&mut self, peer: SocketAddr, handle: H) -> Option<Guest<H>> {
        let source = Source::of(peer);
        let is_from = |guest: &Guest<H>| Source::of(guest.peer) == source;
        let from_source = self.guests.iter().filter(|guest| is_from(guest)).count();
        let leaves = match () {
            () if from_source >= FROM_SOURCE_MAX => self.weakest(is_from),
            () if self.guests.len() >= HANDSHAKES_MAX => self.weakest(|_| true),
            () => None,
        };
        let left = leaves.map(|at| self.guests.remove(at));
        self.guests.push(Guest { id: self.next_id, peer, is_silent: true, handle });
        self.next_id += 1;
        left
    }

    /// The oldest that is silent; where none is, the oldest of the source that has most.
    fn weakest(&self, among: impl Fn(&Guest<H>) -> bool) -> Option<usize> {
        let crowd = |guest: &Guest<H>| {
            let source = Source::of(guest.peer);
            self.guests.iter().filter(|other| Source::of(other.peer) == source).count()
        };
        let guests = self.guests.iter().enumerate().filter(|(_, guest)| among(guest));
        let weakest = guests.min_by_key(|(at, guest)| {
            let crowd = if guest.is_silent { 0 } else { crowd(guest) };
            (!guest.is_silent, Reverse(crowd), *at)
        });
        weakest.map(|(at, _)| at)
    }

    fn spoke(&mut self, id: u64) {
        let guest = self.guests.iter_mut().find(|guest| guest.id == id);
        guest.into_iter().for_each(|guest| guest.is_silent = false);
    }

    fn leave(&mut self, id: u64) {
        self.guests.retain(|guest| guest.id != id);
    }
}

type SharedRoom = Arc<Mutex<Room<AbortHandle>>>;

fn locked(room: &SharedRoom) -> MutexGuard<'_, Room<AbortHandle>> {
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a place in the room until it is dropped.
struct Place {
    room: SharedRoom,
    id: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        locked(&self.room).leave(self.id);
    }
}

/// The keys of an agent.
pub struct Keys {
    tls: TlsAcceptor,
    /// The key of the user, and the state of its file when it was read here; none before.
    of_user: Option<(UserKey, Option<FileState>)>,
}

/// Device, inode and moment of the last change of a file.
pub(super) type FileState = (u64, u64, i64, i64);

/// State of the key's file; none if the file is missing.
pub(super) fn state(key: &UserKey) -> Option<FileState> {
    let found = fs::symlink_metadata(&key.path).ok()?;
    Some((found.dev(), found.ino(), found.ctime(), found.ctime_nsec()))
}

impl Keys {
    /// Keys, and the file of the user's key where they come from it: a new one there counts from
    /// then on.
    ///
    /// # Errors
    /// The keys are unusable.
    pub fn new(identity: &Identity, of_user: Option<UserKey>) -> Result<Keys, KeyError> {
        // The file may have changed since the identity was read: the first client finds out.
        let of_user = of_user.map(|key| (key, None));
        Ok(Keys { tls: acceptor(identity)?, of_user })
    }

    /// The keys of now.
    fn current(&mut self, log: &AgentLog) -> TlsAcceptor {
        if let Some((key, known)) = &mut self.of_user {
            let now = state(key);
            if now.is_some() && now != *known {
                let before = std::mem::replace(known, now);
                let read = key.read().and_then(|secret| {
                    secret.map(|secret| acceptor(&Identity::of_user(&secret)?)).transpose()
                });
                match read {
                    Ok(Some(tls)) => {
                        if before.is_some() {
                            log.line("the key of this user has changed; the new one counts");
                        }
                        self.tls = tls;
                    }
                    Ok(None) => {}
                    Err(error) => log.line(&format!("the earlier key still counts: {error}")),
                }
            }
        }
        self.tls.clone()
    }
}

fn acceptor(identity: &Identity) -> Result<TlsAcceptor, KeyError> {
    Ok(TlsAcceptor::from(Arc::new(identity.server()?)))
}

/// Lets in clients that have the keys, and logs the others.
pub async fn accept(
    listener: TcpListener,
    mut keys: Keys,
    connections: mpsc::Sender<io::Result<Caller>>,
    log: AgentLog,
) {
    let room = SharedRoom::default();
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Without descriptors, a client that waits is let in when others have left.
                log.line(&format!("cannot accept: {error}"));
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let place = Place { room: room.clone(), id: locked(&room).next_id };
        let (tls, connections, of_task) = (keys.current(&log), connections.clone(), log.clone());
        let task = tokio::spawn(async move {
            match shaken(stream, &tls, &place).await {
                Ok(stream) => {
                    drop(place);
                    let caller = Caller::new(stream, peer, of_task);
                    drop(connections.send(Ok(caller)).await);
                }
                Err(why) => of_task.refused(peer, &why),
            }
        });
        let left = locked(&room).enter(peer, task.abort_handle());
        if let Some(Guest { peer, handle, is_silent, .. }) = left {
            handle.abort();
            let was = if is_silent { "it was silent" } else { "its handshake was slow" };
            log.refused(peer, &format!("{was}, and another connection needed its place"));
        }
    }
}

type Stream = tokio_rustls::server::TlsStream<TcpStream>;

/// A connection after its handshake.
async fn shaken(stream: TcpStream, tls: &TlsAcceptor, place: &Place) -> Result<Stream, String> {
    let _ = stream.set_nodelay(true);
    let first = tokio::time::timeout(FIRST_BYTE_MAX, stream.peek(&mut [0; 1])).await;
    match first {
        Err(_) => return Err(format!("it was silent for {} s", FIRST_BYTE_MAX.as_secs())),
        Ok(Ok(0)) => return Err("it closed without a word".into()),
        Ok(Err(error)) => return Err(Reason::of(&error).text().into()),
        Ok(Ok(_)) => locked(&place.room).spoke(place.id),
    }
    let accepted = tls.accept(stream).into_fallible();
    match tokio::time::timeout(HANDSHAKE_MAX, accepted).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err((error, stream))) => {
            close(stream).await;
            Err(Reason::of(&error).text().into())
        }
        Err(_) => Err(format!("no handshake within {} s", HANDSHAKE_MAX.as_secs())),
    }
}

/// Closes a connection whose last bytes are to arrive: bytes that stay unread would reset it.
async fn close(mut stream: TcpStream) {
    let _ = stream.shutdown().await;
    let mut nowhere = tokio::io::sink();
    let unread = tokio::io::copy(&mut stream, &mut nowhere);
    let _ = tokio::time::timeout(FIRST_BYTE_MAX, unread).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(host: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, host], port))
    }

    /// Hosts of those that are in, the oldest first.
    fn ports(room: &Room<()>) -> Vec<u16> {
        room.guests.iter().map(|guest| guest.peer.port()).collect()
    }

    #[test]
    fn a_source_has_its_share_and_its_oldest_silent_one_leaves() {
        let mut room = Room::default();
        for port in 0..FROM_SOURCE_MAX as u16 {
            assert!(room.enter(peer(1, port), ()).is_none());
        }
        room.spoke(0);
        let left = room.enter(peer(1, 100), ()).expect("one leaves");
        assert_eq!(left.peer, peer(1, 1), "the first has spoken");
        assert!(room.enter(peer(2, 200), ()).is_none(), "others have room");
        (0..room.next_id).for_each(|id| room.spoke(id));
        let left = room.enter(peer(1, 101), ()).expect("one leaves");
        assert_eq!(left.peer, peer(1, 0), "none is silent");
        assert_eq!(ports(&room), [2, 3, 4, 5, 6, 7, 100, 200, 101]);
    }

    #[test]
    fn a_full_room_has_a_place_for_the_next_coordinator() {
        let mut room = Room::default();
        for host in 0..HANDSHAKES_MAX as u8 / 4 {
            for port in 0..4 {
                assert!(room.enter(peer(host, port), ()).is_none());
            }
        }
        room.spoke(0);
        assert_eq!(room.enter(peer(100, 1), ()).expect("one leaves").peer, peer(0, 1));
        room.spoke(room.next_id - 1);
        (0..room.next_id).for_each(|id| room.spoke(id));
        let left = room.enter(peer(101, 1), ()).expect("one leaves");
        assert_eq!(left.peer, peer(1, 0), "the first of those that have most");
        assert_eq!(room.guests.len(), HANDSHAKES_MAX);
        let ids: Vec<u64> = room.guests.iter().map(|guest| guest.id).collect();
        ids.into_iter().for_each(|id| room.leave(id));
        assert!(room.guests.is_empty());
    }
}
