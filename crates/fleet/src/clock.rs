//! The clock of this host, and that of the other end of a link, from messages to and fro.

/// The monotonic clock of this host, in ns: it is never set.
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Measurements that are kept: the offset is that of the fastest of them.
const KEPT: usize = 16;

/// Offset of a clock, and how well it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// The other clock minus this one, in ns.
    pub ns: i64,
    /// Time from sending a message to the arrival of its answer, in ns. The offset is wrong by half
    /// of it at most.
    pub round_trip_ns: u64,
}

impl Offset {
    /// Greatest error, in ns.
    pub fn error_ns(&self) -> u64 {
        self.round_trip_ns.div_ceil(2)
    }

    /// A moment of this clock on the other one.
    pub fn there(&self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.ns)
    }
}

/// The last measurements of an offset. Clocks drift apart, so old ones are forgotten.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    last: Vec<Offset>,
    next: usize,
}

impl Measured {
    /// Adds a message that was sent and answered at moments of this clock, and arrived at one of
    /// the other. Moments out of order are no measurement.
    pub fn add(&mut self, sent_ns: u64, received_ns: u64, answered_ns: u64) {
        let Some(round_trip_ns) = answered_ns.checked_sub(sent_ns) else { return };
        let middle_ns = sent_ns + round_trip_ns / 2;
        let ns = received_ns.wrapping_sub(middle_ns) as i64;
        let offset = Offset { ns, round_trip_ns };
        if self.last.len() < KEPT {
            self.last.push(offset);
        } else {
            self.last[self.next] = offset;
        }
        self.next = (self.next + 1) % KEPT;
    }

    /// The offset of the fastest of the last measurements; none before the first.
    pub fn best(&self) -> Option<Offset> {
        self.last.iter().min_by_key(|offset| offset.round_trip_ns).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_answer_decides_and_the_error_is_half_of_its_way() {
        let mut measured = Measured::default();
        assert_eq!(measured.best(), None);
        // The other clock is 1000 ahead; a message takes 10 there and 30 back.
        measured.add(100, 1110, 140);
        measured.add(200, 1210, 900);
        let best = measured.best().expect("measured");
        assert_eq!((best.ns, best.round_trip_ns, best.error_ns()), (990, 40, 20));
        assert_eq!(best.there(5000), 5990);
        assert!(best.ns.abs_diff(1000) <= best.error_ns());
    }

    #[test]
    fn the_other_clock_may_be_behind_and_time_does_not_run_backwards() {
        let mut measured = Measured::default();
        measured.add(1000, 0, 1010);
        measured.add(1000, 0, 10);
        let best = measured.best().expect("measured");
        assert_eq!((best.ns, best.there(2000)), (-1005, 995));
    }

    #[test]
    fn old_measurements_are_forgotten() {
        let mut measured = Measured::default();
        measured.add(0, 0, 2);
        (0..KEPT as u64).for_each(|nth| measured.add(nth * 100, nth * 100 + 55, nth * 100 + 10));
        assert_eq!(measured.best().map(|best| best.ns), Some(50));
    }
}
