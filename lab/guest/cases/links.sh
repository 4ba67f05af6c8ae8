# Services of elbencho in network namespaces, each behind a link of its own: slow, far away, or with
# losses. What leaves a node waits at its `eth`, what comes to it at the bridge's port.
# The shell's own `ip` and `tc` know neither namespaces nor netem.
/bin/ip -V 2>/dev/null | grep -q iproute2 || { echo "skipped: iproute2 is not on the lab's host"; exit 0; }
files=/tmp/links nodes="1 2 3 4 5 6 7 8"
# One home, so that all have the key of one user.
export HOME=/tmp/home
mkdir -p $files $HOME /run
on_node() { /bin/ip netns exec "node$1" $2; }
on_hub() { /bin/ip netns exec hub "$@"; }
/bin/ip netns add hub
/bin/ip -n hub link add bridge type bridge
/bin/ip -n hub addr add 10.77.0.254/24 dev bridge
/bin/ip -n hub link set bridge up
for node in $nodes; do
    /bin/ip netns add node$node
    /bin/ip -n hub link add port$node type veth peer name eth netns node$node
    /bin/ip -n hub link set port$node master bridge up
    /bin/ip -n node$node addr add 10.77.0.$node/24 dev eth
    /bin/ip -n node$node link set eth up
done
leaving() { /bin/tc -n "node$1" qdisc add dev eth root $2; }
coming() { /bin/tc -n hub qdisc add dev "port$1" root $2; }
leaving 2 "netem delay 20ms"
coming 3 "netem delay 20ms"
leaving 4 "netem delay 10ms 5ms"
leaving 5 "netem delay 5ms loss 2%"
leaving 6 "tbf rate 4mbit burst 8k latency 500ms"
coming 7 "tbf rate 4mbit burst 8k latency 500ms"
for node in $nodes; do
    on_node $node "candor elbencho --service --foreground $files" 2>"$OUT/log$node" &
done
wait=0
while [ "$(cat "$OUT"/log* | grep -c ' listens on ')" -lt 8 ] && [ $wait -lt 200 ]; do
    sleep 0.1
    wait=$((wait + 1))
done
lead() { on_hub candor elbencho --hosts "10.77.0.[1-8]" "$@"; }
export CANDOR_JSON="$OUT/report.json"
lead -w -r -t 2 -s 4m -b 64k $files/f
unset CANDOR_JSON
lead --quit
wait
