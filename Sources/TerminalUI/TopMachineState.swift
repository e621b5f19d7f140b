package import JSONFormat
internal import ReachabilityModel

/// The state of a service's machine, as in `/status` and its events.
package struct TopMachineState: Sendable, Equatable {
  package struct FamilyPath: Sendable, Equatable {
    /// `reachable`, `notReachable` or `unknown`.
    package var status: String
    package var interface: String?
    /// The next router; nil for a direct path.
    package var gateway: String?
    package var reason: String?

    /// The path without its status: `eth0 via 192.0.2.1`, `noRoute`.
    package var detail: String {
      if status != "reachable" { return reason ?? "" }
      return [interface, gateway.map { "via \($0)" }].compactMap(\.self).joined(separator: " ")
    }
  }

  /// `reachable`, `notReachable` or `unknown`.
  package var status: String
  /// `ethernetOrWiFi` or `wwan`.
  package var connectionType: String?
  /// Why the machine is not reachable.
  package var reason: String?
  /// When the status changed, in milliseconds since 1970.
  package var since: Int64?
  /// The path for IPv4.
  package var ipv4: FamilyPath
  /// The path for IPv6.
  package var ipv6: FamilyPath

  package var families: [(name: String, path: FamilyPath)] { [("IPv4", ipv4), ("IPv6", ipv6)] }

  /// Reads a verdict; nil for another document.
  package init?(_ document: JSON) {
    guard let status = document["status"]?.string, let ipv4 = FamilyPath(document["ipv4"]),
      let ipv6 = FamilyPath(document["ipv6"])
    else { return nil }
    self.status = status
    connectionType = document["connectionType"]?.string
    reason = document["reason"]?.string
    since = document["since"]?.string.flatMap { Timestamp($0) }.map { $0.microseconds / 1000 }
    (self.ipv4, self.ipv6) = (ipv4, ipv6)
  }
}

extension TopMachineState.FamilyPath {
  fileprivate init?(_ document: JSON?) {
    guard let status = document?["status"]?.string else { return nil }
    self.init(
      status: status, interface: document?["interface"]?.string, gateway: document?["gateway"]?.string,
      reason: document?["reason"]?.string)
  }
}
