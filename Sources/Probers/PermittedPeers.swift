internal import ReachabilityModel

extension ProberCheck {
  /// The peers that may be contacted now, in the resolver's order; never none.
  ///
  /// - Parameters:
  ///   - peers: the addresses of a host; changed in place, because every check executes this code.
  ///   - selection: which of them are checked.
  ///   - verdict: the addresses for which the module may be used.
  ///   - refusal: the finding if it may be used for none of them.
  ///   - message: the detail of the finding if none has a route.
  /// - Returns: the peers.
  /// - Throws: the finding if there is none.
  func permitted(
    _ peers: consuming [SocketPeer], _ selection: CheckAddressSelection, by verdict: ModuleAccess.Verdict,
    else refusal: ProberResult, _ message: String
  ) throws(ProberResult) -> [SocketPeer] {
    if !peers.isEmpty {
      peers.removeAll { !verdict.allows($0.address) }
      guard !peers.isEmpty else { throw refusal }
    }
    try request.choose(from: &peers)
    try open(&peers, selection, otherwise: message)
    if selection == .first { peers.removeLast(peers.count - 1) }
    return peers
  }

  /// Keeps the peers that the policy allows now and to which there is a route.
  ///
  /// If all addresses are checked, one without a route remains unless its whole family has none: a machine without IPv6 cannot
  /// check IPv6 addresses.
  private func open(
    _ peers: inout [SocketPeer], _ selection: CheckAddressSelection, otherwise message: String
  ) throws(ProberResult) {
    var unrouted: [SocketPeer] = []
    // No copy otherwise, because every check executes this code.
    var all = selection == .all ? peers : []
    peers.removeAll { peer in
      let decision = decision(peer.address, peer.port == 0 ? nil : peer.port)
      if decision == .noRoute { unrouted.append(peer) }
      return decision != .allowed
    }
    guard peers.isEmpty else {
      guard selection == .all, !unrouted.isEmpty else { return }
      let families = Set(peers.map(\.address.unmapped.family))
      unroutedPeers = unrouted.filter { families.contains($0.address.unmapped.family) }
      all.removeAll { !peers.contains($0) && !unroutedPeers.contains($0) }
      peers = all
      return
    }
    guard let first = unrouted.first else { throw .denied }
    // The finding concerns this address.
    peer = first
    throw ProberResult(.unreachable, .noRoute, detail: message)
  }
}

extension CheckRequest {
  /// Keeps the addresses that the policy, the family and the source allow, at most those that are tried.
  fileprivate func choose(from peers: inout [SocketPeer]) throws(ProberResult) {
    let hasLoopback = peers.contains { $0.address.isLoopback }
    if let policy {
      peers.removeAll { !policy.allows($0.address, port: $0.port == 0 ? nil : $0.port) }
      guard !peers.isEmpty else { throw .denied }
    }
    // The kernel would call the packet invalid, with the same error as for a blackhole.
    if let source, source.isLoopback, !hasLoopback {
      throw ProberResult(.unreachable, .noSource, detail: "\(source) can send to this machine only")
    }
    peers.removeAll { peer in
      let its = peer.address.unmapped.family
      // The configured source address also determines the family.
      if let source, source.unmapped.family != its { return true }
      return family != .any && (family == .ipv4) != (its == .ipv4)
    }
    guard peers.isEmpty else { return peers.removeLast(max(0, peers.count - Limits.addressesTried)) }
    let missing = source?.unmapped.family ?? (family == .ipv4 ? .ipv4 : .ipv6)
    throw ProberResult(.down, .dnsNotFound, detail: "it has no \(missing == .ipv4 ? "IPv4" : "IPv6") address")
  }
}
