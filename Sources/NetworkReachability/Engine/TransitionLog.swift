internal import Logging
internal import ReachabilityModel

/// Logs one line for each transition: a constant message with metadata.
enum TransitionLog {
  static func write(_ transitions: [Transition], to logger: Logger) {
    // An unplugged cable causes thousands of lines; without a reader they are not built.
    guard logger.logLevel <= .info else { return }
    for transition in transitions { write(transition, to: logger) }
  }

  private static func write(_ transition: Transition, to logger: Logger) {
    var metadata: Logger.Metadata = ["sequence": "\(transition.sequence)"]
    if !transition.causes.isEmpty {
      metadata["cause"] = "\(transition.causes.map(\.rawValue).joined(separator: ","))"
    }
    switch transition.change {
    case .status(let from, let to, let initial):
      metadata["from"] = "\(from.status.name)"
      describe(to.leading, into: &metadata)
      logger.info(initial ? "first verdict" : "status changed", metadata: metadata)
    case .path(_, let to):
      describe(to.leading, into: &metadata)
      logger.info("path changed", metadata: metadata)
    case .interface(let state, let removed):
      metadata["interface"] = "\(state.interface.name)"
      metadata["state"] = removed ? "removed" : "\(state.interface.operationalState)"
      metadata["up"] = "\(state.interface.flags.contains(.up))"
      metadata["addresses"] = "\(state.addresses.map(\.description).joined(separator: ","))"
      logger.info("interface changed", metadata: metadata)
    case .host(_, let to):
      metadata["host"] = "\(to.target)"
      describe(to.path, into: &metadata)
      logger.info("host changed", metadata: metadata)
    case .target(let from, let to, let removed):
      metadata["target"] = "\(to.definition.id)"
      metadata["from"] = "\(from.rawValue)"
      metadata["state"] = "\(to.status.state.rawValue)"
      if to.status.isFlapping { metadata["flapping"] = "true" }
      if let reason = to.status.reason { metadata["reason"] = "\(reason.rawValue)" }
      logger.info(removed ? "target removed" : "target changed", metadata: metadata)
    }
  }

  private static func describe(_ path: NetworkPath, into metadata: inout Logger.Metadata) {
    metadata["status"] = "\(path.status.name)"
    if let reason = path.reason { metadata["reason"] = "\(reason.rawValue)" }
    if let interface = path.interface { metadata["interface"] = "\(interface.name)" }
    if let gateway = path.gateway { metadata["gateway"] = "\(gateway)" }
    if let source = path.source { metadata["source"] = "\(source)" }
  }
}
