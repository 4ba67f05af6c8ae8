# One disk behind two hosts of SCSI, mapped as one: both paths by turns, then a group for each.
node=$(debugged add_host=2 vpd_use_hostno=0 ndelay=500000)
paths=$(grep -l scsi_debug /sys/block/*/device/model | cut -d/ -f4)
set -- $paths
turns="1 1 round-robin 0 2 1 /dev/$1 1 /dev/$2 1"
groups="2 1 round-robin 0 1 1 /dev/$1 1 round-robin 0 1 1 /dev/$2 1"
for kind in turns groups; do
    eval "table=\$$kind"
    dmsetup create --uuid mpath-lab both --table "0 131072 multipath 0 0 $table"
    candor inspect /dev/mapper/both
    candor run --seconds 2 --json "$OUT/$kind.json" --target /dev/mapper/both --rw randread --direct \
        --engine libaio --depth 8
    dmsetup remove both
done
