//! Thresholds of the rules on object stores.
//!
//! "Object notes" are the project's notes on S3 servers and clients, with measurements of real
//! servers.

use super::Threshold;

thresholds! {
    /// Fewer requests give no shares.
    REQUESTS_MIN = 100.0, [S26],
        "minimum requests for shares", "chosen",
        "one percent of fewer requests is less than one request";
    /// Bytes on the connections over bytes of objects.
    TCP_SEEN = 0.95, [S12],
        "minimum share of the bytes that TCP counters saw", "chosen, after disks",
        "heads and checksums add bytes, so fewer bytes than the objects have is a missing counter";
    /// Failed operations.
    FAILED = 0.001, [S15],
        "share of failed operations", "object notes",
        "one failure in a thousand changes a rate by less than its noise";
    /// Answers that a cache between client and server gave.
    CACHE_BETWEEN = 0.05, [S17],
        "share of answers from a cache on the way, at or above: its number", "chosen, after disks",
        "as for page caches: a smaller share has less effect than the noise of most servers";
    /// Refused attempts from which throttling is reported.
    REFUSED = 0.001, [S13],
        "share of refused attempts, for a caution", "object notes",
        "clients see single refusals while a store adds capacity";
    /// Refused attempts from which the limiter is the limit.
    REFUSED_LIMIT = 0.01, [S13],
        "share of refused attempts, for a limit", "object notes",
        "a server that refuses one attempt in a hundred has no more to give";
    /// Variation of the rate between seconds under a limiter.
    REFUSED_FLAT = 0.02, [S13],
        "variation of the rate between seconds under a limiter, maximum", "object notes",
        "limiters keep their rate within a percent; servers vary by several percent";
    /// Attempts per operation.
    RETRIES = 1.001, [S14],
        "attempts per operation, maximum", "object notes",
        "one repetition in a thousand shows in the 99.9th percentile only";
    /// Bytes on the network over useful bytes.
    WIRE_BYTES = 1.05, [S14],
        "bytes on the network over bytes of successful bodies, maximum", "object notes",
        "TLS and chunks with signatures add 1 to 2 %";
    /// Bytes of heads of a request and its answer.
    HEAD_BYTES = 2048.0, [S14],
        "bytes of the heads of a request and its answer", "chosen, from measurements",
        "signed requests have heads of 0.6 to 0.9 KB, answers of 0.3 to 0.8 KB";
    /// Operations without work.
    IDLE = 0.001, [S26],
        "share of operations without work", "object notes",
        "one idle operation in a thousand changes a rate by less than its noise";
    /// Operations without work that are the result.
    IDLE_MOST = 0.5, [S26],
        "share of operations without work, majority", "chosen",
        "from half on, the rate is mainly the rate of idle requests";
    /// CPU share of a worker that is the limit.
    WORKER_BUSY = 0.85, [S1],
        "CPU time of a worker over time, at or above: busy", "object notes",
        "a worker of an event loop waits for the network a part of the time even if CPU is short";
    /// Share of all CPUs of the client.
    HOST_BUSY = 0.9, [S1],
        "share of the client's CPUs in use, at or above: busy", "object notes",
        "as for disks: the rest is the scheduler's";
    /// CPU time in hashes and TLS.
    CRYPTO_SHARE = 0.3, [S2],
        "share of the CPU time in hashes and TLS", "object notes",
        "a third less CPU per byte is worth a change of settings";
    /// Rate over what the CPU can hash or encrypt.
    CRYPTO_RATE = 0.8, [S2],
        "rate per worker over the CPU's rate of hashing or encryption", "object notes",
        "requests and copies take the rest of the core";
    /// Requests in flight over the permitted number.
    IN_FLIGHT_FULL = 0.95, [S5],
        "mean requests in flight over the permitted number, full", "object notes",
        "a slot is refilled within microseconds, a request takes at least 100";
    /// CPU share below which the client is idle.
    CLIENT_IDLE = 0.5, [S5],
        "CPU time of each worker over time, below: idle", "object notes",
        "a client that is busy half of the time adds latency of its own";
    /// Latency with more in flight over the latency with less.
    LATENCY_FLAT = 1.2, [S5],
        "latency over the latency with fewer requests in flight, maximum", "chosen",
        "latencies of one server vary by a tenth between phases; queues double them";
    /// In flight of a phase that shows the latency with less load.
    TRIAL_LESS = 0.5, [S5],
        "requests in flight of another phase over this phase's, maximum", "chosen",
        "a smaller step hides in the noise of latencies";
    /// Time in which a window stopped connections.
    TCP_WINDOW_LIMITED = 0.2, [S19],
        "share of the busy time that a window stopped", "object notes",
        "the kernel counts these times in steps of 4 ms";
    /// Window per round trip over the rate.
    TCP_WINDOW_NEAR = 1.3, [S19],
        "window over round-trip time and rate, maximum for a limit", "object notes",
        "a buffer behind a full link showed half of the time limited at twice the rate";
    /// Bytes that were sent again.
    RESENT = 0.001, [S19],
        "share of bytes sent again, for a caution", "object notes",
        "links without fault lose less than one packet in ten thousand";
    /// Bytes that were sent again so that loss limits.
    RESENT_LIMIT = 0.01, [S19],
        "share of bytes sent again, for a limit", "chosen",
        "congestion control halves the window at each loss: 1 % keeps it at some packets";
}
