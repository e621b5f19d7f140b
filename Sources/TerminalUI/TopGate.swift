package import JSONFormat

/// A gate of a service, as in `/gates` and its events.
package struct TopGate: Sendable, Equatable {
  /// The id.
  package var id: String
  /// Whether it is open.
  package var isOpen: Bool
  /// Why it is closed.
  package var reason: String?

  /// Reads a gate; nil for another document.
  package init?(_ document: JSON) {
    guard let id = document["id"]?.string, let state = document["state"]?.string else { return nil }
    (self.id, isOpen, reason) = (id, state == "open", document["reason"]?.string)
  }

  /// Whether this gate is shown before another one: those that are closed are first.
  static func isBefore(_ one: TopGate, _ other: TopGate) -> Bool {
    one.isOpen == other.isOpen ? one.id < other.id : other.isOpen
  }
}

extension TopServiceState {
  /// Replaces all gates by those of the response of `GET /gates`.
  package mutating func replaceGates(_ document: JSON) {
    gates = (document["gates"]?.elements ?? []).compactMap(TopGate.init).sorted(by: TopGate.isBefore)
  }

  /// Applies the data of a `gate` event.
  mutating func applyGate(_ data: JSON) {
    guard let gate = data["gate"].flatMap(TopGate.init) else { return }
    gates.removeAll { $0.id == gate.id }
    if data["removed"] != .bool(true) { gates.append(gate) }
    gates.sort(by: TopGate.isBefore)
  }
}
