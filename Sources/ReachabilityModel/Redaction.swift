/// Removes possible secrets from a URL: user information, query values and the fragment (RFC 3986 §3).
///
/// All output of the service is redacted: logs, events, and documents that the scope `read` permits. The path and the
/// names of query parameters stay. A text that is not a URL is treated as a path.
public enum Redaction {
  /// The replacement for a value, as in the OpenTelemetry conventions for `url.query`.
  public static let mark = "REDACTED"

  /// The URL or request target without its secrets.
  ///
  /// - Parameter text: `https://user:password@host/path?key=value#fragment`, or `/check?target=…`.
  /// - Returns: `https://host/path?key=REDACTED`; the result of a second call is the same.
  public static func redacted(_ text: String) -> String {
    let bytes = Array(text.utf8)
    let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
    let query = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
    var out = path(bytes[..<query])
    if query < end {
      out.append(UInt8(ascii: "?"))
      let parts = bytes[(query + 1)..<end].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
      out += parts.map(parameter).joined(separator: [UInt8(ascii: "&")])
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// The name of a parameter; one without `=` is redacted as a whole.
  private static func parameter(_ part: ArraySlice<UInt8>) -> [UInt8] {
    guard !part.isEmpty else { return [] }
    guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return Array(mark.utf8) }
    return part[...equals] + (equals + 1 < part.endIndex ? Array(mark.utf8) : [])
  }

  /// Everything before the query; its segments may be URLs themselves: `/hosts/http%3A%2F%2Fuser:password%40host`.
  private static func path(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    /// Where the segment begins, in `out`; whether it is an authority, which a double slash precedes.
    var (segment, isAuthority, hasColon) = (0, false, false)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let (byte, next) = decoded(bytes, index)
      switch byte {
      case UInt8(ascii: "/") where !(isAuthority && endsInNoPort(out[segment...])):
        isAuthority = segment > 0 && segment == out.count
        out += bytes[index..<next]
        (segment, hasColon) = (out.count, false)
      case UInt8(ascii: "@") where isAuthority || hasColon: out.removeSubrange(segment...)
      case UInt8(ascii: "?"), UInt8(ascii: "#"):
        // This is the query of a URL that is encoded as a whole.
        return out + bytes[index..<next] + (next < bytes.endIndex ? Array(mark.utf8) : [])
      default:
        if byte == UInt8(ascii: ":") { hasColon = true }
        out += bytes[index..<next]
      }
      index = next
    }
    // A password with a question mark or a number sign in it continues after the path.
    if isAuthority, endsInNoPort(out[segment...]) { return out[..<segment] + Array(mark.utf8) }
    return out
  }

  /// Whether the text after an authority's last colon is not a port: it may be a password with a slash in it.
  private static func endsInNoPort(_ authority: ArraySlice<UInt8>) -> Bool {
    let host = String(decoding: authority.prefix { $0 != UInt8(ascii: "%") }, as: UTF8.self)
    guard authority.first != UInt8(ascii: "["), IPAddress(host) == nil,
      let last = authority.indices.reversed().first(where: { decoded(authority, $0).byte == UInt8(ascii: ":") })
    else { return false }
    return !authority[decoded(authority, last).next...].allSatisfy(\.isASCIIDigit)
  }

  /// The byte at an index, percent-decoded repeatedly (`%40`, `%2540`), and the index of the next one.
  private static func decoded(_ bytes: ArraySlice<UInt8>, _ index: Int) -> (byte: UInt8, next: Int) {
    guard bytes[index] == UInt8(ascii: "%") else { return (bytes[index], index + 1) }
    var digits = index + 1
    while bytes[digits...].starts(with: "25".utf8) { digits += 2 }
    let pair = bytes[digits...].prefix(2)
    guard pair.count == 2, let text = String(validating: pair, as: UTF8.self), let byte = UInt8(text, radix: 16) else {
      return (bytes[index], index + 1)
    }
    return (byte, digits + 2)
  }
}

extension CheckTarget {
  /// The canonical text without query values, for readers without the scope `targets:write`.
  public var redacted: String { redacting(description) }

  package func redacting(_ text: String) -> String {
    // The record type of a DNS question is part of the target and not secret.
    question == nil ? Redaction.redacted(text) : text
  }
}
