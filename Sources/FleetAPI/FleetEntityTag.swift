internal import EmbeddedHTTPServer
internal import ReachabilityFleet
internal import StatusAPI

/// The tag of a target of the fleet, `"<version>.<sequence>"`: the version of its definition, and the stream sequence of
/// the last message that concerns its verdict or its votes.
///
/// It is the same at every replica. Preconditions compare the version only, which survives the loss of the stream; a long
/// poll waits for another tag. It ends in `.r` for clients that receive redacted URLs.
struct FleetEntityTag: CustomStringConvertible {
  private let version: UInt64
  private let sequence: UInt64
  private let visibility: TargetVisibility

  init(_ target: FleetFoldedTarget, _ visibility: TargetVisibility) {
    version = target.version
    sequence = max(target.changedAt, target.verdict?.sequence ?? 0)
    self.visibility = visibility
  }

  var description: String { "\"\(version).\(sequence)\(visibility == .redacted ? ".r" : "")\"" }

  /// The tag of a page of targets: a hash of theirs.
  static func ofList(_ page: ArraySlice<(id: String, target: FleetFoldedTarget)>, _ visibility: TargetVisibility)
    -> String
  {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for (id, target) in page {
      for byte in "\(id)\(FleetEntityTag(target, visibility))".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    return "\"\(String(hash, radix: 16))\""
  }

  /// Enforces `If-Match` and `If-None-Match` of a change.
  static func enforcePreconditions(_ request: HTTPRequest, _ id: String, _ present: FleetFoldedTarget?) throws(Problem)
  {
    func tags(_ list: String) -> [Substring] {
      list.split(separator: ",").map { $0.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" } }
    }
    func version(_ tag: Substring) -> UInt64? {
      guard tag.hasPrefix("\""), tag.hasSuffix("\"") else { return nil }
      return tag.dropFirst().dropLast().split(separator: ".").first.flatMap { UInt64($0) }
    }
    let matches = request.headers["If-Match"].map(tags).map { list in
      present.map { present in list == ["*"] || list.contains { version($0) == present.version } } ?? false
    }
    let excludes = request.headers["If-None-Match"].map(tags).map { list in
      present.map { present in
        list.contains("*") || list.contains { version($0.hasPrefix("W/") ? $0.dropFirst(2) : $0) == present.version }
      } ?? false
    }
    guard matches ?? true, !(excludes ?? false) else {
      throw Problem(
        .preconditionFailed, "the target \(id) does not match If-Match or If-None-Match; GET it and retry")
    }
  }
}
