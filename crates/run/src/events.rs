//! Events of a run: sent from any of its threads, consumed in order on one of their own.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use candor_record::Event;

use crate::control::Control;

/// The sending end of a run's events. Clones send to the same consumer.
#[derive(Clone, Debug)]
pub struct Events(Sender<Event>);

impl Events {
    /// Sends an event. A run goes on without its consumer.
    pub fn send(&self, event: Event) {
        let _ = self.0.send(event);
    }
}

/// Events that nobody takes.
impl Default for Events {
    fn default() -> Events {
        Events(mpsc::channel().0)
    }
}

/// Both directions between a run and whoever watches over it.
#[derive(Clone, Debug, Default)]
pub struct Channels {
    /// Commands to the run.
    pub control: Control,
    /// Events of the run.
    pub events: Events,
}

/// Does some work while a consumer takes its events, in the order in which they were sent. The
/// consumer has taken the last one when this returns. `work` keeps no clone of the channels.
pub fn consumed<T>(
    control: &Control,
    mut consumer: impl FnMut(&Event) + Send,
    work: impl FnOnce(&Channels) -> T,
) -> T {
    let (sender, mut receiver) = mpsc::channel::<Event>();
    let mut consume = |receiver: &mut Receiver<Event>| {
        receiver.iter().for_each(|event| consumer(&event));
    };
    let done = thread::scope(|scope| {
        let named = thread::Builder::new().name("candor/events".into());
        // Where the kernel gives no thread, the events wait for the end of the work.
        let _ = named.spawn_scoped(scope, || consume(&mut receiver));
        let channels = Channels { control: control.clone(), events: Events(sender) };
        work(&channels)
    });
    consume(&mut receiver);
    done
}

#[cfg(test)]
mod tests {
    use candor_record::Verdict;

    use super::*;

    #[test]
    fn all_events_are_consumed_in_order_before_the_work_returns() {
        let mut seen = Vec::new();
        let sent = consumed(
            &Control::default(),
            |event| {
                // A slow consumer is waited for.
                thread::sleep(std::time::Duration::from_millis(1));
                seen.push(format!("{event:?}"));
            },
            |channels| {
                let clone = channels.events.clone();
                let done = |interrupted| Event::RunDone { verdict: Verdict::Ok, interrupted };
                thread::scope(|scope| {
                    scope.spawn(move || (0..20).for_each(|_| clone.send(done(false))));
                });
                channels.events.send(done(true));
                21
            },
        );
        assert_eq!(seen.len(), sent);
        assert!(seen[..20].iter().all(|event| event.contains("interrupted: false")), "{seen:?}");
        assert!(seen[20].contains("interrupted: true"));
    }
}
