internal import ReachabilityModel

/// The causes of the changes that were not published yet.
struct PendingCauses {
  private var major: Set<Cause> = []
  private var minor: Set<Cause> = []

  /// The causes to publish: the minor ones only if there is no other.
  var all: Set<Cause> { major.isEmpty ? minor : major }

  mutating func add(_ causes: Set<Cause>, minor: Set<Cause>) {
    major.formUnion(causes)
    self.minor.formUnion(minor)
  }
}
