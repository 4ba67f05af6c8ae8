//! Options that the examples of other options need.

use super::super::{Row, TABLE};
use candor_front::evidence::{Partners, partners};

/// Words of a job, and options whose examples need them instead of the derived words.
const SURROUNDINGS: &Partners = &[
    ("bsrange=4k-16k", &["bs_unaligned"]),
    ("cpus_allowed=0-1 numjobs=2", &["cpus_allowed_policy"]),
    ("exitall=1", &["exit_what"]),
    ("filename=/dev/zoned size=1g", &["zonemode"]),
    ("flow=2", &["flow_id", "flow_sleep"]),
    ("iodepth=8", &["io_submit_mode"]),
    ("ioengine=cpuio cpuload=20", &["cpuload"]),
    ("ioengine=cpuio cpuload=50", &["exit_on_io_done", "cpuchunks", "cpumode"]),
    ("ioengine=exec program=true", &["program", "arguments", "grace_time", "std_redirect"]),
    (
        "ioengine=http filename=/b/o",
        &["https", "http_host", "http_mode", "http_object_mode", "http_verbose"],
    ),
    ("ioengine=http filename=/b/o http_pass=x", &["http_user"]),
    ("ioengine=http filename=/b/o http_user=x", &["http_pass"]),
    ("ioengine=http filename=/b/o http_mode=swift", &["http_swift_auth_token"]),
    ("ioengine=http filename=/b/o http_mode=s3 http_s3_key=x", &["http_s3_keyid"]),
    ("ioengine=http filename=/b/o http_mode=s3 http_s3_keyid=x", &["http_s3_key"]),
    (
        "ioengine=http filename=/b/o http_mode=s3 http_s3_keyid=x http_s3_key=y",
        &["http_s3_security_token"],
    ),
    (
        "ioengine=http filename=/b/o http_mode=s3",
        &[
            "http_s3_region",
            "http_s3_sse_customer_key",
            "http_s3_sse_customer_algorithm",
            "http_s3_storage_class",
        ],
    ),
    ("ioengine=io_uring sqthread_poll=1", &["sqthread_poll_cpu"]),
    ("ioengine=io_uring_cmd", &["md_per_io_size", "pi_act", "pi_chk", "apptag", "apptag_mask"]),
    ("ioengine=io_uring_cmd rw=randtrim", &["num_range"]),
    ("ioengine=io_uring_cmd rw=write write_mode=zeroes", &["deac"]),
    ("ioengine=libaio direct=1", &["iodepth"]),
    (
        "ioengine=libaio direct=1 cmdprio_percentage=20",
        &["cmdprio_class", "cmdprio_hint", "cmdprio"],
    ),
    ("ioengine=libaio rw=write direct=1", &["atomic"]),
    ("ioengine=pvsync2 direct=1", &["hipri"]),
    ("ioengine=pvsync2 hipri=1 direct=1", &["hipri_percentage"]),
    ("ioengine=sg rw=write sg_write_mode=write_stream", &["stream_id"]),
    ("latency_target=1ms", &["latency_window", "latency_percentile", "latency_run"]),
    ("latency_window=1s", &["latency_target"]),
    ("loops=2", &["unlink_each_loop"]),
    ("mem=mmaphuge", &["hugepage-size"]),
    ("nrfiles=4", &["openfiles"]),
    ("numjobs=2", &["offset_increment"]),
    ("offset=10% filename=/tmp/full", &["offset_align"]),
    ("prio=3", &["priohint"]),
    ("rate_iops=1000 thinktime=1ms", &["rate_ignore_thinktime"]),
    ("rate_iops_min=10", &["rate_cycle"]),
    ("read_iolog=/tmp/x.bin:/tmp/y.bin", &["merge_blktrace_file"]),
    (
        "read_iolog=/tmp/x.bin:/tmp/y.bin merge_blktrace_file=/tmp/z.log",
        &["merge_blktrace_scalars", "merge_blktrace_iters"],
    ),
    ("runtime=10s", &["time_based"]),
    ("runtime=60s time_based", &["steadystate_duration"]),
    ("rw=randread norandommap", &["random_generator", "random_distribution", "percentage_random"]),
    ("rw=randread random_distribution=sequence:2,0,1", &["random_sequence_stride"]),
    ("rw=randread:4", &["rw_sequencer"]),
    ("rw=randrw", &["rwmixread", "rwmixwrite"]),
    ("rw=randrw bs=4k,8k", &["bs_is_seq_rand"]),
    ("rw=randwrite", &["sprandom"]),
    ("rw=read", &["flow", "disable_lat", "disable_clat", "disable_slat", "disable_bw_measurement"]),
    ("rw=trimwrite", &["block_error_percentiles"]),
    (
        "rw=write",
        &[
            "fill_device",
            "zero_buffers",
            "refill_buffers",
            "scramble_buffers",
            "buffer_pattern",
            "buffer_compress_percentage",
            "dedupe_percentage",
            "file_append",
            "write_hint",
            "fallocate",
            "create_on_open",
            "overwrite",
            "fsync",
            "fdatasync",
            "write_barrier",
            "sync_file_range",
            "end_fsync",
            "end_syncfs",
            "fsync_on_close",
            "sync",
            "verify",
        ],
    ),
    (
        "rw=write dedupe_percentage=50 dedupe_mode=working_set",
        &["dedupe_working_set_percentage", "dedupe_global"],
    ),
    ("rw=write filename=/dev/nosuchdevice", &["allow_mounted_write"]),
    ("rw=write verify=crc32c", &["verify_only"]),
    ("rw=write verify=crc32c continue_on_error=verify", &["verify_fatal"]),
    ("rw=write verify=crc32c trim_backlog=16", &["trim_percentage"]),
    ("rw=write verify=crc32c trim_percentage=10", &["trim_backlog"]),
    ("rw=write verify=crc32c verify_backlog=16", &["verify_backlog_batch"]),
    ("rw=write verify=pattern verify_pattern=%o", &["verify_pattern_interval"]),
    ("ss_dur=10s runtime=60s time_based", &["steadystate"]),
    ("write_bw_log=x", &["per_job_logs", "log_avg_msec"]),
    ("write_hist_log=x", &["log_hist_msec"]),
    ("write_hist_log=x log_hist_msec=500", &["log_hist_coarseness"]),
    (
        "write_lat_log=x",
        &[
            "log_offset",
            "log_prio",
            "log_compression",
            "log_store_compressed",
            "log_alternate_epoch",
        ],
    ),
    ("write_lat_log=x log_alternate_epoch=1", &["log_alternate_epoch_clock_id"]),
    ("write_lat_log=x log_avg_msec=500", &["log_max_value"]),
    ("write_lat_log=x log_offset=1", &["log_issue_time"]),
    ("zonemode=strided zonesize=64k", &["zonesize", "zonerange", "zoneskip"]),
    ("zonemode=zbd filename=/dev/zoned size=1g", &["ignore_zone_limits"]),
    (
        "zonemode=zbd zonesize=1m",
        &[
            "zonecapacity",
            "read_beyond_wp",
            "max_open_zones",
            "zone_reset_frequency",
            "write_zone_remainder",
        ],
    ),
    ("zonemode=zbd zonesize=1m max_open_zones=8", &["job_max_open_zones"]),
    ("zonemode=zbd zonesize=1m rw=write continue_on_error=io", &["recover_zbd_write_error"]),
    ("zonemode=zbd zonesize=1m zone_reset_frequency=0.1", &["zone_reset_threshold"]),
];

/// Words that the example of an option needs: a line of the table, or its parent with the
/// parent's words, or its engine.
pub fn of(row: &Row) -> String {
    let own = partners(SURROUNDINGS, row.name);
    if own.is_empty() { derived(row) } else { own.to_owned() }
}

/// True if the example works in a job without other options.
pub fn is_alone(row: &Row) -> bool {
    row.engines.is_empty() && partners(SURROUNDINGS, row.name).is_empty()
}

fn derived(row: &Row) -> String {
    match (TABLE.find(row.parent), row.engines.first()) {
        (Some(parent), _) => format!("{} {}={}", of(parent), parent.name, parent.example),
        (None, Some(engine)) => format!("ioengine={engine}"),
        (None, None) => String::new(),
    }
}
