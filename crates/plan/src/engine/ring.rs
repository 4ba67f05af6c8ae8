//! Options of engines that use a ring of io_uring.

use super::CallFlags;
use super::options::engine_options;
use crate::omit::is_default;

/// Options of a ring, whatever its entries are. Absent switches mean: use it where the kernel has
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingOptions {
    /// A kernel thread takes submissions.
    pub sqpoll: bool,
    /// CPU of that thread.
    pub sqpoll_cpu: Option<u32>,
    /// Completions are polled for instead of awaited.
    pub iopoll: bool,
    /// Buffers registered with the ring.
    pub fixed_buffers: Option<bool>,
    /// Files registered with the ring.
    pub fixed_files: Option<bool>,
    /// Completion work runs only when the worker asks for it.
    pub defer_taskrun: Option<bool>,
    /// Period of operations that go to a kernel thread; 0 for none.
    pub force_async_every: u32,
}

/// Options of an engine with a ring: the ring's options, and then its own. serde flattens one
/// structure into another only without places of errors and without refusing unknown keys, so the
/// fields of the ring are written here once for all engines.
macro_rules! ring_engine {
    ($(#[$about:meta])* $name:ident {
        $($(#[$field_about:meta])* $field:ident: $kind:ty = $default:expr,)*
    }) => {
        engine_options! {
            $(#[$about])*
            $name {
                /// A kernel thread takes submissions, so that submitting needs no system call.
                #[serde(skip_serializing_if = "is_default")]
                sqpoll: bool = false,
                /// CPU of that thread.
                sqpoll_cpu: Option<u32> = None,
                /// Completions are polled for instead of awaited; needs direct I/O and poll queues.
                #[serde(skip_serializing_if = "is_default")]
                iopoll: bool = false,
                /// Buffers registered with the ring.
                fixed_buffers: Option<bool> = None,
                /// Files registered with the ring.
                fixed_files: Option<bool> = None,
                /// Completion work runs only when the worker asks for it.
                defer_taskrun: Option<bool> = None,
                /// Every n-th operation goes to a kernel thread at once, without trying to start it
                /// in the submitting call; 0 means none does.
                #[serde(skip_serializing_if = "is_default")]
                force_async_every: u32 = 0,
                $($(#[$field_about])* $field: $kind = $default,)*
            }
        }

        impl $name {
            /// The options of its ring.
            pub fn ring(&self) -> $crate::engine::RingOptions {
                $crate::engine::RingOptions {
                    sqpoll: self.sqpoll,
                    sqpoll_cpu: self.sqpoll_cpu,
                    iopoll: self.iopoll,
                    fixed_buffers: self.fixed_buffers,
                    fixed_files: self.fixed_files,
                    defer_taskrun: self.defer_taskrun,
                    force_async_every: self.force_async_every,
                }
            }

            /// The same engine with these options of its ring.
            #[must_use]
            pub fn with_ring(self, ring: $crate::engine::RingOptions) -> $name {
                $name {
                    sqpoll: ring.sqpoll,
                    sqpoll_cpu: ring.sqpoll_cpu,
                    iopoll: ring.iopoll,
                    fixed_buffers: ring.fixed_buffers,
                    fixed_files: ring.fixed_files,
                    defer_taskrun: ring.defer_taskrun,
                    force_async_every: ring.force_async_every,
                    ..self
                }
            }
        }
    };
}

pub(super) use ring_engine;

ring_engine! {
    /// Options of the io_uring engine. Absent switches mean: use it where the kernel has it.
    Uring {
        /// Operations name their buffers by vectors (`readv`, `writev`), which excludes registered
        /// buffers.
        #[serde(skip_serializing_if = "is_default")]
        vectored: bool = false,
        /// Issue no-ops instead of I/O: measures the ring itself.
        #[serde(skip_serializing_if = "is_default")]
        nop: bool = false,
        /// Flags of each call.
        #[serde(skip_serializing_if = "is_default")]
        flags: CallFlags = CallFlags::DEFAULT,
    }
}
