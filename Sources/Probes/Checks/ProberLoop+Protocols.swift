internal import ReachabilityModel

extension ProberLoop {
  /// The protocol's part of a check; nil for one that there is no prober for.
  func exchange(_ check: Check, _ peer: Peer) -> (any Exchange)? {
    switch check.request.module.recipe {
    case .tcp(let recipe): TCPExchange(check, peer, recipe, self)
    default: nil
    }
  }
}
