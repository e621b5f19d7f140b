internal import ReachabilityModel

/// Origins as configurations give them.
enum WebOrigin {
  /// The ports that browsers leave out (RFC 6454 §6.1).
  private static let defaultPorts = ["http": "80", "https": "443"]

  /// Scheme, host and perhaps a port, in lower case and nothing behind: exactly what a browser compares by.
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
      // Browsers write an address in one way only (RFC 5952).
      return IPAddress(literal).map { $0.family == .ipv6 && $0.description == literal } ?? false
    }
    // Of a name with its final dot that is a part.
    let name = host.hasSuffix(".") ? host.dropLast() : host
    return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty
        && label.utf8.allSatisfy { byte in
          (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || "-_".utf8.contains(byte)
        }
    }
  }

  /// A colon and a number as browsers write it, other than the one that they leave out.
  private static func isPort(_ text: Substring, besides usual: String) -> Bool {
    let digits = String(text.dropFirst())
    guard text.first == ":", let port = UInt16(digits), port > 0 else { return false }
    return digits == "\(port)" && digits != usual
  }
}
