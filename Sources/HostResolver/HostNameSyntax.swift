internal import Glibc

/// Classifies texts as DNS names, as literal addresses, or as neither.
enum HostNameSyntax {
  enum Verdict: Equatable {
    /// A name in lower case (RFC 4343: the DNS ignores case, so one cache entry is enough).
    case name(String)
    case address(ResolvedAddress)
  }

  /// Classifies the host of a request or a command; throws `invalidName` with the problem and the correction.
  static func classify(_ text: String) throws(HostResolutionFailure) -> Verdict {
    if text.isEmpty { throw .invalidName("the name is empty") }
    // No literal is longer than the longest name with its final dot, so a longer text is neither.
    guard text.utf8.count <= Limits.nameBytes + 1 else {
      throw .invalidName("the name has \(text.utf8.count) bytes; at most \(Limits.nameBytes) are possible")
    }
    if text.utf8.contains(where: { $0 < 0x21 || $0 == 0x7F }) {
      throw .invalidName("the name contains a space or a control character")
    }
    if text.utf8.contains(where: { $0 >= 0x80 }) {
      throw .invalidName("the name is not ASCII; give its punycode form (xn--…)")
    }
    if text.contains("://") { throw .invalidName("this is a URL; give the host alone") }
    if text.contains("/") { throw .invalidName("a host has no '/'; give the name or the address alone") }
    if let address = try literal(text) { return .address(address) }
    if text.contains(":") { throw .invalidName("give the name without a port") }
    return .name(try name(text))
  }

  private static func name(_ text: String) throws(HostResolutionFailure) -> String {
    let lowercased = text.lowercased()
    var labels = lowercased.split(separator: ".", omittingEmptySubsequences: false)
    if labels.last?.isEmpty == true { labels.removeLast() }  // the final dot
    if labels.isEmpty || labels.contains(where: \.isEmpty) { throw .invalidName("the name has an empty label") }
    if labels.reduce(labels.count - 1, { $0 + $1.utf8.count }) > Limits.nameBytes {
      throw .invalidName("the name is longer than \(Limits.nameBytes) bytes")
    }
    for label in labels {
      if label.utf8.count > Limits.labelBytes {
        throw .invalidName("the label '\(label)' is longer than \(Limits.labelBytes) bytes")
      }
      // Letters, digits and hyphens (RFC 952, 1123), and the underscore, which zones use in practice.
      if let character = label.unicodeScalars.first(where: { !isNameScalar($0) }) {
        throw .invalidName("the character '\(character)' does not belong in a host name")
      }
    }
    // No top-level domain is a number (RFC 3696 section 2), but inet_aton(3) parses 127.1 and 0x7f.1 as addresses. If
    // they were names here and addresses in another library, they would bypass every address policy.
    if let last = labels.last, isNumber(last) {
      throw .invalidName("an IPv4 address is written as four decimal numbers, and no name ends in a number")
    }
    return lowercased
  }

  private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "0"..."9", "-", "_": true
    default: false
    }
  }

  private static func isNumber(_ label: Substring) -> Bool {
    label.allSatisfy(\.isNumber) || (label.hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit))
  }

  /// An IPv4 or IPv6 literal as inet_pton(3) reads it, the latter with a zone (RFC 4007 section 11) if link-local.
  private static func literal(_ text: String) throws(HostResolutionFailure) -> ResolvedAddress? {
    let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let digits = parts.first else { return nil }
    guard parts.count == 2 else { return bytes(of: digits).map { ResolvedAddress(bytes: $0) } }
    guard let bytes = bytes(of: digits), bytes.count == 16 else {
      throw .invalidName("only an IPv6 address may have a zone after '%'")
    }
    guard bytes[0] == 0xFE, bytes[1] & 0xC0 == 0x80 else { throw .invalidName("only a link-local address has a zone") }
    let zone = parts[1]
    let scopeID = unsafe UInt32(zone) ?? if_nametoindex(zone)
    guard scopeID > 0 else { throw .invalidName("there is no interface '\(zone)'") }
    return ResolvedAddress(bytes: bytes, scopeID: scopeID)
  }

  private static func bytes(of text: String) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if unsafe inet_pton(family, text, &bytes) == 1 { return bytes }
    }
    return nil
  }
}

extension Resolver {
  /// Whether a text can be resolved, now or later.
  package static func accepts(_ name: String) -> Bool {
    // The interface may appear later.
    name.contains("%") || (try? HostNameSyntax.classify(name)) != nil
  }
}
