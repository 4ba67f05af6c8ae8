//! The emulated machine: which devices it has, how it starts, and when it is given up.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::kernel::Kernel;
use crate::{LabError, failed};

/// A boot with all cases takes some five minutes; one that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(460);

/// Size of each disk. Their files are sparse.
const DISK_MIB: u64 = 64;

/// Words per device; `{disk}` is the name of the disk behind it.
///
/// | disk | what the guest sees |
/// | --- | --- |
/// | plain | NVMe behind a PCIe port of x4 at 8 GT/s |
/// | guarded | an NVMe namespace whose blocks have protection information (type 1) |
/// | wide | an NVMe namespace whose blocks have 16 bytes behind them: guards of 64 bits |
/// | zns | an NVMe namespace with zones of 4 MiB that hold 3 MiB |
/// | shared | one NVMe namespace with two controllers: a multipath head and two hidden paths |
/// | sata | AHCI, with physical sectors of 4 KiB |
/// | virtio | virtio-blk with two queues |
/// | sas | a disk behind a SAS host adapter |
/// | usb | USB storage behind xHCI |
const DEVICES: &[&[&str]] = &[
    &[
        "pcie-root-port,id=rp0,x-speed=8,x-width=4,chassis=1",
        "nvme,serial=plain,bus=rp0,drive=plain",
    ],
    &["nvme,serial=guarded,id=guarded", "nvme-ns,bus=guarded,drive=guarded,ms=8,mset=0,pi=1"],
    &["nvme,serial=wide,id=wide", "nvme-ns,bus=wide,drive=wide,ms=16,mset=1,pi=1,pif=2"],
    &[
        "nvme,serial=zns,id=zns",
        "nvme-ns,bus=zns,drive=zns,zoned=on,zoned.zone_size=4M,zoned.zone_capacity=3M",
    ],
    &[
        "nvme-subsys,id=both,nqn=both",
        "nvme,serial=shared,subsys=both",
        "nvme,serial=shared,subsys=both,id=second",
        "nvme-ns,bus=second,nsid=1,shared=on,drive=shared",
    ],
    &["ide-hd,bus=ide.0,serial=sata,physical_block_size=4096,drive=sata"],
    &["virtio-blk-pci,serial=virtio,num-queues=2,drive=virtio"],
    &["mptsas1068,id=sas", "scsi-hd,bus=sas.0,serial=sas,wwn=0x5000c500a1b2c3d4,drive=sas"],
    &["qemu-xhci,id=xhci", "usb-storage,bus=xhci.0,serial=usb,drive=usb"],
];

const DISKS: &[&str] =
    &["plain", "guarded", "wide", "zns", "shared", "sata", "virtio", "sas", "usb"];

/// A machine to start once.
pub struct Machine<'a> {
    /// Kernel that it boots.
    pub kernel: &'a Kernel,
    /// Root filesystem, in memory.
    pub archive: &'a Path,
    /// Where its disks and its console are.
    pub work: PathBuf,
    /// Folder that all machines share; a machine runs the cases whose folder it creates there.
    pub results: &'a Path,
}

impl Machine<'_> {
    /// Starts it and waits for its end; what its console showed.
    pub fn run(&self) -> Result<String, LabError> {
        fs::create_dir_all(&self.work).map_err(|e| failed(&self.work, &e))?;
        for disk in DISKS {
            let path = self.disk(disk);
            let file = File::create(&path).map_err(|e| failed(&path, &e))?;
            file.set_len(DISK_MIB << 20).map_err(|e| failed(&path, &e))?;
        }
        let mut qemu = self.command();
        let started = qemu.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let child = started.map_err(|e| LabError::Missing(format!("qemu-system-x86_64 ({e})")))?;
        let ended = wait(Guard(child));
        let console = fs::read(self.work.join("console")).unwrap_or_default();
        let console = String::from_utf8_lossy(&console).into_owned();
        match ended {
            Ok(()) => Ok(console),
            Err(why) => {
                let lines: Vec<&str> = console.lines().rev().take(40).collect();
                let tail: Vec<&str> = lines.into_iter().rev().collect();
                Err(LabError::Failed(format!("{why}; its console ends\n{}", tail.join("\n"))))
            }
        }
    }

    fn disk(&self, name: &str) -> PathBuf {
        self.work.join(format!("{name}.disk"))
    }

    fn command(&self) -> Command {
        let mut qemu = Command::new("qemu-system-x86_64");
        qemu.args(["-accel", "tcg,thread=single", "-machine", "q35", "-cpu", "max"]);
        qemu.args(["-smp", "2", "-m", "2048", "-nodefaults", "-display", "none", "-no-reboot"]);
        qemu.arg("-kernel").arg(&self.kernel.image).arg("-initrd").arg(self.archive);
        qemu.arg("-append").arg("console=ttyS0 quiet panic=-1 scsi_mod.scan=sync");
        qemu.arg("-virtfs").arg(format!(
            "local,path={},mount_tag=results,security_model=none",
            self.results.display()
        ));
        qemu.arg("-serial").arg(format!("file:{}", self.work.join("console").display()));
        for disk in DISKS {
            let file = self.disk(disk);
            let file = file.display();
            let drive = format!("id={disk},if=none,format=raw,discard=unmap,file={file}");
            qemu.arg("-drive").arg(drive);
        }
        for device in DEVICES.concat() {
            qemu.arg("-device").arg(device);
        }
        qemu
    }
}

/// Ended when dropped, whatever happens.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait(mut guest: Guard) -> Result<(), String> {
    let began = Instant::now();
    while began.elapsed() < LIMIT {
        match guest.0.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("the emulated machine failed: {status}")),
            Ok(None) => std::thread::sleep(Duration::from_millis(50)),
            Err(why) => return Err(format!("the emulated machine cannot be waited for: {why}")),
        }
    }
    Err(format!("the emulated machine did not end in {} s", LIMIT.as_secs()))
}
