import ReachabilityFleet
import FleetAPI

/// Requests of a replica, as bytes.
enum FleetRequests {
  static let ping = FleetWire.encode(AgentRequest.ping)
  static func check(_ targets: [String]) -> [UInt8] { FleetWire.encode(AgentRequest.check(targets: targets)) }
  static func results(_ payload: [UInt8]) -> [FleetCheckResult]? {
    if case .results(let cells)? = FleetWire.reply(payload) { cells } else { nil }
  }
}
