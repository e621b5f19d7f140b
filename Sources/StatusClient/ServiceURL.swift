internal import ReachabilityModel

/// The URL of a service: `http://host:8080`, `https://host:8443/prefix` or `unix:/run/reachd.sock`.
package struct ServiceURL {
  package struct Invalid: Error, CustomStringConvertible {
    package var description: String
  }

  /// The beginning of every request's URL, without a slash at its end.
  package let root: String
  /// The path of the Unix-domain socket; nil for TCP.
  package let socket: String?

  /// Parses a URL.
  ///
  /// - Parameters:
  ///   - text: the URL.
  ///   - origin: the option or variable with the URL, for the error.
  /// - Throws: what is wrong, and what would be right.
  package init(_ text: String, from origin: String) throws(Invalid) {
    let quoted = text.debugDescription
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst("unix:".count))
      guard path.hasPrefix("/") else {
        throw Invalid(description: "\(origin): no path in \(quoted); expected for example unix:/run/reachd.sock")
      }
      (root, socket) = ("http://localhost", path)
      return
    }
    guard let separator = text.firstRange(of: "://") else {
      throw Invalid(description: "\(origin): no scheme in \(quoted); expected for example http://host:8080")
    }
    let scheme = String(text[..<separator.lowerBound])
    guard ["http", "https"].contains(scheme.lowercased()) else {
      throw Invalid(
        description: "\(origin): unknown scheme \(scheme.debugDescription); expected http://, https:// or unix:/PATH")
    }
    let authority = text[separator.upperBound...].prefix { !"/?#".contains($0) }
    // The text may contain a password, so it is not quoted.
    guard !authority.contains("@") else {
      throw Invalid(description: "\(origin): the URL has user information; a token is sent with --token-file")
    }
    guard text[separator.upperBound...].allSatisfy({ !"?#".contains($0) }) else {
      throw Invalid(
        description: "\(origin): \(quoted) has a query or a fragment; expected for example http://host:8080")
    }
    guard authority.contains("[") == authority.contains("]") else {
      throw Invalid(description: "\(origin): no pair of brackets in \(quoted); expected for example http://[::1]:8080")
    }
    let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
    let colon = authority[bracket...].firstIndex(of: ":")
    guard !authority[..<(colon ?? authority.endIndex)].isEmpty else {
      throw Invalid(description: "\(origin): no host in \(quoted); expected for example http://host:8080")
    }
    if let colon {
      let digits = authority[authority.index(after: colon)...]
      guard digits.isDecimal, let port = UInt16(digits), port > 0 else {
        throw Invalid(
          description:
            "\(origin): the port must be an integer between 1 and 65535, got \(String(digits).debugDescription)")
      }
    }
    (root, socket) = (text.hasSuffix("/") ? String(text.dropLast()) : text, nil)
  }
}
