internal import ReachabilityModel

/// The links of this machine that a check could use, for a ``Diagnosis``.
struct DiagnosisLinks {
  /// The names that a text contains at most: a host of containers has hundreds of interfaces.
  static let nameLimit = 8

  private var usable: [String] = []
  private var down: [String] = []

  /// Takes the interface of a name, or without one all but the loopback interface.
  init(_ interfaces: [InterfaceState], named name: String?) {
    for interface in interfaces.map(\.interface)
    where name.map({ $0 == interface.name }) ?? (interface.type != .loopback) {
      switch interface.usability {
      case .usable: usable.append(interface.name)
      case .dormant: down.append("\(interface.name) (dormant)")
      case .adminDown: down.append("\(interface.name) (disabled)")
      case .linkDown: down.append("\(interface.name) (no carrier)")
      }
    }
  }

  /// Whether there are links, and none of them can pass packets.
  var areDown: Bool { usable.isEmpty && !down.isEmpty }

  /// The links that are down: `eth0 (disabled), wlan0 (no carrier)`.
  var downText: String { Self.joined(down) }

  /// The state of the links: `eth0 is up; down: wlan0 (no carrier)`; nil when none is up.
  var text: String? {
    guard !usable.isEmpty else { return nil }
    let up = "\(Self.joined(usable)) \(usable.count == 1 ? "is" : "are") up"
    return down.isEmpty ? up : "\(up); down: \(downText)"
  }

  private static func joined(_ names: [String]) -> String {
    let more = names.count - nameLimit
    return names.prefix(nameLimit).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }
}
