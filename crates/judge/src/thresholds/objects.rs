//! Thresholds of the rules on object stores.
//!
//! "Object notes" are the project's notes on S3 servers and clients, with measurements of real
//! servers.

use super::Threshold;

thresholds! {
    /// Fewer requests give no shares.
    REQUESTS_MIN = 100.0, [S3 S4 S6 S7 S8 S9 S11 S21 S22 S24 S25 S26 S32],
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
    /// Seconds that show a flat rate.
    REFUSED_SECONDS = 5.0, [S13],
        "minimum full seconds of a flat rate", "chosen",
        "fewer seconds are equal by chance";
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
    CLIENT_IDLE = 0.5, [S5 S20],
        "CPU time of each worker over time, below: idle", "object notes",
        "a client that is busy half of the time adds its own latency";
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
    /// Largest share of an address, times the number of addresses.
    PEER_SHARE = 1.5, [S3],
        "largest share of an address over an even share, maximum", "object notes",
        "connections that are dealt round robin differ by one; chance gives a few percent";
    /// Median to the first byte over the fastest server's.
    PEER_SLOW = 1.5, [S4],
        "median to the first byte over the fastest server's, maximum", "object notes",
        "nodes of one store differ by some percent";
    /// Wait for a connection over the latency.
    CONNECTION_WAIT = 0.1, [S6],
        "wait for a connection over the latency", "object notes",
        "a free connection takes no time; a tenth of the latency shows in every percentile";
    /// New connections per request.
    REOPENED = 0.02, [S7],
        "new connections per request, maximum", "object notes",
        "servers that end a connection after 100 requests stay below it";
    /// Requests that opened a connection.
    COLD_SHARE = 0.01, [S8],
        "share of requests that opened a connection, maximum", "object notes",
        "fewer show only beyond the 99th percentile";
    /// Latency of such requests over the latency of the others.
    COLD_TIMES = 2.0, [S8],
        "their latency over the latency of the others, maximum", "object notes",
        "on a fast network a handshake is a small part of a request";
    /// Reads per object.
    REREADS = 1.1, [S9],
        "reads per object, maximum", "object notes",
        "with fewer repetitions a cache changes the mean by less than a tenth";
    /// Reads per object from which most are repetitions.
    REREADS_MOST = 2.0, [S9],
        "reads per object, at or above: most are repetitions", "chosen",
        "from two reads per object on, half of the reads are repetitions";
    /// Latency of later reads over the latency of first reads.
    REREAD_FASTER = 0.7, [S9],
        "latency of later reads over first reads, maximum for a cache", "object notes",
        "latencies of one server vary by a tenth between reads; memory is many times as fast";
    /// Age of an object that servers may still hold in memory.
    READ_SOON_S = 600.0, [S10],
        "minimum age of an object at its first read, in seconds", "object notes",
        "servers write dirty data out within a minute, and replace it by other data after a while";
    /// Data over the servers' memory.
    CACHE_MEMORY = 2.0, [S10],
        "bytes of the objects over the servers' memory, minimum", "object notes",
        "a cache holds at most half of such data";
    /// ETags that are equal.
    EQUAL_OBJECTS = 0.01, [S11],
        "share of objects with equal content", "object notes",
        "deduplication of one object in a hundred saves one percent of the work";
    /// Seconds between the clocks.
    CLOCKS_APART_S = 5.0, [S16],
        "difference of the clocks in seconds, maximum", "object notes",
        "the header Date has steps of a second, and answers take up to some seconds";
    /// Spread of the rates of connections under a cap.
    CAP_SPREAD = 0.1, [S20],
        "standard deviation over mean of the rates of connections, maximum", "object notes",
        "a policer treats flows alike; shared queues do not";
    /// Time in transfers under a cap.
    CAP_TRANSFER = 0.7, [S20],
        "share of the time in transfers, minimum for a cap", "chosen",
        "with more time in waits, latency explains the rate";
    /// Rate of a connection under a cap.
    CAP_RATE_MIN = 1000000.0, [S20],
        "mean rate of a connection in bytes per second, minimum for a cap", "chosen",
        "known caps per connection are 10 MB/s and more";
    /// Time to the first byte.
    FIRST_BYTE = 0.7, [S21],
        "share of the time to the first byte, maximum", "object notes",
        "from here on twice the size costs less than a third more time";
    /// Ranges that touch two parts.
    ACROSS_PARTS = 0.01, [S22],
        "share of ranges that touch two parts", "chosen",
        "the last range of an object may do so once";
    /// Requests per second to one prefix.
    HOT_PREFIX_RATE = 2000.0, [S23],
        "requests per second to a single prefix, maximum", "object notes",
        "Amazon S3 serves 3500 uploads per second and prefix, and less while it scales";
    /// Prefixes in which requests were refused.
    REFUSED_PREFIXES = 0.2, [S23],
        "share of prefixes with refusals, maximum for a hot prefix", "object notes",
        "a limit per account or node refuses requests in all prefixes";
    /// Uploads that took a second.
    CONSENT_WAITS = 0.05, [S24],
        "share of uploads that took about 1 s", "object notes",
        "curl waits 1 s for consent; chance puts few latencies within 5 % of it";
    /// Requests in flight over the permitted number.
    IN_FLIGHT_WAVES = 0.7, [S25],
        "mean requests in flight over the permitted number, minimum", "object notes",
        "groups with latencies of one distribution keep about half of their slots busy";
    /// Permitted requests from which waves are possible.
    WAVES_MIN = 4.0, [S25],
        "minimum permitted requests in flight for waves", "chosen",
        "with fewer slots the pauses of the client itself are a large share";
    /// Requests near 40 ms.
    NEAR_40_MS = 0.05, [S32],
        "share of requests that took about 40 ms", "object notes",
        "all GETs of 4 KiB took 44.0 ms from one server; chance puts few within 2.5 ms of 40 ms";
    /// Delayed acknowledgements per request near 40 ms.
    ACKS_DELAYED = 0.5, [S32],
        "delayed acknowledgements per request of about 40 ms, minimum", "object notes",
        "the counter rose by exactly one per request";
}
