//! A worker's loop with the engine of its job.

use candor_engine::EngineError;
use candor_engine::family::Seat;
use candor_engine::issue::OneAtATime;
use candor_engine::worker::{self, Buffers};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::blocks::Engine;

use super::ReadyBlocks;
use super::chain::Feed;
use crate::engines::Context;
use crate::engines::{
    fallocate::Fallocate, ftruncate::Ftruncate, libaio::Libaio, locked::Locked, mmap::Mmap,
    null::Null, page_fault::PageFault, psync::Psync, pvsync::Pvsync, sg::Sg, splice::Splice,
    sync::Sync as Seeking, threads::Threads, uring::Uring, uring_cmd::UringCmd, vsync::Vsync,
};

impl ReadyBlocks {
    /// Runs a worker with its engine.
    pub(super) fn run(
        &self,
        seat: Seat,
        context: &Context<'_>,
        source: Feed,
    ) -> Result<WorkerEnd, EngineError> {
        let (blocks, shape) = (&self.blocks, self.shape());
        let buffers = &Buffers::Host(context.buffers, context.buffer_bytes);
        macro_rules! run {
            ($engine:expr) => {{
                let mut engine = $engine;
                Ok(match source {
                    Feed::Bare(work) => worker::run(seat, shape, buffers, &mut engine, *work),
                    Feed::Chain(chain) => {
                        worker::run_gated(seat, shape, buffers, &mut engine, chain)
                    }
                })
            }};
        }
        macro_rules! run_calls {
            ($engine:expr) => {{
                let engine = $engine;
                Ok(match (source, &self.held) {
                    (source, Some(held)) => {
                        let mut engine = OneAtATime::new(Locked::new(engine, held.clone()));
                        worker::run_gated(seat, shape, buffers, &mut engine, source.chain())
                    }
                    (Feed::Bare(work), None) => {
                        worker::run_calls(seat, shape, buffers, engine, *work)
                    }
                    (Feed::Chain(chain), None) => {
                        let mut engine = OneAtATime::new(engine);
                        worker::run_gated(seat, shape, buffers, &mut engine, chain)
                    }
                })
            }};
        }
        match blocks.engine {
            Engine::Psync => run_calls!(Psync::new(context)),
            Engine::Sync => run_calls!(Seeking::new(context)?),
            Engine::Vsync => run!(Vsync::new(context)?),
            Engine::Pvsync(options) => run_calls!(Pvsync::new(context, options)),
            Engine::Libaio(options) => run!(Libaio::new(context, blocks, options)?),
            Engine::Threads => run!(Threads::new(context)?),
            Engine::IoUring(_) => run!(Uring::new(context, blocks)?),
            Engine::Mmap(_) => run_calls!(Mmap::new(context, blocks)?),
            Engine::Splice => run_calls!(Splice::new(context)?),
            Engine::Fallocate => run_calls!(Fallocate::new(context)),
            Engine::Ftruncate => run_calls!(Ftruncate::new(context)),
            Engine::PageFault => run_calls!(PageFault::new(context)?),
            Engine::UringCmd(options) => run!(UringCmd::new(context, options)?),
            Engine::Sg(options) => run_calls!(Sg::new(context, options)?),
            Engine::Http(_) => self.run_requests(seat, buffers, source),
            Engine::Null => run!(Null::new(context)),
        }
    }
    /// Runs a worker whose engine sends requests.
    fn run_requests(
        &self,
        seat: Seat,
        buffers: &Buffers<'_>,
        source: Feed,
    ) -> Result<WorkerEnd, EngineError> {
        let shape = self.shape();
        let objects = self.objects.as_ref().expect("the engine http has objects");
        let mut engine = objects.engine(&seat, shape.depth, &self.job.name)?;
        let source = Box::new(engine.begins(source.chain()));
        let end = worker::run_gated(seat, shape, buffers, &mut engine, source);
        objects.collect(&engine);
        Ok(end)
    }
}
