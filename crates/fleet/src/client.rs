//! Whom a coordinator works for: it takes what hosts tell, and gives commands to them.

use std::collections::{HashMap, HashSet};

use candor_record::{Event, HostSample, HostWork};
use candor_run::Channels;

use crate::message::Word;

/// Whom a coordinator works for.
pub trait Client {
    /// Takes what a host tells.
    fn take(&mut self, event: Event);
    /// The next command to all hosts, until there is none; asked for again at each look.
    fn next_word(&mut self) -> Option<Word>;
}

/// The channels of a run: events go to its consumers, commands come from its control.
pub struct RunClient {
    channels: Channels,
    /// Commands that hosts were given and that stand.
    told: Vec<Word>,
    /// Sentences that were said.
    warned: HashSet<String>,
    /// Operations and bytes of each host in the phase under way, by its name and by the job, as far
    /// as events told them.
    done: HashMap<(String, String), (u64, u64)>,
}

impl RunClient {
    /// Of a run that begins.
    pub fn new(channels: Channels) -> RunClient {
        RunClient { channels, told: Vec::new(), warned: HashSet::new(), done: HashMap::new() }
    }

    /// True once the user has interrupted the run.
    pub fn is_stopped(&self) -> bool {
        self.channels.control.is_stopped()
    }

    /// A phase begins: nothing of it is done.
    pub fn begin_phase(&mut self) {
        self.done.clear();
    }

    /// Operations and bytes that a host has told of a job in the phase under way.
    pub fn done(&self, host: &str, job: &str) -> (u64, u64) {
        self.done.get(&(host.to_owned(), job.to_owned())).copied().unwrap_or_default()
    }

    fn count(&mut self, hosts: &[HostSample]) {
        for host in hosts {
            for HostWork { job, ops, bytes } in &host.work {
                let done = self.done.entry((host.host.clone(), job.clone())).or_default();
                *done = (done.0 + ops, done.1 + bytes);
            }
        }
    }
}

impl Client for RunClient {
    /// Passes an event on; what several hosts say in the same words is said once.
    fn take(&mut self, event: Event) {
        let is_new = match &event {
            Event::Sampled { hosts, in_ramp: false, .. } => {
                self.count(hosts);
                true
            }
            Event::Warned { sentence } => self.warned.insert(sentence.clone()),
            _ => true,
        };
        if is_new {
            self.channels.events.send(event);
        }
    }

    fn next_word(&mut self) -> Option<Word> {
        let control = &self.channels.control;
        let words = [
            (Word::Stop, control.is_stopped()),
            (Word::End, control.is_ended()),
            (Word::EndPhase, control.ends_phase()),
        ];
        self.told.retain(|told| words.iter().any(|(word, stands)| word == told && *stands));
        let mut new =
            words.into_iter().filter(|(word, stands)| *stands && !self.told.contains(word));
        let (word, _) = new.next()?;
        self.told.push(word);
        Some(word)
    }
}
