internal import ReachabilityModel

/// The memory that registered targets and clients' connections may use, derived from the limit of the process's cgroup.
///
/// The service plans with seven eighths of the limit. Targets may use all of that but an eighth of the limit, which belongs to
/// connections; connections may also use what the targets do not.
///
/// The constants are resident memory (VmRSS) of the release build on x86-64 glibc, measured with TCP targets that answer,
/// after 25 to 40 s, over 26 MB of the idle service:
///
/// | targets | interval | labels          | growth | peak with one `GET /metrics` |
/// | ------: | -------: | --------------- | -----: | ---------------------------: |
/// |   1,000 |   100 ms | none            |  20 MB |                        23 MB |
/// |   2,000 |   100 ms | none            |  37 MB |                        43 MB |
/// |  10,000 |     30 s | none            |  57 MB |                              |
/// |  10,000 |     30 s | 32 of 66 bytes  | 122 MB |                       157 MB |
/// |  10,000 |      1 s | none            |  63 MB |                        98 MB |
/// |  10,000 |   100 ms | none            | 134 MB |                              |
///
/// A check that waits for its peer holds a socket and a library's state. Measured with 1,024 checks that a peer accepts and
/// never answers: 72 KB for HTTPS, 40 KB for HTTP.
public struct QuotaMemoryBudget: Hashable, Sendable {
  /// The share of the cgroup's limit that the service plans with, in percent.
  ///
  /// Half of the rest is for connections, the other half for what is not resident for long: a page of `/metrics`, page cache.
  static let usableShare = 75
  /// Bytes without any target: the idle service (26 MB) and its full event history (8 MiB).
  static let serviceBytes = 36 << 20
  /// The divisor for the part of the limit that connections may use in any case, and for the part that is not planned.
  static let reservedShare = 8
  /// Bytes of one target: its definition, state, timer and route watch.
  static let targetBytes = 5_700
  /// Bytes for each check a second: results, queued checks and the allocator's free lists grow with the rate.
  static let bytesPerCheckPerSecond = 1_400
  /// Bytes of one label besides its text: its place in the dictionary and two heap blocks.
  static let labelBytes = 144
  /// Bytes of a parent that a target names, in its entry and in two indexes.
  static let parentBytes = 160

  /// The limit of the cgroup, in bytes.
  public var limit: Int

  /// The budget under a limit of a cgroup, in bytes.
  public init(limit: Int) { self.limit = limit }

  /// Bytes for targets; 0 when the service alone uses the budget.
  public var targets: Int {
    // In two parts, for the product of a large limit overflows.
    let usable = limit / 100 * Self.usableShare + limit % 100 * Self.usableShare / 100
    return max(0, usable - Self.serviceBytes)
  }

  /// Bytes for connections in any case.
  public var guaranteedConnections: Int { limit / Self.reservedShare }

  /// Bytes for connections while targets are charged with `used`.
  public func connections(besides used: Int) -> Int {
    max(guaranteedConnections, limit - limit / Self.reservedShare - Self.serviceBytes - used)
  }

  /// Bytes that a target is charged with at all times.
  static func resident(_ definition: TargetDefinition) -> Int {
    let labels = definition.labels.reduce(0) { $0 + labelBytes + $1.key.utf8.count + $1.value.utf8.count }
    let milliseconds = max(1, Int(definition.interval / .milliseconds(1)))
    let checks = bytesPerCheckPerSecond * 1_000 / milliseconds
    let parents = definition.dependsOn.reduce(0) { $0 + $1.parents.reduce(0) { $0 + parentBytes + 2 * $1.utf8.count } }
    return targetBytes + checks + labels + parents + 2 * definition.target.description.utf8.count
  }

  /// Bytes that a target's check uses on average while its peer never answers.
  static func running(_ definition: TargetDefinition) -> Int {
    Int(Double(definition.target.scheme.descriptor.waitingBytes) * min(1, definition.timeout / definition.interval))
  }

  /// Bytes of as many checks as run at once.
  static let mostRunning = 1_024 * 72_000
}
