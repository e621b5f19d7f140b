internal import Logging
internal import ReachabilityModel

/// One log line a transition: constant messages, the facts as metadata.
enum TransitionLog {
  static func write(_ transitions: [Transition], to logger: Logger) {
    // A pulled cable is thousands of them: what nobody reads is not put together.
    guard logger.logLevel <= .info else { return }
    for transition in transitions { write(transition, to: logger) }
  }

  private static func write(_ transition: Transition, to logger: Logger) {
    var facts: Logger.Metadata = ["sequence": "\(transition.sequence)"]
    if !transition.causes.isEmpty {
      facts["cause"] = "\(transition.causes.map(\.rawValue).joined(separator: ","))"
    }
    switch transition.change {
    case .status(let from, let to, let initial):
      facts["from"] = "\(from.status.name)"
      describe(to.leading, into: &facts)
      logger.info(initial ? "first verdict" : "status changed", metadata: facts)
    case .path(_, let to):
      describe(to.leading, into: &facts)
      logger.info("path changed", metadata: facts)
    case .interface(let state, let removed):
      facts["interface"] = "\(state.interface.name)"
      facts["state"] = removed ? "removed" : "\(state.interface.operationalState)"
      facts["up"] = "\(state.interface.flags.contains(.up))"
      facts["addresses"] = "\(state.addresses.map(\.description).joined(separator: ","))"
      logger.info("interface changed", metadata: facts)
    case .host(_, let to):
      facts["host"] = "\(to.target)"
      describe(to.path, into: &facts)
      logger.info("host changed", metadata: facts)
    case .target(let from, let to, let removed):
      facts["target"] = "\(to.definition.id)"
      facts["from"] = "\(from.rawValue)"
      facts["state"] = "\(to.status.state.rawValue)"
      if to.status.isFlapping { facts["flapping"] = "true" }
      if let reason = to.status.reason { facts["reason"] = "\(reason.rawValue)" }
      logger.info(removed ? "target removed" : "target changed", metadata: facts)
    }
  }

  private static func describe(_ path: NetworkPath, into facts: inout Logger.Metadata) {
    facts["status"] = "\(path.status.name)"
    if let reason = path.reason { facts["reason"] = "\(reason.rawValue)" }
    if let interface = path.interface { facts["interface"] = "\(interface.name)" }
    if let gateway = path.gateway { facts["gateway"] = "\(gateway)" }
    if let source = path.source { facts["source"] = "\(source)" }
  }
}
