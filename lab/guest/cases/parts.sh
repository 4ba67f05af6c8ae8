# A disk with two partitions, of which one is read meanwhile: what each row tells.
node=$(debugged num_parts=2 ndelay=500000)
candor watch --json --partitions --interval 16 --count 1 "$node" >"$OUT/watched.json" &
sleep 4
candor fio --name=read --filename="${node}2" --rw=randread --bs=8k --direct=1 --number_ios=200 --output=/dev/null
wait
