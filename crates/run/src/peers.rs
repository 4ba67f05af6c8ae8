//! Agreement of this host with the others that run the same phase.
//!
//! News of this host go out through a function; answers of the others come in from any thread and
//! are polled by the phase's control thread, so that workers meet neither lock nor call.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::control::Control;

/// Longest wait between two looks at whether the run was stopped.
const STEP: Duration = Duration::from_millis(50);

/// News of this host for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerNews {
    /// The first worker of a job has ended.
    FirstDone {
        /// Index of the job.
        job: usize,
    },
    /// Time is up, and the furthest worker of a job has come so far.
    Furthest {
        /// Index of the job.
        job: usize,
        /// Operations of that worker.
        ops: u64,
    },
    /// All workers have ended; what they used is still there.
    Ended,
}

/// This host among those that run a plan. Clones share what the others have answered.
#[derive(Clone, Default)]
pub struct Peers(Option<Arc<Shared>>);

struct Shared {
    host: AtomicU32,
    is_stopped: AtomicBool,
    agreed: Mutex<Agreed>,
    changed: Condvar,
    tell: Box<dyn Fn(PeerNews) + Send + Sync>,
}

/// Answers of the others in the phase under way.
#[derive(Debug, Default)]
struct Agreed {
    first_done: Vec<usize>,
    furthest: Vec<(usize, u64)>,
    told: Vec<PeerNews>,
    all_ended: bool,
}

impl fmt::Debug for Peers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Peers(host {})", self.host())
    }
}

impl Peers {
    /// Others, to whom `tell` brings news of this host.
    pub fn new(tell: impl Fn(PeerNews) + Send + Sync + 'static) -> Peers {
        Peers(Some(Arc::new(Shared {
            host: AtomicU32::new(0),
            is_stopped: AtomicBool::new(false),
            agreed: Mutex::default(),
            changed: Condvar::new(),
            tell: Box::new(tell),
        })))
    }

    /// True where this host runs plans by itself.
    pub fn is_alone(&self) -> bool {
        self.0.is_none()
    }

    /// Number of this host, from 0.
    pub fn host(&self) -> u32 {
        self.0.as_ref().map_or(0, |shared| shared.host.load(Relaxed))
    }

    /// From now on this host has that number.
    pub fn set_host(&self, host: u32) {
        self.0.iter().for_each(|shared| shared.host.store(host, Relaxed));
    }

    /// A phase begins: nothing is agreed in it yet.
    pub fn begin_phase(&self) {
        if let Some(shared) = &self.0 {
            *shared.lock() = Agreed::default();
        }
    }

    /// The first worker of a job has ended on one of the hosts.
    pub fn set_first_done(&self, job: usize) {
        self.change(|agreed| agreed.first_done.push(job));
    }

    /// The furthest worker of all hosts has come so far.
    pub fn set_furthest(&self, job: usize, ops: u64) {
        self.change(|agreed| agreed.furthest.push((job, ops)));
    }

    /// The workers of all hosts have ended.
    pub fn set_all_ended(&self) {
        self.change(|agreed| agreed.all_ended = true);
    }

    /// Nobody answers any more.
    pub fn give_up(&self) {
        if let Some(shared) = &self.0 {
            shared.is_stopped.store(true, Relaxed);
            shared.changed.notify_all();
        }
    }

    /// Tells that the first worker of a job has ended here.
    pub(crate) fn first_done(&self, job: usize) {
        self.tell(PeerNews::FirstDone { job });
    }

    /// True once the first worker of a job has ended somewhere.
    pub(crate) fn is_first_done(&self, job: usize) -> bool {
        self.0.as_ref().is_some_and(|shared| shared.lock().first_done.contains(&job))
    }

    /// Tells how far the furthest worker is here, and takes how far that of all hosts is.
    pub(crate) fn furthest(&self, job: usize, ops: u64) -> Option<u64> {
        let shared = self.0.as_ref()?;
        self.tell(PeerNews::Furthest { job, ops });
        // Those who wait for an answer that cannot come would wait for ever.
        if shared.is_stopped.load(Relaxed) {
            return Some(ops);
        }
        let agreed = shared.lock();
        agreed.furthest.iter().find(|(known, _)| *known == job).map(|(_, ops)| *ops)
    }

    /// Waits until the workers of all hosts have ended, or nobody answers any more.
    pub(crate) fn wait_for_end(&self, control: &Control) {
        let Some(shared) = &self.0 else { return };
        self.tell(PeerNews::Ended);
        let mut agreed = shared.lock();
        while !agreed.all_ended && !shared.is_stopped.load(Relaxed) && !control.is_ended() {
            let waited = shared.changed.wait_timeout(agreed, STEP);
            agreed = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Sends news once per phase.
    fn tell(&self, news: PeerNews) {
        let Some(shared) = &self.0 else { return };
        let mut agreed = shared.lock();
        if !agreed.told.contains(&news) {
            agreed.told.push(news);
            drop(agreed);
            (shared.tell)(news);
        }
    }

    fn change(&self, change: impl FnOnce(&mut Agreed)) {
        if let Some(shared) = &self.0 {
            change(&mut shared.lock());
            shared.changed.notify_all();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Agreed> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn news_go_out_once_and_answers_come_in() {
        let (sender, news) = mpsc::channel();
        let peers = Peers::new(move |told| sender.send(told).expect("it is received"));
        (0..3).for_each(|_| peers.first_done(1));
        assert_eq!(peers.furthest(0, 5), None);
        assert_eq!(peers.furthest(0, 5), None);
        peers.set_furthest(0, 9);
        assert_eq!(peers.furthest(0, 5), Some(9));
        assert!(!peers.is_first_done(1));
        peers.set_first_done(1);
        assert!(peers.is_first_done(1) && !peers.is_first_done(0));
        let told: Vec<PeerNews> = news.try_iter().collect();
        assert_eq!(told, [PeerNews::FirstDone { job: 1 }, PeerNews::Furthest { job: 0, ops: 5 }]);
        peers.begin_phase();
        assert!(!peers.is_first_done(1));
    }

    #[test]
    fn the_end_waits_for_all_hosts_and_not_for_ever() {
        let control = Control::default();
        Peers::default().wait_for_end(&control);
        let peers = Peers::new(|_| {});
        let ends: [&dyn Fn(); 2] = [&|| peers.set_all_ended(), &|| peers.give_up()];
        for end in ends {
            peers.begin_phase();
            thread::scope(|scope| {
                let waits = scope.spawn(|| peers.wait_for_end(&control));
                thread::sleep(Duration::from_millis(20));
                assert!(!waits.is_finished());
                end();
            });
        }
        assert_eq!(peers.furthest(0, 3), Some(3), "nobody else is left to ask");
    }
}
