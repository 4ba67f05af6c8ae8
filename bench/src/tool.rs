//! Starts a tool, waits for it, and reads its result.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::interrupt;
use crate::targets::Folder;
use crate::workload::Workload;

/// Beyond the time asked for, a tool gets this much for starting and ending; then it hangs.
const GRACE: Duration = Duration::from_secs(30);

/// Result of one run of one tool.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Operations that it counted.
    pub ops: f64,
    /// Operations per second, by its own clock.
    pub iops: f64,
    /// User CPU seconds of the thread that does the I/O, by the tool's own account.
    pub own_user_s: f64,
    /// User CPU seconds of the whole process, by the kernel's account.
    pub process_user_s: f64,
    /// System CPU seconds of the whole process, by the kernel's account.
    pub process_system_s: f64,
    /// Median latency.
    pub p50_ns: Option<f64>,
    /// 99th percentile.
    pub p99_ns: Option<f64>,
}

/// Where the tools are.
pub struct Tools {
    /// fio.
    pub fio: PathBuf,
    /// candor; absent where it is left out.
    pub candor: Option<PathBuf>,
    /// Folder of the bare loops.
    pub bare: PathBuf,
}

/// A tool, ready to be run again and again.
pub struct Invocation {
    program: PathBuf,
    words: Vec<String>,
    read: fn(&Value) -> Option<Outcome>,
    /// candor writes its report to a file; the others print it.
    report: Option<PathBuf>,
    limit: Duration,
}

impl Invocation {
    /// fio on a workload, with one of its settings.
    pub fn fio(tools: &Tools, work: &Workload, variant: &str, at: &Path, seconds: f64) -> Self {
        let time = format!("--time_based --runtime={}ms", (seconds * 1000.0).round());
        let common = "--name=x --norandommap --randrepeat=0 --thread=1 --disk_util=0 \
                      --output-format=json";
        let [rw, bs] = work.access;
        let mut words = split(&[common, work.fio, variant, &time]);
        words.extend([format!("--rw={rw}"), format!("--bs={bs}")]);
        words.push(format!("--filename={}", at.display()));
        Invocation {
            program: tools.fio.clone(),
            words,
            read: read_fio,
            report: None,
            limit: limit(seconds),
        }
    }

    /// The bare loop of a workload, or candor with other arguments; none where it has neither.
    pub fn bare(
        tools: &Tools,
        work: &Workload,
        at: &Path,
        seconds: f64,
        report: PathBuf,
    ) -> Option<Self> {
        let (name, rest) = work.bare.split_once(' ')?;
        if name == "candor" {
            let mut candor = Invocation::candor(tools, work, at, seconds, report)?;
            candor.words.extend(split(&[rest]));
            return Some(candor);
        }
        let mut words = vec![at.display().to_string(), seconds.to_string()];
        words.extend(split(&[rest]));
        Some(Invocation {
            program: tools.bare.join(name),
            words,
            read: read_bare,
            report: None,
            limit: limit(seconds),
        })
    }

    /// candor on a workload; none where it is left out.
    pub fn candor(
        tools: &Tools,
        work: &Workload,
        at: &Path,
        seconds: f64,
        report: PathBuf,
    ) -> Option<Self> {
        let program = tools.candor.clone()?;
        let [rw, bs] = work.access;
        let mut words = split(&["run --ramp 0s --rw", rw, "--bs", bs, work.candor]);
        words.extend(["--target".to_owned(), at.display().to_string()]);
        words.extend(["--seconds".to_owned(), seconds.to_string()]);
        words.extend(["--json".to_owned(), report.display().to_string()]);
        Some(Invocation {
            program,
            words,
            read: read_candor,
            report: Some(report),
            limit: limit(seconds),
        })
    }

    /// The command line as one would type it.
    pub fn text(&self) -> String {
        let name = self.program.file_name().unwrap_or(self.program.as_os_str());
        format!("{} {}", name.display(), self.words.join(" "))
    }

    /// Runs it once.
    pub fn run(&self, folder: &Folder) -> Result<Outcome, String> {
        let (out, err) = (folder.join("stdout"), folder.join("stderr"));
        if let Some(report) = &self.report {
            // A report of an earlier run must not pass for this one's.
            let _ = fs::remove_file(report);
        }
        let create = |path| File::create(path).map_err(|e| format!("the temporary folder: {e}"));
        let child = Command::new(&self.program)
            .args(&self.words)
            .stdin(Stdio::null())
            .stdout(create(&out)?)
            .stderr(create(&err)?)
            .spawn()
            .map_err(|e| format!("{}: {e}", self.program.display()))?;
        let usage = wait(&child, self.limit, || ()).map_err(|what| {
            let said = fs::read_to_string(&err).unwrap_or_default();
            format!("{what}: {}\n{}", self.text(), said.trim_end())
        })?;
        let answer = fs::read_to_string(self.report.as_ref().unwrap_or(&out));
        let unreadable = || format!("no result could be read from: {}", self.text());
        let answer = answer.map_err(|_| unreadable())?;
        let outcome = json_in(&answer).and_then(|v| (self.read)(&v)).ok_or_else(unreadable)?;
        Ok(Outcome {
            process_user_s: seconds(usage.ru_utime),
            process_system_s: seconds(usage.ru_stime),
            ..outcome
        })
    }
}

fn limit(seconds: f64) -> Duration {
    GRACE + Duration::from_secs_f64(seconds)
}

fn split(parts: &[&str]) -> Vec<String> {
    parts.iter().flat_map(|p| p.split_whitespace()).map(str::to_owned).collect()
}

/// In seconds.
pub fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// The first JSON object of a text; fio may print warnings before it.
pub fn json_in(text: &str) -> Option<Value> {
    let start = text.find('{')?;
    serde_json::Deserializer::from_str(&text[start..]).into_iter().next()?.ok()
}

/// Waits for a child, with a look around now and then, and gives its resource usage; on an
/// interrupt or a hang it is ended first.
pub fn wait(
    child: &Child,
    limit: Duration,
    mut meanwhile: impl FnMut(),
) -> Result<libc::rusage, String> {
    let pid = child.id() as libc::pid_t;
    let began = Instant::now();
    let mut ended = None;
    loop {
        let mut status = 0;
        // SAFETY: all-zero is a valid rusage.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to live values; the child is ours and not yet waited for.
        let got = unsafe { libc::wait4(pid, &raw mut status, libc::WNOHANG, &raw mut usage) };
        if got == pid {
            return match ended {
                Some(why) => Err(why),
                None if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 => Ok(usage),
                None => Err(format!("ended with wait status {status:#x}")),
            };
        }
        if got < 0 {
            return Err(format!("wait4: {}", std::io::Error::last_os_error()));
        }
        if ended.is_none() && (interrupt::asked() || began.elapsed() > limit) {
            let interrupted = interrupt::asked();
            ended = Some(if interrupted { "interrupted" } else { "did not end" }.to_owned());
            // SAFETY: the child has not been waited for, so the number is still its own.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(20));
        meanwhile();
    }
}

/// The figures of reads, or of writes where nothing was read.
fn busiest<'a>(of: &'a Value, ops: &str) -> Option<&'a Value> {
    let busy = |direction: &&Value| direction.get(ops).and_then(Value::as_f64) > Some(0.0);
    ["read", "write"].into_iter().filter_map(|name| of.get(name)).find(busy)
}

fn read_fio(json: &Value) -> Option<Outcome> {
    let job = json.get("jobs")?.get(0)?;
    let done = busiest(job, "total_ios")?;
    let runtime_s = done.get("runtime")?.as_f64()? / 1e3;
    let percentile = |p: &str| done.get("clat_ns")?.get("percentile")?.get(p)?.as_f64();
    Some(Outcome {
        ops: done.get("total_ios")?.as_f64()?,
        iops: done.get("iops")?.as_f64()?,
        own_user_s: job.get("usr_cpu")?.as_f64()? / 100.0 * runtime_s,
        process_user_s: 0.0,
        process_system_s: 0.0,
        p50_ns: percentile("50.000000"),
        p99_ns: percentile("99.000000"),
    })
}

fn read_bare(json: &Value) -> Option<Outcome> {
    let figure = |name: &str| json.get(name)?.as_f64();
    Some(Outcome {
        ops: figure("ops")?,
        iops: figure("iops")?,
        own_user_s: figure("user_s")?,
        process_user_s: 0.0,
        process_system_s: 0.0,
        p50_ns: figure("p50_ns"),
        p99_ns: figure("p99_ns"),
    })
}

fn read_candor(json: &Value) -> Option<Outcome> {
    let measurement = json.get("phases")?.get(0)?.get("measurements")?.get(0)?;
    let done = busiest(measurement.get("operations")?, "ops")?;
    let workers = measurement.get("per_worker")?.as_array()?;
    let percentile = |wanted: f64| {
        let all = done.get("latency")?.get("percentiles")?.as_array()?;
        all.iter().find(|p| p[0].as_f64() == Some(wanted))?.get(1)?.as_f64()
    };
    Some(Outcome {
        ops: done.get("ops")?.as_f64()?,
        iops: done.get("ops_per_s")?.as_f64()?,
        own_user_s: workers.iter().filter_map(|w| w.get("cpu_user_ns")?.as_f64()).sum::<f64>()
            / 1e9,
        process_user_s: 0.0,
        process_system_s: 0.0,
        p50_ns: percentile(50.0),
        p99_ns: percentile(99.0),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_of_each_tool_is_read() {
        let fio = json_in(
            "a warning\n{\"jobs\": [{\"usr_cpu\": 25.0, \"read\": {\"total_ios\": 100, \
             \"iops\": 50.0, \"runtime\": 2000, \
             \"clat_ns\": {\"percentile\": {\"50.000000\": 7}}}}]}",
        );
        let fio = fio.and_then(|v| read_fio(&v)).expect("all is there");
        assert!(fio.ops == 100.0 && fio.own_user_s == 0.5 && fio.p50_ns == Some(7.0));
        let candor = json!({"phases": [{"measurements": [{
            "operations": {"read": {"ops": 0}, "write": {"ops": 10, "ops_per_s": 5.0,
                "latency": {"percentiles": [[50.0, 7], [99.0, 9]]}}},
            "per_worker": [{"cpu_user_ns": 1_000_000_000_u64}, {"cpu_user_ns": 500_000_000}],
        }]}]});
        let candor = read_candor(&candor).expect("all is there");
        assert!(candor.iops == 5.0 && candor.own_user_s == 1.5 && candor.p99_ns == Some(9.0));
        assert!(read_bare(&json!({"ops": 1})).is_none());
    }

    #[test]
    fn a_failing_tool_is_an_error() {
        let run = |name: &str| {
            wait(&Command::new(name).spawn().expect("the system has true and false"), GRACE, || ())
        };
        assert!(run("false").is_err());
        assert!(run("true").is_ok());
    }
}
