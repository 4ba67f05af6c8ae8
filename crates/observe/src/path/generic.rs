//! Generic devices: character devices that take the commands of a block device past the block
//! layer.

use std::path::Path;

use candor_record::facts::Fact;

use crate::source::Roots;
use crate::source::stat::FileType;

/// Kernel name of the block device whose data the commands to a character device reach: of
/// `/dev/ng0n1` or `/dev/sg0`. Absent for other files, and where no driver made a block device of
/// it. From `/sys/dev/char`.
pub fn block_device_of_commands(path: &Path, roots: &Roots) -> Option<String> {
    fact(path, roots).map(|fact| fact.value)
}

/// As [`block_device_of_commands`], with the place that told it.
pub(crate) fn fact(path: &Path, roots: &Roots) -> Option<Fact<String>> {
    let stat = roots.stat(path).filter(|stat| stat.file_type == FileType::Other)?;
    by_number(&stat.is, roots)
}

/// The block device behind the character device with that `major:minor`.
fn by_number(number: &str, roots: &Roots) -> Option<Fact<String>> {
    let link = roots.sys.join("dev/char").join(number);
    let place = roots.real(&link)?;
    let name = match roots.link_name(&place.join("subsystem"))?.as_str() {
        "nvme-generic" => {
            // Both hang on the same controller or subsystem, with the same numbers.
            let own = place.file_name()?.to_str()?.strip_prefix("ng")?;
            let name = format!("nvme{own}");
            roots.there(&place.parent()?.join(&name)).then_some(name)
        }
        "scsi_generic" => roots.names(&place.join("device/block")).into_iter().next(),
        _ => None,
    };
    Some(Fact::new(name?, link.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_generic_device_leads_to_its_block_device() {
        let fake = Fake::new();
        let at = "pci0000:00/0000:00:05.0/nvme/nvme0";
        fake.disk("nvme0n1", "259:0", &format!("{at}/nvme0n1"));
        fake.link("sys/dev/char/237:0", &format!("sys/devices/{at}/ng0n1"));
        fake.write(&format!("sys/devices/{at}/ng0n1/dev"), "237:0");
        let found = |number: &str| by_number(number, &fake.roots).map(|fact| fact.value);
        assert_eq!(found("237:0"), None, "its class is not known");
        fake.path("sys/class/nvme-generic");
        fake.link(&format!("sys/devices/{at}/ng0n1/subsystem"), "sys/class/nvme-generic");
        assert_eq!(found("237:0").as_deref(), Some("nvme0n1"));
        // A namespace whose block device is hidden.
        fake.write(&format!("sys/devices/{at}/ng0n2/dev"), "237:1");
        fake.link("sys/dev/char/237:1", &format!("sys/devices/{at}/ng0n2"));
        fake.link(&format!("sys/devices/{at}/ng0n2/subsystem"), "sys/class/nvme-generic");
        assert_eq!(found("237:1"), None);
        assert_eq!(found("1:3"), None);
    }

    #[test]
    fn a_generic_scsi_device_leads_to_its_disk() {
        let fake = Fake::new();
        let disk = "pci0000:00/host0/target0:0:0/0:0:0:0";
        fake.disk("sda", "8:0", &format!("{disk}/block/sda"));
        let generic = format!("sys/devices/{disk}/scsi_generic/sg0");
        fake.write(&format!("{generic}/dev"), "21:0");
        fake.link("sys/dev/char/21:0", &generic);
        fake.path("sys/class/scsi_generic");
        fake.link(&format!("{generic}/subsystem"), "sys/class/scsi_generic");
        fake.link(&format!("{generic}/device"), &format!("sys/devices/{disk}"));
        let found = by_number("21:0", &fake.roots).map(|fact| fact.value);
        assert_eq!(found.as_deref(), Some("sda"));
    }

    #[test]
    fn other_files_take_no_commands() {
        for path in ["/dev/null", "/proc/self/stat", "/"] {
            assert_eq!(block_device_of_commands(Path::new(path), &Roots::default()), None);
        }
    }
}
