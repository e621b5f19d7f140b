internal import HostProcess
internal import Locks
internal import ReachabilityModel

/// The time zones of this machine: the files that the C library reads, too.
///
/// The C library has one time zone for a process, the variable TZ, which threads cannot change independently (ADR 66).
public final class TimeZoneDatabase: Sendable {
  /// Where Debian and other distributions have them.
  public static let directory = "/usr/share/zoneinfo"

  private let path: String
  private let known = Locked<[String: TimeZoneRules]>([:])

  /// Creates a database without reading it.
  public init(_ path: String = directory) { self.path = path }

  /// The rules of a time zone; nil for one that the machine does not have.
  ///
  /// It reads a file the first time.
  ///
  /// - Parameter name: such as `Europe/Berlin`; `UTC` needs no file.
  /// - Returns: the rules.
  public func rules(_ name: String) -> TimeZoneRules? {
    if name == "UTC" { return .utc }
    guard Self.isName(name) else { return nil }
    if let rules = known.withLock({ $0[name] }) { return rules }
    // Not a pipe, whose reader would wait.
    guard
      let bytes = try? FileReader.bytes(of: "\(path)/\(name)", limit: Limits.timeZoneBytes, blocking: false),
      let rules = TimeZoneRules(tzif: bytes)
    else { return nil }
    known.withLock { known in
      if known.count >= Limits.timeZones { known = [:] }
      known[name] = rules
    }
    return rules
  }

  /// Whether a text has the form of a name: no path that leads out of the directory.
  static func isName(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return text.utf8.count <= 64 && parts.count <= 3
      && parts.allSatisfy { part in
        part.first.map { (0x41...0x5a).contains($0 & 0xdf) } ?? false
          && part.allSatisfy { byte in
            (0x41...0x5a).contains(byte & 0xdf) || byte.isASCIIDigit || [0x2b, 0x2d, 0x5f].contains(byte)
          }
      }
  }
}
