//! NVMe namespaces with several paths: the head that is used and the hidden devices that work.

use crate::attributes::names;
use crate::node::Node;
use crate::roots::Roots;

/// The hidden path devices of a multipath head; none for any other device. Newer kernels link
/// them in `multipath/`, older ones only name them alike: head `nvme0n1`, path `nvme0c3n1`.
pub(crate) fn paths_of(node: &Node, roots: &Roots) -> Vec<String> {
    let linked = node.names("multipath");
    if !linked.is_empty() {
        return linked;
    }
    let all = names(&roots.sys.join("class/block"));
    all.into_iter().filter(|name| head_of(name).as_deref() == Some(node.name.as_str())).collect()
}

/// The head of a path device.
fn head_of(path: &str) -> Option<String> {
    let (subsystem, rest) = path.strip_prefix("nvme")?.split_once('c')?;
    let (controller, namespace) = rest.split_once('n')?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let all = number(subsystem) && number(controller) && number(namespace);
    all.then(|| format!("nvme{subsystem}n{namespace}"))
}

/// Whether the controller is reached over a network.
pub(crate) fn is_fabric(node: &Node, roots: &Roots) -> bool {
    let remote = |node: &Node| {
        let transport = node.text("device/transport").unwrap_or_default();
        matches!(transport.as_str(), "tcp" | "rdma" | "fc" | "loop")
    };
    let paths = paths_of(node, roots);
    remote(node) || paths.iter().filter_map(|path| Node::open(path, roots)).any(|p| remote(&p))
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
