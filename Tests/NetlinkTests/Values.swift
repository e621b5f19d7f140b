import ReachabilityModel

@testable import Netlink

/// Tests write addresses as literals; a wrong one is a mistake of the test.
extension IPAddress: ExpressibleByStringLiteral {
  init(stringLiteral text: String) {
    guard let address = IPAddress(text) else { preconditionFailure("\(text) is no address") }
    self = address
  }
}

/// Tests write blocks as literals, `10.0.0.0/8`.
extension IPPrefix: ExpressibleByStringLiteral {
  init(stringLiteral text: String) {
    let parts = text.split(separator: "/")
    guard parts.count == 2, let length = UInt8(parts[1]) else { preconditionFailure("\(text) is no block") }
    self.init(IPAddress(stringLiteral: String(parts[0])), length: length)
  }
}

extension RouteAnswer {
  /// The route; nil for a refusal.
  var route: Route? {
    guard case .route(let route) = self else { return nil }
    return route
  }
}
