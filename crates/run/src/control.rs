//! Commands to a run: one control, cloned to whoever sends them.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{AcqRel, Relaxed},
};

/// A command to a run that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// The user interrupts: the run ends with a partial report that says so.
    Stop,
    /// The run ends now, as if the plan had asked for no more.
    End,
    /// The phase under way ends now, as if its time were up; others follow.
    EndPhase,
    /// An [`candor_record::Event::Interim`] is sent a moment later, as long as a phase runs.
    Interim,
}

/// Commands sent so far. Clones share them. Every method may be called from a signal handler.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<Sent>);

#[derive(Debug, Default)]
struct Sent {
    stop: AtomicBool,
    end: AtomicBool,
    end_phase: AtomicBool,
    interim: AtomicBool,
}

impl Control {
    /// Sends a command; true where it had been sent before and stands.
    pub fn send(&self, command: Command) -> bool {
        let sent = match command {
            Command::Stop => &self.0.stop,
            Command::End => &self.0.end,
            Command::EndPhase => &self.0.end_phase,
            Command::Interim => &self.0.interim,
        };
        sent.swap(true, AcqRel)
    }

    /// True while a command stands or has not been taken.
    pub fn has_command(&self) -> bool {
        let Sent { stop, end, end_phase, interim } = &*self.0;
        [stop, end, end_phase, interim].iter().any(|sent| sent.load(Relaxed))
    }

    /// True once the user has interrupted the run.
    pub fn is_stopped(&self) -> bool {
        self.0.stop.load(Relaxed)
    }

    /// True once the run is to end as if it had done everything.
    pub fn is_ended(&self) -> bool {
        self.0.end.load(Relaxed)
    }

    /// True once nothing more is to begin, for either reason.
    pub fn is_over(&self) -> bool {
        self.is_stopped() || self.is_ended()
    }

    /// True once the phase under way is to end as if its time were up.
    pub fn ends_phase(&self) -> bool {
        self.0.end_phase.load(Relaxed)
    }

    /// A phase begins: a command to end the one before it is no command to this one.
    pub fn begin_phase(&self) {
        self.0.end_phase.store(false, Relaxed);
    }

    /// Takes a request for an interim result, if there is one.
    pub fn takes_interim(&self) -> bool {
        self.0.interim.load(Relaxed) && self.0.interim.swap(false, Relaxed)
    }

    /// The flag behind [`Control::is_stopped`], for loops that poll it.
    pub fn stop_flag(&self) -> &AtomicBool {
        &self.0.stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_commands_and_interims_are_taken_once() {
        let control = Control::default();
        let other = control.clone();
        assert!(!control.is_over() && !control.takes_interim() && !control.has_command());
        assert!(!other.send(Command::Interim) && !other.send(Command::End));
        assert!(control.has_command());
        assert!(control.takes_interim() && !control.takes_interim());
        assert!(control.is_ended() && control.is_over() && !control.is_stopped());
        assert!(other.send(Command::End), "it stands");
        other.send(Command::EndPhase);
        assert!(control.ends_phase());
        control.begin_phase();
        assert!(!other.ends_phase() && control.is_ended());
        other.send(Command::Stop);
        assert!(control.stop_flag().load(Relaxed));
    }
}
