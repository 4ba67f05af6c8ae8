//! NVMe namespaces with several paths: the head that is used and the hidden devices that work.

use candor_record::facts::{Fact, NvmeFacts, Remote};

use crate::net::{self, Server};
use crate::source::Roots;
use crate::source::node::Node;
use crate::source::parse::{number, positive, words};

/// The hidden path devices of a multipath head; none for any other device. Newer kernels link
/// them in `multipath/`, older ones only name them alike: head `nvme0n1`, path `nvme0c3n1`.
pub(crate) fn paths_of(node: &Node, roots: &Roots) -> Vec<String> {
    let linked = node.names("multipath");
    if !linked.is_empty() {
        return linked;
    }
    let all = roots.names(&roots.sys.join("class/block"));
    all.into_iter().filter(|name| head_of(name).as_deref() == Some(node.name.as_str())).collect()
}

/// The facts that a namespace or a path of it gives about its controller. A head's `device` is the
/// subsystem, which tells how paths are chosen; any other's is the controller.
pub(crate) fn facts(node: &Node) -> NvmeFacts {
    NvmeFacts {
        transport: node.fact("device/transport", words),
        iopolicy: node.fact("device/iopolicy", words),
        state: node.fact("device/state", words),
        ana_state: node.fact("ana_state", words),
        queues: node.fact("device/queue_count", positive),
        queue_entries: node.fact("device/sqsize", number).map(|sqsize| Fact {
            value: sqsize.value.saturating_add(1),
            from: sqsize.from,
            privileged: sqsize.privileged,
        }),
    }
}

/// The target of a controller over a network, from its address
/// `traddr=10.0.0.1,trsvcid=4420,src_addr=10.0.0.2,host_iface=eth2`.
pub(crate) fn remote(node: &Node, roots: &Roots) -> Option<Remote> {
    let transport =
        node.text("device/transport").filter(|t| matches!(t.as_str(), "tcp" | "rdma"))?;
    let address = node.fact("device/address", words)?;
    let part = |key: &str| {
        let mut parts = address.value.split(',');
        let value = parts.find_map(|part| part.strip_prefix(key)?.strip_prefix('='))?;
        Some(Fact::new(value.to_owned(), address.from.clone()))
    };
    let queues = node.text("device/queue_count").and_then(|text| positive(&text));
    // An address of this host itself never leaves it, whatever the routes say.
    let itself = part("traddr").zip(part("src_addr")).is_some_and(|(to, by)| to.value == by.value);
    let loopback = itself.then(|| Fact::new("lo".to_owned(), address.from.clone()));
    let server = Server {
        protocol: format!("NVMe/{transport}"),
        address: part("traddr")?,
        interface: part("host_iface").or(loopback),
        // One of the queues is for administration.
        connections: queues.and_then(|queues| queues.checked_sub(1)).filter(|&queues| queues > 0),
        tcp: transport == "tcp",
    };
    Some(net::remote(server, roots))
}

/// The head of a path device.
fn head_of(path: &str) -> Option<String> {
    let (subsystem, rest) = path.strip_prefix("nvme")?.split_once('c')?;
    let (controller, namespace) = rest.split_once('n')?;
    let all = [subsystem, controller, namespace].into_iter().all(is_number);
    all.then(|| format!("nvme{subsystem}n{namespace}"))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// True if the controller is reached over a network.
pub(crate) fn is_fabric(node: &Node, roots: &Roots) -> bool {
    let mut paths = paths_of(node, roots).into_iter().filter_map(|path| Node::open(&path, roots));
    has_network(node) || paths.any(|path| has_network(&path))
}

fn has_network(node: &Node) -> bool {
    let transport = node.text("device/transport").unwrap_or_default();
    matches!(transport.as_str(), "tcp" | "rdma" | "fc" | "loop")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_paths() {
        assert_eq!(head_of("nvme0c3n1").as_deref(), Some("nvme0n1"));
        assert_eq!(head_of("nvme12c0n34").as_deref(), Some("nvme12n34"));
        for other in ["nvme0n1", "nvme0c3n1p1", "nvmecn", "sda", "nvme0c3"] {
            assert_eq!(head_of(other), None, "{other}");
        }
    }
}
