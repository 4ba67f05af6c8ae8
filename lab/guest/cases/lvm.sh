# Volumes of LVM on two disks: one striped over both, one of the slow disk cached on the fast one.
command -v lvm >/dev/null || { echo "skipped: lvm2 is not on the lab's host"; exit 0; }
slow=$(null lslow size=64 memory_backed=1 completion_nsec=3000000 irqmode=2)
fast=$(null lfast size=64 memory_backed=1)
# No other disk is looked at: some are slow, and others have to go.
export LVM_SYSTEM_DIR=/tmp/lvm LVM_SUPPRESS_FD_WARNINGS=1
mkdir -p /tmp/lvm
cat >/tmp/lvm/lvm.conf <<EOF
devices { types = [ "nullb", 16 ] obtain_device_list_from_udev = 0 use_devicesfile = 0
    global_filter = [ "a|^$slow$|", "a|^$fast$|", "r|.*|" ] scan_lvs = 0 }
activation { udev_sync = 0 udev_rules = 0 monitoring = 0 }
global { locking_dir = "/tmp/lvm" cache_check_executable = "" use_lvmpolld = 0 }
backup { backup = 0 archive = 0 }
EOF
lvm vgcreate lab "$slow" "$fast"
lvm lvcreate -y -Wn -i 2 -I 64k -L 16m -n striped lab
lvm lvcreate -y -Wn -L 24m -n cached lab "$slow"
lvm lvcreate -y -Wn -L 32m -n tier lab "$fast"
lvm lvconvert -y --type cache --cachevol tier lab/cached
for volume in striped cached; do
    at=/dev/mapper/lab-$volume
    candor inspect "$at"
    [ $volume = striped ] || dd if="$at" of=/dev/null bs=64k count=256 iflag=direct 2>/dev/null
    candor run --seconds 2 --json "$OUT/$volume.json" --target "$at" --rw randread --direct --size 16m \
        --engine libaio --depth 4
done
lvm vgchange -an lab
