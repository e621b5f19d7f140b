package import JSONFormat
internal import ReachabilityModel

extension TopTargetEntry {
  /// Reads an element of `GET /fleet/targets`; nil for another document.
  package init?(fleet document: JSON) {
    guard let id = document["id"]?.string, let target = document["target"]?.string,
      let since = document["since"]?.string.flatMap({ Timestamp($0) })
    else { return nil }
    self.init(
      id: id, target: target, state: .unknown, reason: FleetFormatter.reason(document),
      labels: Self.labels(document["labels"]),
      since: since.microseconds / 1000, isPending: false, isFlapping: false, latency: nil, isOfFleet: true)
    guard set(verdict: document["verdict"]?.string) else { return nil }
  }

  /// Applies the data of an event `verdict`.
  mutating func apply(verdict data: JSON) {
    guard let time = data["time"]?.string.flatMap({ Timestamp($0) }), set(verdict: data["verdict"]?.string) else {
      return
    }
    since = time.microseconds / 1000
    reason = FleetFormatter.reason(data)
  }

  /// Applies a definition, the member of an event.
  mutating func apply(definition: JSON) {
    target = definition["target"]?.string ?? target
    labels = Self.labels(definition["labels"])
  }

  /// Sets the state by a verdict; false for an unknown one.
  ///
  /// `partial` is the state `down` of some agents: it has its colour, and its own word and place.
  private mutating func set(verdict: String?) -> Bool {
    isPartial = verdict == "partial"
    guard let state = isPartial ? .down : verdict.flatMap(TargetState.init) else { return false }
    self.state = state
    return true
  }
}
