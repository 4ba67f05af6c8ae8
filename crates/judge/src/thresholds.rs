//! Every threshold of every rule, with where it comes from and why it is what it is.
//!
//! "Evidence book" is the project's book of traps, each reproduced on a real kernel or marked as
//! not reproduced; its rules have the same names as the ones here. Each stands with the rules that
//! use it, in their own file or through what they share; a test holds that against the sources.

/// A number that separates a finding from none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Name in the sources.
    pub id: &'static str,
    /// The rules that use it; none where it only helps to name the limit.
    pub rules: &'static [&'static str],
    /// Quantity that it bounds.
    pub name: &'static str,
    /// The number; its unit is in the name.
    pub value: f64,
    /// Origin of the value.
    pub source: &'static str,
    /// Why it is what it is.
    pub reason: &'static str,
}

/// Declares the thresholds and the table of all of them, so that none can be left out of it.
macro_rules! thresholds {
    ($($(#[doc = $doc:literal])* $id:ident = $value:literal, [$($rule:ident)*], $name:literal,
        $source:literal, $reason:literal;)*) => {
        $($(#[doc = $doc])* pub const $id: Threshold = Threshold {
            id: stringify!($id),
            rules: &[$(stringify!($rule)),*],
            name: $name,
            value: $value,
            source: $source,
            reason: $reason,
        };)*
        /// All of this table.
        pub const ALL: &[Threshold] = &[$($id),*];
    };
}

thresholds! {
    /// Below it, ratios of bytes mean nothing.
    BYTES_MIN = 1048576.0, [
        A1 A3 A4 A5 A10 A11 A13 A14 A17 A18 A20 B4 B5 B14 B18 C1 C2 C3 C6 C8 C10 C11 C12 D7 D8
        D9 D10 E1 E2 E4 E9 F4 F9 F10 G1 G10 G13 G15 G22 H5 C7 C14 E6 E7 S12],
        "minimum bytes moved for ratios", "measured on Linux",
        "mounting, opening and metadata cost some hundred KiB by themselves";
    /// Below this coverage the data came from memory.
    COVERAGE_MEMORY = 0.05, [A1 A13 A14 A17 A20 H5],
        "share of bytes from the device, below: memory", "measured on Linux",
        "a cached second pass moved 0 of 64 MiB; 5 % leaves room for a few evicted pages";
    /// At or above this coverage the device did the work.
    COVERAGE_FULL = 0.95, [A21 A1 A2 A5 A7 A8 A9 A14 A17 A19 C2 C6 G10 H5],
        "share of bytes from the device, at or above: device", "measured on Linux",
        "a cold pass moved all bytes; the rest is counting error at the edges";
    /// Share of the fastest request below which a read did not wait for the device.
    FAR_BELOW = 0.2, [A1],
        "latency of a read over the fastest request's latency, maximum", "chosen",
        "pages in memory were read in 1 to 10 us; the fastest request took 57 us";
    /// Requests whose latencies show how fast the device can be.
    REQUESTS_SEEN = 100.0, [A1],
        "minimum requests with a known latency", "chosen",
        "one hundredth of fewer requests is less than one request";
    /// Operations in flight at the ends are forgiven up to this share of all bytes.
    SLACK_MAX = 0.5, [A1 A5 A13 A17 A19 C11 F10],
        "maximum share of bytes ignored for operations in flight", "chosen",
        "limits the effect on a very short phase with half of it in flight at the start";
    /// Flat allowance for bytes counted on different sides of a boundary.
    SLACK_FLAT = 0.01, [A1 A5 A13 A17 A19 C11 F10],
        "share of bytes always ignored", "chosen",
        "the snapshot and the barrier are some microseconds apart";
    /// A data set that is cached at the start to this share is not cold.
    CACHED_AT_START = 0.05, [A2 H5],
        "share of files cached at the start", "measured on Linux",
        "a smaller share has less effect than the variation of most devices";
    /// Dirty share of what was written that makes a write rate one of memory.
    DIRTY_LEFT = 0.05, [A3 A17],
        "share of written bytes still dirty", "measured on Linux",
        "8 MiB written left 8 MiB dirty and nothing on the device";
    /// Share of written bytes that must have reached the device by the end.
    WRITTEN_OUT = 0.95, [A3 A5 A13],
        "minimum share of written bytes on the device", "measured on Linux",
        "as for reads: missing bytes were overwritten in memory";
    /// Bytes on the device over those written up to which it wrote just those.
    WRITTEN_EXACTLY = 1.05, [A3],
        "bytes on the device over bytes written, maximum for the same data", "chosen",
        "a data journal doubles the bytes; a metadata journal adds some percent";
    /// Growth of the cache during a direct phase, as a share of what was moved.
    CACHE_GROWTH = 0.10, [A5],
        "growth of the cache in a direct phase", "measured on Linux",
        "direct I/O left 0 pages on ext4, XFS and btrfs; buffered I/O left all of them";
    /// Share of the files that an eviction may leave before it gives a caution.
    EVICTION_LEFT = 0.01, [A6],
        "share of files resident after eviction", "measured on Linux",
        "any page left is reported; 1 % cannot change the result by more than 1 %";
    /// Mapped share of a file below which reads hit holes.
    MAPPED = 0.99, [A8 A13 B18 F8],
        "minimum share of the file that is mapped", "measured on Linux",
        "except for headers of sparse formats, a data file has no holes";
    /// Share of holes or unwritten extents that decides on its own.
    UNREAD_SHARE = 0.05, [A8 A9],
        "share of holes or unwritten bytes that decides alone", "measured on Linux",
        "the same 5 % as for coverage, for unknown coverage";
    /// Share of holes from which reads of a file are mostly reads of holes.
    HOLES_MOST = 0.5, [A8 A13],
        "share of holes, majority of the file", "chosen",
        "with a tenth of holes, nine tenths of the reads come from the device";
    /// Share of bytes that the disk under a loop device must have moved.
    LEAF_COVERAGE = 0.95, [A13],
        "share of bytes seen below a loop device", "measured on Linux",
        "with direct-io=0 re-reads ran at 1.4-3 GB/s while the disk did 0.6 GB/s";
    /// Share of a loop's bytes from which what memory gave is a caution.
    LOOP_NEARLY = 0.9, [A13 A19],
        "share of bytes seen below a loop device, for a caution", "chosen",
        "a tenth from memory increases a rate by at most a ninth";
    /// Bytes that a disk moved beyond what memory and holes left of a loop's, as a share of them.
    LOOP_SPARE = 0.25, [A13],
        "minimum share of the bytes above the uncached share", "chosen",
        "allows for a range cached less than the rest of the file, and data that readahead fetches \
         twice";
    /// Submission share of a latency that makes an asynchronous engine synchronous.
    SUBMIT_SHARE = 0.9, [B2],
        "share of latency spent submitting", "measured on Linux",
        "buffered libaio: mean latency 86 ms was 32 times one blocking read";
    /// Device occupancy below which buffered libaio is proven synchronous.
    SUBMIT_QUEUE = 0.3, [B2],
        "device queue over requested depth", "measured on Linux",
        "one of 32 requests in the device is 0.03; readahead can raise the number to a few";
    /// Share of the requested depth that must be seen.
    QUEUE_SEEN = 0.7, [B4 B8 B9 B18],
        "minimum device queue over requested depth", "measured on Linux",
        "submission and completion take their share of each round trip";
    /// Share of the requested depth that the generator must keep in flight.
    IN_FLIGHT = 0.8, [B4 C6 G9],
        "minimum operations in flight over requested depth", "measured on Linux",
        "below this value the load generator is late, above it the loss is further down";
    /// Share of the device's own depth from which it is full.
    DEVICE_FULL = 0.85, [B5 E5],
        "device queue over device depth", "measured on Linux",
        "a device of depth 8 under 32 requests showed 7.0";
    /// Bytes that threads of the kernel moved for io_uring.
    PUNTED = 0.05, [B3],
        "minimum share of the bytes, or flushes over all operations, by kernel threads",
        "measured on Linux",
        "0.4 % of the operations have no visible cost";
    /// How many times the needed depth is too much.
    KNEE = 3.0, [B6],
        "depth over the minimum depth for the rate", "measured on Linux",
        "arrivals are uneven, so some extra depth helps; 32 for a minimum of 1.7 may not help";
    /// Share of the best rate tried from which a depth is as good.
    AS_GOOD = 0.95, [B6],
        "rate over the best of all depths tried, minimum for a rate as good", "chosen",
        "the bound of the search in `candor check`";
    /// Gain of doubling that shows that more is to be had.
    DOUBLED_PAYS = 1.5, [B7 B18],
        "minimum rate with twice the load over the rate before", "measured on Linux",
        "the full gain is 2; half of it cannot be variation between seconds";
    /// Gain of the same places once more that refutes a cost of allocation.
    AGAIN_FLAT = 1.2, [B18],
        "maximum rate of the same offsets again over the rate before", "chosen",
        "two seconds of one run differ by this factor on a shared machine";
    /// Gain of more load that makes the load the limit.
    LOAD_PAYS = 1.2, [],
        "minimum rate with more load over the rate of the phase", "judge, after acceptance T8",
        "75k to 85k IOPS from 4 to 8 jobs, on a device of 90k, are 1.13; 1.4 times is much more";
    /// Gain of a doubling that is one.
    LOAD_GAINS = 1.05, [],
        "minimum rate with twice the load over the best before", "chosen",
        "the bound for another step of the search in `candor check`";
    /// Doublings in a row without gain that end the series.
    LEVEL_STEPS = 2.0, [],
        "consecutive doublings without a gain", "chosen",
        "one doubling was flat at depth 16 on a device that did 1.75 times as much at 128";
    /// Rate with more load below which something else disturbed the trial.
    UNDISTURBED = 0.9, [],
        "minimum rate with more load over the best before", "chosen",
        "more in flight costs a few percent at most; a trial next to other work fell to 0.07";
    /// Shortest follow-up that decides something.
    SLICE_S = 0.4, [],
        "minimum seconds of a follow-up", "chosen",
        "half a second is requested; the first operations of it do not count";
    /// Fewest operations of a phase or a follow-up that decide something.
    SLICE_OPS = 40.0, [],
        "minimum operations of a follow-up", "chosen",
        "the rate of fewer than forty operations has an error of more than a sixth";
    /// Shortest phase that has follow-ups.
    SLICED_PHASE_S = 5.0, [],
        "minimum seconds of a phase for a follow-up", "chosen",
        "a follow-up takes half a second at least, and all follow-ups a tenth of the phase at most";
    /// Upper quarter of the seconds over their mean from which a part of the phase was disturbed.
    DISTURBED = 1.25, [],
        "rate of the upper quarter of the seconds over the mean", "chosen",
        "a process that used the CPUs for half of a phase made a trial after it 3.9 times as fast";
    /// Time in the device at a full queue over the time of one request alone, from which requests
    /// wait for each other in the device.
    SATURATED = 2.0, [B5],
        "time in the device over the median of one operation at a time", "chosen",
        "a loop device with 128 slots had the same rate with 64 slots in use, in half of the time \
         each";
    /// Part of a file that random writes may cover for a final flush to bring nearly all out.
    DRAWN_ONCE = 0.1, [A3],
        "bytes written at random over the size of the files", "chosen",
        "4000 random writes over 4096 blocks hit 36 % of them again; a flush writes each block \
         once";
    /// Shortest window for queue arithmetic.
    QUEUE_WINDOW_S = 0.5, [B1 B2 B4 B5 B8 B9 B18 C12 F4 E7 F5],
        "minimum seconds for queue numbers", "chosen",
        "the kernel's busy time advances in ticks of 4 ms; 125 of them are enough";
    /// CPU share of the busiest worker from which its thread is the limit.
    THREAD_BUSY = 0.9, [B7 B18],
        "CPU time over wall time of a worker", "measured on Linux",
        "accounting and the barrier take the rest";
    /// Time waiting for a CPU from which latencies are those of the scheduler.
    RUN_WAIT = 0.10, [A12 B8 F13],
        "share of wall time waiting for a CPU", "measured on Linux",
        "at 32-57 % the device took 0.14 ms and the application measured 2.3 ms";
    /// Time waiting for a CPU from which that is the limit whatever else was found.
    RUN_WAIT_MOST = 0.5, [B8 B9 G9],
        "share of wall time waiting for a CPU, majority", "chosen",
        "a wait of more than half of a worker's time is its largest delay";
    /// Part of the work of all CPUs from which the workers crowd each other.
    MAINLY_OWN = 0.5, [B8],
        "share of the work of all CPUs done by the workers", "chosen",
        "below half, fewer workers leave most of the wait unchanged";
    /// Time of all CPUs from which there is nothing left.
    ALL_CPUS_BUSY = 0.9, [A12 B8 B9 F13],
        "busy share of all CPUs", "measured on Linux",
        "the rest is spread over CPUs and moments without work";
    /// Time of one CPU from which it holds up what lands there.
    ONE_CPU_BUSY = 0.95, [B9 B10],
        "busy share of one CPU", "measured on Linux",
        "a CPU in softirq for 96 % of the time was the limit of its device";
    /// Time of such a CPU in interrupts, for them to be the reason.
    CPU_INTERRUPTS = 0.5, [B9],
        "share of one CPU in interrupts", "chosen",
        "with less, other work runs on the CPU; B7 reports a worker there";
    /// Completions on one CPU from which it serves the device alone.
    ONE_CPU_SERVES = 0.8, [B10],
        "share of a device's interrupts on one CPU", "measured on Linux",
        "all of 1.4 million interrupts of a virtual disk went to one CPU";
    /// Interrupts of a device from which serving them is work worth spreading.
    INTERRUPTS_LEAST = 1000.0, [B10],
        "minimum interrupts of a device per second", "chosen",
        "at a few µs each, fewer are less than 1 % of a CPU";
    /// Stolen CPU time that is explained.
    STEAL = 0.01, [B13],
        "share of CPU time stolen, explained", "measured on Linux",
        "a host with a CPU for each virtual CPU has no steal time";
    /// Stolen CPU time that gives a caution.
    STEAL_MUCH = 0.05, [B13],
        "share of CPU time stolen, caution", "chosen, from measurements",
        "quiet runs differ from each other by one twentieth";
    /// Memory touched for the first time, relative to the bytes moved.
    FAULTED = 0.5, [B14],
        "bytes of faulted pages over bytes moved", "measured on Linux",
        "reads into fresh pages had one fault per 4 KiB and ran at 830 instead of 1435 MiB/s";
    /// Cost of two clock readings relative to the mean latency.
    CLOCK_SHARE = 0.05, [B16],
        "two clock readings over mean latency", "measured on Linux",
        "hpet costs 1.4 us a reading: latencies below some 30 us are not trustworthy";
    /// How near the mean request must be to a limit to be its work.
    SPLIT_NEAR = 0.15, [C1],
        "mean request against a limit, maximum distance", "chosen",
        "adjacent pages in memory are one segment, so requests are slightly larger";
    /// Pieces per operation from which a split is believed where no limit is known.
    SPLIT_CLEAR = 1.5, [C1],
        "operation size over device request size, for an unknown limit", "chosen",
        "a split gives two requests at least; requests of others between them are few";
    /// Bytes of the device for each of ours, within which its mean request tells of ours.
    OURS_LEAST = 0.8, [A1 C1 C3],
        "minimum bytes of the device over bytes of this run", "chosen",
        "with less, the page cache determined the requests of the device";
    /// The upper end of that.
    OURS_MOST = 1.25, [A1 C1 C3 F10],
        "maximum bytes of the device over bytes of this run", "chosen",
        "with more, a fifth of the requests came from others";
    /// Pieces per operation from which requests count as split.
    SPLIT = 1.2, [C1 C2 C12 E2],
        "operation size over device request size", "measured on Linux",
        "real splits are 2, 4, 8; odd neighbours and metadata stay below 1.1";
    /// Reads of an array's members per write to it.
    PARITY_READS = 0.2, [C7],
        "reads of members per write", "chosen",
        "4 KiB writes to a raid5 of three in the lab read 0.98 times each; whole stripes never";
    /// Share of the requests that a size must have to be named among the pieces.
    COMMON = 0.2, [C1],
        "minimum share of requests of one size", "chosen",
        "an operation split into two unequal requests gives half of each size; odd neighbours are \
         few";
    /// Merges among all requests from which requests count as merged.
    MERGED = 0.2, [C3],
        "merges over merges and requests", "measured on Linux",
        "random operations rarely have an adjacent operation";
    /// Bytes that the device writes for each of ours.
    AMPLIFIED = 1.2, [C11 C14],
        "bytes of the device over bytes of this run", "measured on Linux",
        "a data journal doubles the bytes; metadata of large writes is far below";
    /// Bytes fetched beyond those that were read, from which they are more than metadata.
    FETCHED_MORE = 8388608.0, [C14],
        "minimum bytes fetched beyond the bytes read", "chosen",
        "metadata and program pages sum up to a few MiB";
    /// Share of the latency above the driver.
    SOFTWARE_SHARE = 0.3, [C12],
        "share of latency above the driver", "measured on Linux",
        "system call and interrupt take some microseconds, a small share on most devices";
    /// Flushes per write from which a write test is a flush test.
    FLUSH_PER_WRITE = 0.05, [C9],
        "flushes per write", "measured on Linux",
        "a flush costs ten to a hundred times a write, so one in twenty already counts";
    /// Time of a flush that no medium took part in.
    FLUSH_QUICK_NS = 50_000.0, [C10],
        "maximum ns of a mean flush", "measured on Linux",
        "even flash takes longer to write its cached data";
    /// Flushes whose mean time is told.
    FLUSHES_MIN = 1000.0, [C10],
        "minimum flushes", "chosen",
        "flush time is counted in whole milliseconds";
    /// Calls of fsync from which the flushes of the device are compared with them.
    SYNC_CALLS = 100.0, [C13 H10],
        "minimum calls of fsync", "chosen",
        "metadata causes a few flushes per second by itself";
    /// Flushes of the device for each call, times the workers that one flush may serve.
    FLUSHES_SENT = 0.5, [C9 C13],
        "minimum flushes times workers over calls of fsync", "chosen",
        "a flush serves every waiting worker; mounts without barriers sent no flush";
    /// Share of the time of fsync that is the device's own flush, for it to be called so.
    FLUSH_OF_SYNC = 0.5, [C9],
        "minimum share of fsync spent in the device's flush", "chosen",
        "a flush of 0.19 ms is not the main cost of a call of 3.6 ms";
    /// Share of the time spent flushing from which that is the limit.
    FLUSH_TIME = 0.5, [C9 H10],
        "share of worker time spent flushing", "measured on Linux",
        "more than half: free flushes would double the rate";
    /// Share of a ceiling from which it is the limit.
    CEILING_NEAR = 0.85, [D11 B15 D1 D2 D3 D4 D5 D6 D8 D10 F5],
        "measured over ceiling, near", "measured on Linux",
        "protocols leave 85-98 % of a link to data; 262 of 300 MB/s on a 3 Gb/s SATA link";
    /// Share of a ceiling beyond which the result is impossible.
    CEILING_OVER = 1.02, [B15 D1 D2 D3 D4 D5 D6 D8 D9 D10],
        "measured over ceiling, impossible", "measured on Linux",
        "2 % for clocks and edges; no data crosses a link faster than the link";
    /// Share of a ceiling from which it is wrong, or not on the way.
    CEILING_WRONG = 1.1, [],
        "measured over ceiling, hidden from here on", "chosen",
        "a rate a tenth above a limit does not obey this limit";
    /// As CEILING_OVER, for USB.
    USB_OVER = 1.3, [D9],
        "measured over ceiling, impossible, USB", "measured on Linux",
        "USB rates in practice are from experience: 40 of 60 MB/s, 440 of 500 MB/s";
    /// Bytes that must have passed an interface for its speed to be the limit.
    CARRIED = 0.5, [D5],
        "minimum share of bytes that passed the interface", "chosen",
        "bytes from the client's own cache did not cross the network";
    /// Share of the bytes of one path of several.
    ONE_PATH = 0.9, [D7],
        "share of bytes on one path of several", "measured on Linux",
        "policy numa sent 2960 reads down path A and none down path B";
    /// Busiest member over the mean of all.
    HOT_MEMBER = 1.3, [E1 E7],
        "busiest member over the mean of all", "measured on Linux",
        "a working set of one chunk gave 8831 : 0; even distributions differ by a few percent";
    /// Requests of a member from which its share means something.
    MEMBER_REQUESTS = 400.0, [E1 E7],
        "minimum mean requests of a member", "chosen",
        "random addresses vary by the root of their number: 5 % at 400";
    /// Share of the bytes on one of several leaves.
    ONE_LEAF = 0.95, [E4],
        "share of bytes on one leaf of several", "measured on Linux",
        "a linear volume fills one disk before the next";
    /// CPU time in the kernel beyond the workers' own that encryption may take unseen.
    CRYPT_CPU = 0.3, [E5],
        "kernel CPUs busy outside the workers", "measured on Linux",
        "30 % of a core is more than interrupts of any one device take";
    /// Traffic of other partitions of the disk.
    OTHER_PARTS = 0.05, [E9],
        "share of the disk's traffic by other partitions", "measured on Linux",
        "the same 5 % as for traffic of others on the device itself";
    /// Change along a line through five windows that is drift.
    DRIFT = 0.10, [F1],
        "fitted change over five windows, relative to the mean", "measured on Linux",
        "the bound of the SNIA's steady state for the slope";
    /// How clearly a drift must stand out from what its line leaves unexplained.
    DRIFT_CLEAR = 4.0, [F1],
        "minimum drift over the scatter of the windows", "chosen",
        "five windows with pure scatter have a lower value";
    /// Length from which windows of a run can be compared.
    DRIFT_S = 30.0, [F1],
        "minimum full seconds for five windows", "chosen",
        "shorter windows than six seconds show bursts, not drifts";
    /// Share of a write rate that remains after a cliff.
    CLIFF = 0.6, [F2],
        "rate after the step over rate before", "measured on Linux",
        "drives fall to 0.5-2 GB/s from several times that; a drop of more than 40 %";
    /// Seconds that a lower level must last.
    CLIFF_S = 10.0, [F2 F3],
        "minimum seconds after the step", "measured on Linux",
        "garbage collection makes dips of a few seconds";
    /// Seconds of the upper level that are enough to see it.
    LEVEL_S = 3.0, [F2 F3],
        "minimum seconds before the step", "chosen",
        "many runs begin with one or two fast seconds";
    /// Share of a rate that remains when credits have run out.
    CREDITS = 0.75, [F3],
        "rate after the step over rate before", "measured on Linux",
        "burst and baseline of cloud volumes differ by a quarter or more";
    /// Spread of a plateau that a limiter makes.
    FLAT = 0.02, [F3 F5],
        "coefficient of variation of a plateau", "measured on Linux",
        "limiters are flatter than any medium";
    /// Distance from the temperature at which a drive slows down, in degrees.
    HOT_C = 2.0, [F6],
        "degrees below the drive's own limit", "measured on Linux",
        "drives begin to throttle at their reported limit";
    /// Rate of the last third over the first in a run that was throttled.
    THROTTLED = 0.9, [F6],
        "rate of the last third over the first", "measured on Linux",
        "heat builds up slowly: the rate falls during the run";
    /// Used share of a filesystem from which it is full.
    FULL_FS = 0.9, [F8],
        "used share of the filesystem", "measured on Linux",
        "allocators search longer and find smaller extents";
    /// Extents per GiB of a file that is in pieces.
    PIECES = 100.0, [F8],
        "extents per GiB", "measured on Linux",
        "ext4 needs 8 per GiB for a contiguous file";
    /// Pieces of a file that slow nothing down.
    PIECES_MIN = 64.0, [F8],
        "minimum extents", "chosen",
        "a small file with a few extents has many per GiB";
    /// Part of a rotating disk that a run must cover to speak for it.
    SPAN = 0.5, [F11],
        "covered share of a rotating disk", "measured on Linux",
        "outer tracks are up to twice as fast as inner tracks";
    /// Bytes written by the application over bytes charged for storage.
    OVERWRITTEN = 1.2, [A4],
        "bytes written over bytes charged", "measured on Linux",
        "two writes of the same 4 MiB were charged once";
    /// Times the memory that a data set must have to be free of it.
    TIMES_MEMORY = 2.0, [A7],
        "size of the files over memory available for the cache", "measured on Linux",
        "half of the random reads would still be cached";
    /// Rate of a pass over blank blocks against that over written ones.
    BLANK = 1.5, [A10],
        "rate before the first write over rate after", "measured on Linux",
        "never-written zram read 6.1 GB/s, written 1.0 GB/s";
    /// Share of a device that holds nothing.
    BLANK_SHARE = 0.05, [A10],
        "share of the reachable bytes that were never written", "measured on Linux",
        "the same 5 % as for holes";
    /// Bytes on the device over bytes written.
    SAVED = 0.9, [A11],
        "bytes on the device over bytes written", "measured on Linux",
        "btrfs with zstd wrote 2 MiB for 64 MiB of zeros";
    /// A second pass over the same blocks against the first.
    AGAIN = 1.5, [A12],
        "rate of the second pass over the first", "measured on Linux",
        "a virtual disk re-read 1.7 times faster from the host's cache";
    /// The same places once more against the first time, on a volume of a cloud.
    HYDRATED = 2.0, [F13],
        "rate of the second pass over the first", "measured on Linux",
        "caches give 1.5 or more; fetching a block from a snapshot costs tens of milliseconds";
    /// Share of the range that the first pass must have read for the second to meet the same
    /// blocks.
    COVERED = 0.9, [A12],
        "minimum share of the files that the first pass read", "chosen",
        "data unread in the first pass is equally slow in the second";
    /// Files of their own against shared ones.
    SHARING_COSTS = 2.0, [B19],
        "rate with separate files over the rate with shared files", "measured on Linux",
        "locks have cost a factor of 79; less than two may be the layout of the files";
    /// Operations in a device that is busy nearly always, whose writers do not wait for each other.
    ONE_AT_A_TIME = 2.0, [B18],
        "operations in a busy device, more than one at a time", "chosen",
        "one at a time is one; a submitted operation overlaps the next allocation";
    /// Share of the time from which a device is busy nearly always.
    NEARLY_BUSY = 0.9, [B18],
        "busy share of the device", "chosen",
        "writers that waited for each other left the disk idle for a third; 97 % with 10 at once \
         did not";
    /// Gain of the same places once more that leaves no other reading.
    ALLOCATION_SURE = 2.0, [B18],
        "rate of the same offsets again over the rate before, certain", "chosen",
        "1.6 times came from noise alone; files that were laid out gave 3 to 5 times";
    /// CPU time and waits for a CPU from which the workers are not held up by each other.
    WORKERS_BUSY = 0.8, [B18],
        "CPU time and waits of all workers over the time of their CPUs", "chosen",
        "four workers that allocated one at a time on two CPUs, and spun meanwhile, reached 0.46";
    /// Distance from a control group's limit within which it is the limit.
    CGROUP_NEAR = 0.05, [F4 F16],
        "relative distance from a limit", "measured on Linux",
        "a limit of 1000 gave 1010; bursts and edges on short runs add a little";
    /// Part of a phase from which a limit that held in it is the limit of the whole.
    PART_MOST = 0.5, [F4],
        "minimum share of the phase under the limit", "chosen",
        "below half of the time, most of the result comes from the time without the limit";
    /// Time that a CPU quota held threads back.
    CPU_THROTTLED = 0.10, [F4],
        "throttled time of a CPU quota over wall time", "chosen, like waits in B8",
        "from a tenth on, the quota determines latencies";
    /// Traffic of others, as a share of all.
    FOREIGN = 0.05, [C1 C3 C11 F9 F10],
        "share of traffic by others", "measured on Linux",
        "a smaller share is less than the variation of most devices";
    /// Share of requests that must have been traced for those of others to be taken away.
    TRACED_MOST = 0.9, [A13],
        "minimum share of requests traced", "chosen",
        "a sample of 13 % missed 6 % of a loop that had moved all of its bytes";
    /// Share of traffic by others from which the rest is no rate of the device.
    FOREIGN_MOST = 0.9, [F10],
        "share of bytes and requests of others, unverified", "chosen",
        "a tenth of the device's work gave a tenth of its usual rate";
    /// Smallest request that others are taken to make.
    FOREIGN_REQUEST = 4096.0, [C1],
        "minimum bytes of a request of others", "chosen",
        "filesystems and most programs read whole pages";
    /// Time without a request while an operation was in flight.
    HELD_S = 0.9, [F17],
        "minimum seconds without a request", "chosen",
        "snapshots are a second apart; a device with work has a request in every second";
    /// Length below which a result gives a caution.
    SHORT_S = 1.0, [G1],
        "seconds without the ramp, below: caution", "chosen",
        "queues build up, clocks and caches settle in some tenths of a second";
    /// Length below which a result is short but usable.
    USABLE_S = 8.0, [G1 G21],
        "seconds without the ramp, below: explanation", "measured on Linux",
        "the steps of `candor check` last about 10 s without their edges";
    /// Length of a buffered write test.
    BUFFERED_WRITE_S = 15.0, [G1],
        "minimum seconds of buffered writing", "measured on Linux",
        "three of the kernel's flush intervals of 5 s";
    /// Spread of the rates of seconds, or of repeats, that is shown.
    SPREAD = 0.10, [G2 G16],
        "coefficient of variation, shown", "measured on Linux",
        "quiet machines have less than 5 %, shared machines up to 10 %";
    /// Spread of the rates of seconds, or of repeats, that gives a caution.
    SPREAD_WIDE = 0.25, [G16],
        "coefficient of variation, caution", "chosen, from measurements",
        "the mean of such seconds varies by tens of percent from one run to the next";
    /// Seconds needed for a spread.
    SPREAD_SECONDS = 5.0, [A12 G2 G3],
        "minimum full seconds for a deviation", "chosen",
        "a deviation of fewer values is meaningless";
    /// Share of its interval that a sample must cover to count as full.
    FULL_SECOND = 0.9, [A12 F1 F2 F3 F5 F6 G2 G3 H5 S13],
        "share of the longest interval", "chosen",
        "the last interval is cut at the end of the phase";
    /// Change of the rate over the second half.
    TREND = 0.10, [G3],
        "fitted change over the second half", "measured on Linux",
        "a mean of such a rate depends on the length of the run by some percent";
    /// How clearly a trend must stand out from the scatter of the seconds.
    TREND_CLEAR = 4.0, [G3],
        "slope in standard errors", "chosen",
        "steady seconds with pure scatter reach this value less than once in some hundred runs";
    /// Operations left out behind the longest one.
    OMITTED = 0.01, [G4],
        "operations left out over operations done", "measured on Linux",
        "with one in a hundred left out, the 99th percentile is wrong";
    /// Latency from the intended start over latency from hand-over.
    INTENDED = 2.0, [G4],
        "p99 from the intended start over p99", "chosen",
        "below a factor of two both lead to the same conclusion";
    /// Samples beyond a percentile.
    BEYOND = 10.0, [G4 G5],
        "minimum samples beyond a percentile", "measured on Linux",
        "ten samples give the estimate to about a third";
    /// Bytes that can be read from, relative to what was read.
    REPEATED = 0.2, [G10],
        "size of the range over bytes read", "measured on Linux",
        "each block five times over: all but the first read may come from a cache below";
    /// Time taken by tracing requests.
    OBSERVED = 0.02, [G11],
        "time of tracing requests over the workers' time", "measured on Linux",
        "medians of equal runs differ by less than that only on a quiet machine";
    /// Length of a phase from which tracing requests is judged.
    OBSERVED_S = 0.5, [G11],
        "minimum seconds for the cost of tracing", "chosen",
        "a burst may use the whole accumulated budget, a quarter of a percent of a second";
    /// Writes among the traffic of a phase that only reads.
    ATIME = 0.01, [G13],
        "share of traffic written in a read phase", "measured on Linux",
        "journals and logs of other programs are smaller on a quiet machine";
    /// Shortest silence of a host that is reported.
    SILENT_S = 2.0, [G20], "longest silence of a host, in s",
        "4 answers per second (crates/fleet/src/node.rs)",
        "eight answers in a row are missing: no busy CPU and no lost packet explains that";
    /// Length of a job that did all its work, over its time limit.
    ENDED_EARLY = 0.9, [G21],
        "length of the job over its time limit, below", "chosen",
        "a run shorter by a tenth still matches the request";
    /// Bytes written at random places by several workers, over their range.
    REWRITTEN = 0.5, [G22],
        "bytes written at random over the range", "chosen",
        "with this number of uniform writes, a fifth hits a block written before";
    /// Content that repeats or compresses.
    ALIKE_PERCENT = 50.0, [G15],
        "percent of content that repeats or compresses", "chosen",
        "from half on, storage with data reduction does less than half of the work";
    /// How far the rate until the first worker's end lies above that of the whole time.
    STRAGGLED = 0.10, [G7],
        "rate while all workers were busy over the rate of the whole time", "measured on Linux",
        "12 s and 14 s are two rates that differ by a seventh";
    /// Shortest job whose tail means something.
    STRAGGLE_S = 1.0, [G14 G7],
        "minimum seconds for a tail", "chosen",
        "threads start and end some milliseconds apart";
    /// How near a gap must be to a power of 1.024 to smell of units.
    UNIT_GAP = 0.003, [G8],
        "distance from a power of 1.024", "measured on Linux",
        "MB and MiB are 4.86 % apart; published gaps of exactly that were units";
    /// Share of the workers' time in work that is no I/O.
    OTHER_WORK = 0.05, [G9],
        "share of the workers' time in other work", "measured on Linux",
        "32 of 38 s were spent in close(); quiet runs differ by a twentieth";
    /// Share of the time in which the process was stopped.
    STOPPED = 0.01, [G19],
        "share of the time in which the process was stopped", "chosen",
        "a rest of this length fills caches, queues and credits for the following time";
    /// Rate from which memory is measured.
    FAST_RATE = 1e9, [B15],
        "minimum bytes per second of the application", "chosen",
        "two CPUs of a virtual machine copy 6 to 9 GB/s; half of a sixth of this rate is far below";
    /// Length of a phase after which memory is measured.
    MEMORY_PHASE_S = 2.0, [B15],
        "minimum seconds of a phase", "chosen",
        "the measurement takes some 0.2 s, a tenth of this time";
    /// Share of what memory can copy.
    MEMORY_SHARE = 0.5, [B15],
        "rate over the rate of memory copies", "measured on Linux",
        "reads from the page cache do more than copy and rarely come closer";
    /// Share of the time in operations on names.
    NAMES_SHARE = 0.5, [H1],
        "share of the time in operations on names", "measured on Linux",
        "more than half: free data transfer would not double the rate";
    /// Lookups from which they say something of memory.
    NAMES_MIN = 100.0, [H2 H9],
        "minimum lookups", "chosen",
        "fewer names share one or two blocks of the inode table, which any process may have read";
    /// Bytes fetched for each name below which it was in memory.
    NAME_BYTES = 128.0, [H2 H7 A20],
        "bytes of the device per name, below: memory", "chosen",
        "an inode takes 256 bytes on ext4 and 512 on XFS, plus its name";
    /// Names new in the kernel's cache over the names that were looked up.
    DENTRIES_NEW = 0.5, [H2],
        "names new in the cache over names looked up, at or above: not cached", "chosen",
        "ext4 and XFS over loop: 0.00 for cached names, 1.00 for dropped names";
    /// Time for which a filesystem keeps changes in memory, in s.
    JOURNAL_S = 30.0, [H7],
        "maximum seconds between writes of the journal", "xfs(5), btrfs(5)",
        "XFS and btrfs write their log every 30 s without an earlier request";
    /// The same of ext3 and ext4.
    JOURNAL_EXT_S = 5.0, [H7],
        "seconds between commits of the journal of ext4", "ext4(5), option commit",
        "the default; the mount option sets another";
    /// Length of a phase over that time.
    JOURNALS = 5.0, [H7],
        "minimum journal intervals in a phase", "chosen",
        "the last of five intervals is a fifth of the names, the maximum that can be missing";
    /// Deleted files whose inodes were still in use.
    DELETES_LEFT = 0.05, [H8],
        "share of deleted files not freed at the end", "chosen",
        "XFS frees them in batches after the call: 176 of 200 were left, none on ext4";
    /// One directory for all workers against a directory each.
    SHARED_SLOWER = 1.3, [H9],
        "rate in separate directories over the rate in a shared directory", "chosen",
        "repeats of either differ by less than a fifth";
    /// A second pass over names against the first.
    NAMES_AGAIN = 2.0, [H2],
        "rate of the second pass over the first", "measured on Linux",
        "names in memory are found ten times as fast";
    /// Names in a directory.
    MANY_NAMES = 10000.0, [H3],
        "names in one directory", "measured on Linux",
        "from this number on, directories are trees of blocks under one lock";
    /// How often data must have been read for passes to be told apart.
    PASSES = 1.5, [H5],
        "minimum bytes read over the size of the files", "chosen",
        "with less, the second pass weighs less than the first";
    /// Bytes fetched over the size of the files.
    READ_ONCE = 0.5, [H5],
        "minimum bytes fetched over the size of the files", "chosen",
        "random reads of one time the size reach 63 % of it; with less, most was cached before";
    /// Hits among what a second cache was asked.
    CACHE_HITS = 0.1, [A15],
        "share of requests that a second cache answered", "measured on Linux",
        "one in ten from a tier many times as fast is the beginning of a mix";
    /// Requests from which a share of hits means something.
    CACHE_LOOKUPS = 1000.0, [A15],
        "minimum requests to a second cache", "chosen",
        "reading file metadata alone causes fewer";
    /// Workers on other nodes than the device's.
    FAR = 0.2, [B11],
        "share of the workers on other NUMA nodes", "measured on Linux",
        "placement changes results by 10 to 40 %; a fifth of the workers by a tenth of this";
    /// Operations in flight with which a CPU sleeps between them.
    FEW_IN_FLIGHT = 2.0, [B12],
        "maximum operations in flight", "chosen",
        "with more, the next completion comes before the CPU enters a deep state";
    /// Time to wake up relative to the mean latency.
    WAKE_SHARE = 0.1, [B12],
        "time to leave the deepest idle state over mean latency", "chosen, from measurements",
        "latencies at depth one varied by a factor of two; a tenth is visible in any comparison";
    /// Bytes on the fast tier among all.
    FAST_TIER = 0.1, [E6],
        "share of bytes on the fast tier", "measured on Linux",
        "below this share the slow tier did the work";
    /// Queues of all members over what the workers kept in flight.
    MEMBERS_SAW = 0.5, [E7],
        "operations in the members over operations in flight", "chosen, from measurements",
        "120 in flight should be 15 on each of eight; the rest is lost above the members";
    /// Wait of the slowest member over that of the others.
    SLOW_MEMBER = 3.0, [E7],
        "minimum mean wait at the slowest member over the mean wait of the others",
        "chosen, checked on several kernels",
        "two equal disks were within 1 %; next to a disk of 1 ms, a disk of 20 ms took 5 to 15 \
         times as long";
    /// By how much it must be slower.
    SLOW_MEMBER_MS = 0.1, [E7],
        "minimum milliseconds by which the slowest member is slower", "chosen",
        "power states and interrupts of other CPUs cost some ten microseconds";
    /// Busy time of the others over that of the slowest member that shows who waits for whom.
    MEMBER_IDLE = 0.8, [E7],
        "maximum busy time of the others over the slowest member's", "chosen",
        "by chance one of two equal disks may have the longer queue for seconds, but both are busy";
    /// Requests that let chance even out, in squares of what is in flight.
    CHANCE_OUT = 10.0, [E7],
        "minimum requests to the members over the square of operations in flight", "chosen",
        "queues of equal disks drift apart and back within the square of the operations in flight";
    /// Seconds that a plateau must last.
    PLATEAU_S = 10.0, [F5],
        "minimum full seconds of a plateau", "chosen, from measurements",
        "a few equal seconds are chance";
    /// Distance from a number that people choose.
    ROUND = 0.01, [F5],
        "relative distance from a round number", "chosen",
        "limiters keep their rate within a percent";
    /// Discarded part of a drive.
    EMPTIED = 0.5, [F7],
        "bytes discarded since boot over the size of the drive", "chosen, from measurements",
        "a half-empty drive has free blocks for a write test of equal size";
    /// Share of the time in which a device had something to do.
    NEVER_IDLE = 0.99, [G12],
        "share of the time that a device was busy", "measured on Linux",
        "100 % in sysstat";
    /// Rate of a phase over that of an earlier one on a device that was busy in both.
    BUSY_AND_MORE = 1.5, [G12],
        "rate over the rate of an earlier phase", "chosen",
        "half as much again from a device without idle time before";
    /// A sequential phase tells of operations this many times smaller than its own.
    MUCH_SMALLER = 4.0, [],
        "minimum size of sequential operations over the size of small operations", "chosen",
        "for nearly equal sizes, each bounds the other in both directions";
    /// Queue of the device over what was asked for, from which it holds requests of others.
    MORE_IN_DEVICE = 1.05, [B5],
        "maximum device queue over requested depth for this run alone", "chosen",
        "the kernel adds up milliseconds, and reads its counters slightly later";
    /// Rate of a host over the median of the others'.
    SLOW_HOST = 0.8, [B20],
        "rate of a host over the median of the other hosts, below: slow", "chosen",
        "equal hosts on one server differ by some percent; a fifth is not chance";
    /// Speed of a host's link over the median of the others'.
    SLOW_LINK = 0.9, [D11],
        "speed of a host's link over the median of the others, below: slower", "chosen",
        "speeds of links differ by a factor of 2.5 or more, and packet overhead by a few percent";
    /// Difference of the shares that hosts read from storage.
    COVERAGE_APART = 0.5, [A21],
        "minimum difference between hosts in the share of bytes from storage", "chosen",
        "a smaller difference is a cache that filled on all hosts during the phase";
    /// Time between the starts of hosts.
    STARTS_APART = 0.01, [G14],
        "time between the first and the last start over the time of the phase", "measured on Linux",
        "one percent of the time with fewer hosts is one percent of the rate";
    /// Time between the ends of hosts that had a fixed amount to do.
    ENDS_APART = 0.1, [G14],
        "time between the first and the last host's end over the time of the phase", "judge, after \
            G7",
        "this distance separates a rate with all workers from a rate of the whole time";
    /// Share of the rate that the plan asks for, from which the plan is the limit.
    PACED = 0.97, [],
        "measured over requested rate", "chosen",
        "rate limiters of candor keep their rate well within a percent";
}

/// Every threshold of every rule.
pub fn all() -> impl Iterator<Item = &'static Threshold> {
    ALL.iter().chain(objects::ALL)
}

pub mod objects;
#[cfg(test)]
mod tests;
