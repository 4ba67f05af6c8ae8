# A SCSI disk that takes eight commands, asked for 32.
node=$(debugged max_queue=8 ndelay=5000000)
run --target "$node" --rw randread --direct --engine libaio --depth 32
