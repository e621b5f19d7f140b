/// Rendezvous hashing: each key orders the nodes by a hash of both, so that a node's end moves only its own keys.
public enum FleetRendezvousHash {
  /// The nodes in the order of a key, the first one first.
  public static func order(_ nodes: some Sequence<String>, for key: String) -> [String] {
    nodes.map { (node: $0, weight: weight($0, key)) }
      .sorted { ($0.weight, $0.node) > ($1.weight, $1.node) }
      .map(\.node)
  }

  /// The place of a node in the order of a key; nil when it is not among the nodes.
  public static func rank(of node: String, among nodes: some Sequence<String>, for key: String) -> Int? {
    let own = weight(node, key)
    var rank = 0
    var isFound = false
    for other in nodes {
      if other == node {
        isFound = true
      } else if (weight(other, key), other) > (own, node) {
        rank += 1
      }
    }
    return isFound ? rank : nil
  }

  private static func weight(_ node: String, _ key: String) -> UInt64 {
    var hash = FleetHash()
    hash.add(key)
    hash.add(node)
    return hash.value
  }
}
