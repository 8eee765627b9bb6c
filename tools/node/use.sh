# Sourced. Puts what fetch.sh made before everything else on PATH.
# have_node: whether there is a Node that the packages of the clients run on, that one or the machine's own.
node_home=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/node
[ ! -f "$node_home/complete" ] || PATH=$node_home/bin:$PATH

have_node() {
  command -v npm >/dev/null && node -e 'const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19) ? 0 : 1)' 2>/dev/null
}
