# T13: reads of 512 bytes to 64 KiB at every sector, as somebody else sends them, who keeps a log.
node=$(disk plain)
candor align --seconds 6 --json "$OUT/align.json" "$node" &
sleep 2
candor fio --name=mixed --filename="$node" --rw=randread --bsrange=512-64k --blockalign=512 \
    --direct=1 --number_ios=2740 --norandommap --io_size=1g --write_iolog="$OUT/log"
wait
