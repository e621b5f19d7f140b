internal import ReachabilityModel

enum ConfiguredOrigin {
  /// The default ports, which browsers omit (RFC 6454 §6.1).
  private static let defaultPorts = ["http": "80", "https": "443"]

  /// Whether a text is scheme, host and an optional port in lower case, without a path: the form that browsers send.
  static func isOrigin(_ text: String) -> Bool {
    guard let separator = text.firstRange(of: "://"), let usual = defaultPorts[String(text[..<separator.lowerBound])]
    else { return false }
    let rest = text[separator.upperBound...]
    guard let end = rest.hasPrefix("[") ? rest.firstIndex(of: "]").map(rest.index(after:)) : rest.firstIndex(of: ":")
    else { return isHost(rest) }
    return isHost(rest[..<end]) && (end == rest.endIndex || isPort(rest[end...], besides: usual))
  }

  private static func isHost(_ host: Substring) -> Bool {
    if host.hasPrefix("["), host.hasSuffix("]") {
      let literal = String(host.dropFirst().dropLast())
      // Browsers write an address in its canonical form (RFC 5952).
      return IPAddress(literal).map { $0.family == .ipv6 && $0.description == literal } ?? false
    }
    // The final dot of a name is part of the origin.
    let name = host.hasSuffix(".") ? host.dropLast() : host
    return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty
        && label.utf8.allSatisfy { byte in
          (0x61...0x7a).contains(byte) || byte.isASCIIDigit || "-_".utf8.contains(byte)
        }
    }
  }

  /// Whether a text is a colon and a port as browsers write it, other than the default port.
  private static func isPort(_ text: Substring, besides usual: String) -> Bool {
    let digits = String(text.dropFirst())
    guard text.first == ":", let port = UInt16(digits), port > 0 else { return false }
    return digits == "\(port)" && digits != usual
  }
}
