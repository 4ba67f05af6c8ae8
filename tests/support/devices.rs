//! Scratch devices, mounts and control groups. Nothing here touches what it did not make.

use std::fs;
use std::process::{Child, Command};
use std::time::Duration;

use super::{Scratch, random_file, root, skip};

/// Runs a tool; its stdout if it worked.
fn tool(words: &[&str]) -> Result<String, String> {
    let output = Command::new(words[0]).args(&words[1..]).output();
    let output = output.map_err(|error| format!("{}: {error}", words[0]))?;
    let line = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(line(&output.stdout))
    } else {
        Err(format!("{} failed: {}", words.join(" "), line(&output.stderr)))
    }
}

/// The value, or a word on why this test is skipped.
fn or_skip<T>(result: Result<T, String>) -> Option<T> {
    result.map_err(|reason| skip(&reason)).ok()
}

/// A loop device on a file of incompressible bytes.
pub struct Loop {
    /// Node, such as `/dev/loop0`.
    pub node: String,
    /// Backing file.
    pub backing: String,
    /// Limits that were changed, with what they were: the kernel keeps them with the number.
    changed: Vec<(String, String)>,
}

impl Loop {
    /// One of this many bytes that bypasses the page cache for its backing file.
    pub fn direct(scratch: &Scratch, bytes: u64) -> Option<Loop> {
        Loop::new(scratch, bytes, &["--direct-io=on"])
    }

    /// One with these options of `losetup`.
    pub fn new(scratch: &Scratch, bytes: u64, options: &[&str]) -> Option<Loop> {
        if !root() {
            return None;
        }
        let backing = scratch.outside("backing");
        random_file(&backing, bytes);
        Loop::on(backing, options)
    }

    /// One of this many bytes that were never written; it bypasses the page cache.
    pub fn blank(scratch: &Scratch, bytes: u64) -> Option<Loop> {
        Loop::over_holes(scratch, bytes, &["--direct-io=on"])
    }

    /// One of this many bytes that were never written, with these options of `losetup`.
    pub fn over_holes(scratch: &Scratch, bytes: u64, options: &[&str]) -> Option<Loop> {
        if !root() {
            return None;
        }
        let backing = scratch.outside("backing");
        let file = fs::File::create(&backing).expect("a scratch file");
        file.set_len(bytes).expect("a sparse file");
        Loop::on(backing, options)
    }

    fn on(backing: String, options: &[&str]) -> Option<Loop> {
        let losetup = [&["losetup", "--find", "--show"], options, &[backing.as_str()]].concat();
        let node = or_skip(tool(&losetup))?;
        let device = Loop { node, backing, changed: Vec::new() };
        let direct = fs::read_to_string(device.sys("loop/dio")).unwrap_or_default();
        if options.contains(&"--direct-io=on") && direct.trim() != "1" {
            skip("the loop device does not do direct I/O on this filesystem");
            return None;
        }
        Some(device)
    }

    /// One whose backing file is another block device.
    pub fn over(lower: &Loop) -> Option<Loop> {
        let node = or_skip(tool(&["losetup", "--find", "--show", &lower.node]))?;
        Some(Loop { node, backing: lower.node.clone(), changed: Vec::new() })
    }

    /// Makes one partition on it, and gives its node.
    pub fn partition(&self) -> Option<String> {
        // One entry, of the type of Linux: from sector 2048 on, 20000 sectors.
        let mut table = [0; 512];
        table[446 + 4] = 0x83;
        table[446 + 8..446 + 12].copy_from_slice(&2048u32.to_le_bytes());
        table[446 + 12..446 + 16].copy_from_slice(&20000u32.to_le_bytes());
        table[510..].copy_from_slice(&[0x55, 0xaa]);
        let written = fs::write(&self.node, table);
        or_skip(written.map_err(|error| format!("a loop device cannot be written: {error}")))?;
        or_skip(tool(&["partx", "--add", &self.node]))?;
        let node = format!("{}p1", self.node);
        if fs::metadata(&node).is_err() {
            skip("the kernel shows no partitions of loop devices");
            return None;
        }
        Some(node)
    }

    /// The kernel name, such as `loop0`.
    pub fn name(&self) -> &str {
        self.node.trim_start_matches("/dev/")
    }

    /// A file of it in sysfs.
    pub fn sys(&self, file: &str) -> String {
        format!("/sys/block/{}/{file}", self.name())
    }

    /// Numbers, as `major:minor`.
    pub fn numbers(&self) -> String {
        fs::read_to_string(self.sys("dev")).expect("a device has numbers").trim().to_owned()
    }

    /// Sets one of its limits; false if the kernel refuses.
    pub fn set(&mut self, file: &str, value: &str) -> bool {
        let path = self.sys(file);
        let Ok(old) = fs::read_to_string(&path) else { return false };
        let set = fs::write(&path, value).is_ok();
        self.changed.push((path, old));
        set
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        for (path, old) in &self.changed {
            let _ = fs::write(path, old.trim());
        }
        if fs::metadata(format!("{}p1", self.node)).is_ok() {
            let _ = tool(&["partx", "--delete", &self.node]);
        }
        let _ = tool(&["losetup", "--detach", &self.node]);
    }
}

/// A mounted filesystem of its own.
pub struct Mount {
    /// Where.
    pub dir: String,
    /// Device below it, if there is one; kept for as long.
    pub device: Option<Loop>,
    is_hidden: bool,
}

impl Mount {
    /// ext4 on a loop device, with these options of `mount`.
    pub fn ext4(scratch: &Scratch, device: Loop, options: &str) -> Option<Mount> {
        let mut mount = Mount::ext4_on(scratch, &device.node, options)?;
        mount.device = Some(device);
        Some(mount)
    }

    /// ext4 on a device that somebody else keeps.
    pub fn ext4_on(scratch: &Scratch, node: &str, options: &str) -> Option<Mount> {
        let format = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
        or_skip(tool(&["mkfs.ext4", "-q", "-F", "-E", format, node]))?;
        Mount::of(scratch, "ext4", node, options)
    }

    /// ext4 that makes its inode tables later, and takes its time.
    pub fn lazy_ext4(scratch: &Scratch, device: Loop) -> Option<Mount> {
        let format = "lazy_itable_init=1,lazy_journal_init=1,nodiscard";
        or_skip(tool(&["mkfs.ext4", "-q", "-F", "-E", format, &device.node]))?;
        let mut mount = Mount::of(scratch, "ext4", &device.node, "init_itable=300")?;
        mount.device = Some(device);
        Some(mount)
    }

    /// btrfs on a loop device, with these options of `mount`.
    pub fn btrfs(scratch: &Scratch, device: Loop, options: &str) -> Option<Mount> {
        or_skip(tool(&["mkfs.btrfs", "-q", "-f", "-m", "single", &device.node]))?;
        let mut mount = Mount::of(scratch, "btrfs", &device.node, options)?;
        mount.device = Some(device);
        Some(mount)
    }

    fn of(scratch: &Scratch, kind: &str, node: &str, options: &str) -> Option<Mount> {
        let dir = Mount::dir(scratch);
        or_skip(tool(&["mount", "-t", kind, "-o", options, node, &dir]))?;
        Some(Mount { dir, device: None, is_hidden: false })
    }

    /// tmpfs of this size.
    pub fn tmpfs(scratch: &Scratch, size: &str) -> Option<Mount> {
        if !root() {
            return None;
        }
        let (dir, size) = (Mount::dir(scratch), format!("size={size}"));
        or_skip(tool(&["mount", "-t", "tmpfs", "-o", &size, "candor-test", &dir]))?;
        Some(Mount { dir, device: None, is_hidden: false })
    }

    /// Lets nobody write to it any more; none, with a word, where the kernel refuses.
    pub fn set_read_only(&self) -> Option<()> {
        or_skip(tool(&["mount", "-o", "remount,ro", &self.dir])).map(|_| ())
    }

    /// An overlay whose upper layer is on a mounted filesystem, above this directory, which is made
    /// if it is not there.
    pub fn overlay(scratch: &Scratch, upper: &Mount, lower: &str) -> Option<Mount> {
        let [up, work] = ["upper", "work"].map(|name| upper.path(name));
        for dir in [up.as_str(), &work, lower] {
            or_skip(fs::create_dir_all(dir).map_err(|error| format!("no layer: {error}")))?;
        }
        let options = format!("lowerdir={lower},upperdir={up},workdir={work}");
        Mount::of(scratch, "overlay", "overlay", &options)
    }

    fn dir(scratch: &Scratch) -> String {
        // Mounts of one test may stand beside each other.
        let mut dirs = (0..).map(|number| scratch.outside(&format!("mounted-{number}")));
        dirs.find(|dir| fs::create_dir(dir).is_ok()).expect("a mount point")
    }

    /// Takes it out of the mount table; what is mounted above keeps it.
    pub fn hide(&mut self) {
        tool(&["umount", "--lazy", &self.dir]).expect("it is mounted");
        self.is_hidden = true;
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.dir)
    }

    /// The device under it.
    pub fn node(&self) -> &str {
        self.device.as_ref().map_or("", |device| &device.node)
    }

    /// The entries in it, apart from those that mkfs made.
    pub fn entries(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.dir).expect("a mounted directory is readable").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name != "lost+found").collect()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        for _ in 0..20 {
            if self.is_hidden || tool(&["umount", &self.dir]).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// A zram device, added for one test.
pub struct Zram {
    number: String,
    /// Node, such as `/dev/zram3`.
    pub node: String,
}

impl Zram {
    /// One of this many bytes, filled with incompressible ones.
    pub fn random(bytes: u64) -> Option<Zram> {
        let device = Zram::blank(bytes)?;
        random_file(&device.node, bytes);
        Some(device)
    }

    /// One of this many bytes that were never written.
    pub fn blank(bytes: u64) -> Option<Zram> {
        if !root() {
            return None;
        }
        let added = fs::read_to_string("/sys/class/zram-control/hot_add");
        let number = or_skip(added.map_err(|error| format!("no zram device: {error}")))?;
        let number = number.trim().to_owned();
        let device = Zram { node: format!("/dev/zram{number}"), number };
        let sized = fs::write(device.sys("disksize"), bytes.to_string());
        or_skip(sized.map_err(|error| format!("a zram device has no size: {error}")))?;
        Some(device)
    }

    fn sys(&self, file: &str) -> String {
        format!("/sys/block/zram{}/{file}", self.number)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        for _ in 0..20 {
            let removed = fs::write(self.sys("reset"), "1").is_ok()
                && fs::write("/sys/class/zram-control/hot_remove", &self.number).is_ok();
            if removed {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// A control group with a limit.
pub struct Cgroup {
    dir: String,
}

impl Cgroup {
    /// One in which a device gives this many reads a second.
    pub fn reads_per_second(device: &str, reads: u32) -> Option<Cgroup> {
        if !root() {
            return None;
        }
        let name = format!("candor-test-{}", std::process::id());
        let old = "/sys/fs/cgroup/blkio";
        let (dir, file, line) = match fs::metadata(format!("{old}/cgroup.procs")) {
            Ok(_) => {
                let line = format!("{device} {reads}");
                (format!("{old}/{name}"), "blkio.throttle.read_iops_device", line)
            }
            Err(_) => {
                // Where that fails, so does setting the limit, which tells.
                let _ = fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+io");
                (format!("/sys/fs/cgroup/{name}"), "io.max", format!("{device} riops={reads}"))
            }
        };
        Cgroup::with(dir, file, &line)
    }

    /// One whose processes, and the files they read, have this much memory.
    pub fn memory(bytes: u64) -> Option<Cgroup> {
        if !root() {
            return None;
        }
        let name = format!("candor-test-{}", std::process::id());
        let old = "/sys/fs/cgroup/memory";
        let (dir, file) = match fs::metadata(format!("{old}/cgroup.procs")) {
            Ok(_) => (format!("{old}/{name}"), "memory.limit_in_bytes"),
            Err(_) => {
                // Where that fails, so does setting the limit, which tells.
                let _ = fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
                (format!("/sys/fs/cgroup/{name}"), "memory.max")
            }
        };
        Cgroup::with(dir, file, &bytes.to_string())
    }

    /// One whose processes together may use so many thousandths of a CPU.
    pub fn cpu(thousandths: u64) -> Option<Cgroup> {
        if !root() {
            return None;
        }
        let name = format!("candor-test-{}", std::process::id());
        let quota_us = thousandths * 100;
        let old = "/sys/fs/cgroup/cpu";
        let (dir, file, line) = match fs::metadata(format!("{old}/cgroup.procs")) {
            Ok(_) => (format!("{old}/{name}"), "cpu.cfs_quota_us", quota_us.to_string()),
            Err(_) => {
                // Where that fails, so does setting the limit, which tells.
                let _ = fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
                (format!("/sys/fs/cgroup/{name}"), "cpu.max", format!("{quota_us} 100000"))
            }
        };
        Cgroup::with(dir, file, &line)
    }

    fn with(dir: String, file: &str, line: &str) -> Option<Cgroup> {
        or_skip(fs::create_dir(&dir).map_err(|error| format!("no control group: {error}")))?;
        let group = Cgroup { dir };
        let set = fs::write(format!("{}/{file}", group.dir), line);
        or_skip(set.map_err(|error| format!("the control group takes no limit: {error}")))?;
        Some(group)
    }

    /// A command that runs candor with these words inside of it.
    pub fn candor(&self, words: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", r#"echo $$ >"$0/cgroup.procs" && exec "$@""#, &self.dir]);
        command.arg(env!("CARGO_BIN_EXE_candor")).args(words);
        command
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.dir);
    }
}

/// Processes that do nothing but use one CPU.
pub struct Spinners(Vec<Child>);

impl Spinners {
    /// This many on this CPU.
    pub fn on(cpu: u32, count: u32) -> Option<Spinners> {
        let mut spinners = Spinners(Vec::new());
        for _ in 0..count {
            let mut command = Command::new("taskset");
            command.args(["-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"]);
            let child = command.spawn().map_err(|error| format!("taskset: {error}"));
            spinners.0.push(or_skip(child)?);
        }
        Some(spinners)
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It spins until it is killed, so it is there.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
