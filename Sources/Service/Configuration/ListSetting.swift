internal import Credentials
internal import HTTPRouting
internal import ReachabilityChecks
internal import StatusAPI
internal import YAMLTree

/// A setting that is a list of mappings; only a file can contain it, no flag or variable.
struct ListSetting: Sendable {
  /// One key of such a mapping.
  struct Field: Sendable {
    var name: String
    var isList = false
    var isRequired = false
    /// Messages omit the value: it may be a secret in place of its digest.
    var isSecret = false
    /// The expected value, for error messages.
    var expectation: String
    var isValid: @Sendable ([String]) -> Bool
  }

  /// One mapping as written, with valid values: the texts of each field that is present.
  struct Record: Sendable {
    var fields: [String: [String]] = [:]

    subscript(name: String) -> String? { fields[name]?.first }

    /// The fields in order, to compare two records.
    var description: String {
      fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.joined(separator: ","))" }.joined(separator: " ")
    }
  }

  /// The key in the file.
  var path: String
  var fields: [Field]
  /// The field that an element stands for that is not a mapping; nil when each element must be a mapping.
  var shorthand: String?
  var apply: @Sendable (inout Configuration, [Record]) -> Void

  /// Returns the members with those of nested mappings: `limits: {targets: 5}` is the field `limits.targets`.
  func flattened(_ members: [YAMLNode.Entry]) -> [YAMLNode.Entry] {
    members.flatMap { member -> [YAMLNode.Entry] in
      guard fields.contains(where: { $0.name.hasPrefix(member.name + ".") }), let nested = member.value.entries else {
        return [member]
      }
      return nested.map { inner in
        let name = YAMLNode.Value.scalar("\(member.name).\(inner.name)", isPlain: true, tag: nil)
        return YAMLNode.Entry(key: .init(position: inner.key.position, value: name), value: inner.value)
      }
    }
  }

  static let all: [ListSetting] = [listen, interfaces, tokens]

  /// The configured tokens; the file that `tokensFile` names is a list of the same form.
  static let tokens = ListSetting(
    path: "tokens",
    fields: [
      Field(name: "id", isRequired: true, expectation: "lower-case letters, digits and hyphens, 32 at the most") {
        BearerToken.isID($0.first ?? "")
      },
      Field(
        name: "sha256", isRequired: true, isSecret: true,
        expectation: "the digest that `reachd token create` prints: 64 hexadecimal digits, never the token itself"
      ) { SHA256Digest(hexadecimal: $0.first ?? "") != nil },
      Field(
        name: "scopes", isList: true, isRequired: true,
        expectation: "one or more of \(AccessScope.allCases.map(\.rawValue).joined(separator: ", "))"
      ) { !$0.isEmpty && $0.allSatisfy { AccessScope(rawValue: $0) != nil } },
      Field(name: "expires", expectation: "a time such as 2027-01-01 or 2027-01-01T00:00:00Z") {
        Timestamp($0.first ?? "") != nil
      },
      Field(name: "limits.targets", expectation: "an integer from 0 to 100000") {
        limit($0, 0...100_000) != nil
      },
      Field(name: "limits.minimumInterval", expectation: "a duration from 100ms to 24h, such as 10s") {
        minimumInterval($0) != nil
      },
      Field(name: "limits.checksPerSecond", expectation: "an integer from 1 to 1000000") {
        limit($0, 1...1_000_000) != nil
      },
      Field(name: "limits.changesPerSecond", expectation: "an integer from 1 to 1000000") {
        limit($0, 1...1_000_000) != nil
      },
    ]
  ) { configuration, records in
    configuration.tokens += records.compactMap(token)
    for record in records {
      if let id = record["id"] { configuration.accountLimits[id, default: []].insert(accountLimits(record)) }
    }
  }

  @Sendable private static func token(_ record: Record) -> AccessToken? {
    guard let id = record["id"], let digest = SHA256Digest(hexadecimal: record["sha256"] ?? "") else { return nil }
    let scopes = Set((record.fields["scopes"] ?? []).compactMap { AccessScope(rawValue: $0) })
    let expires = record["expires"].flatMap { Timestamp($0) }
    return AccessToken(id: id, digest: digest, scopes: scopes, expires: expires)
  }

  private static func accountLimits(_ record: Record) -> AccountLimits {
    AccountLimits(
      targets: record.fields["limits.targets"].flatMap { limit($0, 0...100_000) },
      minimumInterval: record.fields["limits.minimumInterval"].flatMap(minimumInterval),
      checksPerSecond: record.fields["limits.checksPerSecond"].flatMap { limit($0, 1...1_000_000) },
      changesPerSecond: record.fields["limits.changesPerSecond"].flatMap { limit($0, 1...1_000_000) })
  }

  @Sendable private static func limit(_ texts: [String], _ range: ClosedRange<Int>) -> Int? {
    texts.first.flatMap { Int($0) }.flatMap { range.contains($0) ? $0 : nil }
  }

  @Sendable private static func minimumInterval(_ texts: [String]) -> Duration? {
    texts.first.flatMap { DurationFormat.parse($0) }.flatMap { TargetSpec.Bounds.interval.contains($0) ? $0 : nil }
  }
}
