# NVMe over TCP, to ourselves: how fast loopback is nobody can read.
nvmet=/sys/kernel/config/nvmet
back=$(null t11 size=64 completion_nsec=100000 irqmode=2)
mkdir $nvmet/subsystems/lab
echo 1 >$nvmet/subsystems/lab/attr_allow_any_host
mkdir $nvmet/subsystems/lab/namespaces/1
echo "$back" >$nvmet/subsystems/lab/namespaces/1/device_path
echo 1 >$nvmet/subsystems/lab/namespaces/1/enable
mkdir $nvmet/ports/1
for word in addr_trtype=tcp addr_adrfam=ipv4 addr_traddr=127.0.0.1 addr_trsvcid=4420; do
    echo "${word#*=}" >"$nvmet/ports/1/${word%%=*}"
done
ln -s $nvmet/subsystems/lab $nvmet/ports/1/subsystems/lab
before=$(ls /sys/block)
echo "nqn=lab,transport=tcp,traddr=127.0.0.1,trsvcid=4420,hostnqn=guest,hostid=6b1a0f3e-6a9e-4d3a-8a57-0d2a3c6f1d11" >/dev/nvme-fabrics
node=$(new_disk "$before")
candor inspect "$node"
run --target "$node" --rw randread --direct --engine libaio --depth 16
