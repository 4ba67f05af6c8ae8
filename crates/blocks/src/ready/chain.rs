//! Chain of a worker's sources: the work, and the wrappers that its job uses.

use std::cell::RefCell;
use std::rc::Rc;

use candor_engine::EngineError;
use candor_engine::family::JobWork;
use candor_engine::gates::limits::{Limited, Limits};
use candor_engine::gates::low_water::LowWater;
use candor_engine::gates::overlap::Serialized;
use candor_engine::gates::paced::Paced;
use candor_engine::gates::wear_out::WornOut;
use candor_engine::random::{Random, mix};
use candor_engine::source::Source;

use super::{ReadyBlocks, has_flushes, trims_written, usual_priority};
use crate::sources::filled::Filled;
use crate::sources::opened::Opened;
use crate::sources::ordered::{FlushOrdered, TrimsLast};
use crate::sources::per_target::PerTarget;
use crate::sources::prioritised::{Priorities, Prioritised};
use crate::sources::protected::Protected;
use crate::sources::read_back::{self, ReadBack};
use crate::sources::replay::Replay;
use crate::sources::synced::{SyncOrder, Synced, syncs};
use crate::sources::trim_ranges::TrimRanges;
use crate::sources::trims::Trims;
use crate::sources::verified::{SharedVerifier, Verified};
use crate::sources::work::Work;
use crate::sources::zoned::Zoned;
use crate::stream::Stream;
use candor_bytes::content::Content;

/// Operations of a worker: the bare work, or a chain of sources around it.
pub(super) enum Feed {
    /// The bare work.
    Bare(Box<Work>),
    /// Outermost source of a chain.
    Chain(Box<dyn Source>),
}

impl Feed {
    /// Turns both kinds into a chain, however short.
    pub fn chain(self) -> Box<dyn Source> {
        match self {
            Feed::Bare(work) => work,
            Feed::Chain(chain) => chain,
        }
    }

    /// The same inside of another source.
    fn within<S: Source + 'static>(self, wrapper: impl FnOnce(Box<dyn Source>) -> S) -> Feed {
        Feed::Chain(Box::new(wrapper(self.chain())))
    }
}

impl ReadyBlocks {
    /// The work alone if it needs no wrapper; otherwise the chain of sources, built from the
    /// inside.
    ///
    /// # Errors
    /// The log of a journal cannot be created.
    pub(super) fn source(&self, rank: u32, content: Option<Content>) -> Result<Feed, EngineError> {
        let (blocks, depth) = (&self.blocks, self.depth());
        let verifier = self.verifier(rank).map(|verifier| Rc::new(RefCell::new(verifier)));
        let mut feed = self.base(rank, verifier.as_ref());
        if self.trim_ranges() > 1 {
            let (files, ranges) = (self.files.clone(), self.trim_ranges());
            feed = feed.within(|chain| TrimRanges::new(chain, files, ranges));
        }
        // In zones no write overlaps another except after a reset, which waits for all operations.
        if blocks.serialize_overlap && blocks.zones.is_none() {
            feed = feed.within(|chain| Serialized::new(chain, depth));
        }
        if let Some(verifier) = verifier {
            let (files, log) = (self.files.clone(), self.logged()?);
            feed = feed.within(|chain| {
                Verified::new(chain, verifier, files, depth).with_writes(content, log)
            });
        } else if let Some(content) = content {
            // The commonest chain of all has no virtual call.
            feed = match feed {
                Feed::Bare(work) => Feed::Chain(Box::new(Filled::new(*work, content))),
                Feed::Chain(chain) => Feed::Chain(Box::new(Filled::new(chain, content))),
            };
        }
        feed = self.protected(feed);
        let seed = mix(self.seed, self.ranks.rank(rank));
        let usual = usual_priority(&self.job);
        if let Some(priorities) = Priorities::new(seed, &blocks.priorities, usual) {
            feed = feed.within(|chain| Prioritised::new(chain, priorities));
        }
        if let Some(pacer) = self.pacer(rank) {
            feed = feed.within(|chain| Paced::new(chain, pacer));
        }
        if let Some(furthest) = self.furthest.clone() {
            feed = feed.within(|chain| WornOut::new(chain, furthest));
        }
        let limits = Limits::new(depth, blocks.pace.goal, &self.stop, self.flow_share());
        if let Some(limits) = limits {
            feed = feed.within(|chain| Limited::new(chain, limits));
        }
        if self.trace.as_deref().is_some_and(has_flushes) {
            feed = feed.within(FlushOrdered::new);
        }
        if trims_written(blocks) || (blocks.mix.trim > 0 && !self.queues_trims) {
            feed = feed.within(TrimsLast::new);
        }
        feed = self.queued(rank, feed);
        if let Some(targets) = self.targets.clone() {
            feed = feed.within(|chain| PerTarget::new(chain, targets, self.recorded()));
        }
        if blocks.opening.is_in_phase() {
            feed = self.opened(rank, feed);
        }
        Ok(feed)
    }

    /// The source with the syncs between its writes, and with the low-water mark of its queue.
    fn queued(&self, rank: u32, mut feed: Feed) -> Feed {
        let (durability, depth) = (self.blocks.durability, self.depth());
        if syncs(&durability) {
            let is_async = self.blocks.engine.is_async();
            let order = if is_async { SyncOrder::AtOnce } else { SyncOrder::Alone };
            let files = self.own_files(rank);
            feed = feed.within(|chain| Synced::new(chain, durability, order, &files, depth));
        }
        match self.low_water() {
            Some(low) => feed.within(|chain| LowWater::new(chain, depth, low)),
            None => feed,
        }
    }

    /// Depth at which a drained queue is filled again, if the plan sets one.
    fn low_water(&self) -> Option<usize> {
        self.blocks.depth_low.map(|low| low as usize).filter(|low| *low < self.depth())
    }

    /// The source between the opening and closing of its files.
    fn opened(&self, rank: u32, feed: Feed) -> Feed {
        let (files, time_ns) = (self.own_files(rank), self.stop.time.map(|time| time.0));
        let gates = self.stage_gates.clone();
        feed.within(|chain| Opened::new(chain, files, self.syncs_in_phase(), gates, time_ns))
    }

    /// Adds tags of blocks, if the host makes and checks them.
    fn protected(&self, feed: Feed) -> Feed {
        let Some(protection) = self.host_protection() else { return feed };
        let verify = self.blocks.verify.as_ref();
        let continues = verify.is_some_and(|verify| verify.continue_on_mismatch);
        let (files, at) = (self.files.clone(), self.metadata_at());
        feed.within(|chain| Protected::new(chain, files, protection, at, continues))
    }

    /// The stream of the work. Files whose pages were dropped when they were opened lose them again
    /// whenever they start over.
    fn own_stream(&self, rank: u32) -> Stream {
        let stream = self.stream(rank);
        if !self.blocks.hints.invalidate {
            return stream;
        }
        let files = self.files.clone();
        stream.on_restart(move |file| files.get(file).invalidate())
    }

    /// The work with reading back and zones, if any.
    fn base(&self, rank: u32, verifier: Option<&SharedVerifier>) -> Feed {
        let work = Work::new(self.own_stream(rank), self.budget(rank));
        let reading = self.blocks.verify.as_ref().and_then(|verify| verify.read_back);
        let zones = || self.zone_cursor(rank);
        let (Some(plan), Some(known)) = (reading, verifier) else {
            return match zones() {
                Some(zones) => Feed::Chain(Box::new(Zoned::new(work, zones, verifier.cloned()))),
                None => Feed::Bare(Box::new(work)),
            };
        };
        let parts = read_back::Parts {
            plan,
            work,
            verifier: known.clone(),
            files: self.files.clone(),
            own_files: self.own_files(rank),
        };
        let random = || Random::new(self.seed, 0x7472_696d ^ self.ranks.rank(rank) << 32);
        let replay = || Replay::new(Work::new(self.stream(rank), self.budget(rank)));
        let trims = plan.trims.map(|plan| Trims::new(plan, replay(), random()));
        let again = self.blocks.zones.is_none().then(replay);
        let back = ReadBack::new(parts, again, self.rounds(), trims);
        Feed::Chain(match zones() {
            Some(zones) => Box::new(Zoned::new(back, zones, verifier.cloned())),
            None => Box::new(back),
        })
    }
}
