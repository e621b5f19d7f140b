internal import ReachabilityModel
internal import TextSyntax

/// The cookies that the servers of one check have set, for its further requests (RFC 6265).
///
/// They exist only during the check. Public suffixes are not regarded: a server that sets a cookie also chooses the next URL, and
/// could send the same data in it.
struct HTTPCookieJar {
  private struct Cookie {
    var name: String
    var value: String
    var domain: String
    var isHostOnly: Bool
    var path: String
    var isSecure: Bool
  }

  private var cookies: [Cookie] = []

  /// Stores the cookie of a field `Set-Cookie`; a field that is not valid is ignored.
  mutating func store(_ field: String, from target: CheckTarget, now: Timestamp) {
    guard field.utf8.count <= Limits.cookieBytes else { return }
    let parts = field.split(separator: ";", omittingEmptySubsequences: false).map(\.trimmed)
    guard let pair = parts.first, let equals = pair.firstIndex(of: "="), equals > pair.startIndex else { return }
    let host = Self.host(target)
    var cookie = Cookie(
      name: pair[..<equals].trimmed, value: pair[pair.index(after: equals)...].trimmed, domain: host, isHostOnly: true,
      path: Self.defaultPath(target), isSecure: false)
    var isExpired = false
    var hasMaximumAge = false
    for attribute in parts.dropFirst() {
      let words = attribute.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
      let value = words.count > 1 ? words[1] : ""
      switch words[0].lowercased() {
      case "domain":
        let domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
        guard !domain.isEmpty else { continue }
        guard Self.matches(host, domain) else { return }
        cookie.domain = domain
        cookie.isHostOnly = domain == host
      case "path" where value.hasPrefix("/"): cookie.path = value
      case "secure": cookie.isSecure = true
      case "max-age":
        guard let seconds = Int(value) else { continue }
        (isExpired, hasMaximumAge) = (seconds <= 0, true)
      case "expires" where !hasMaximumAge:
        if let time = Timestamp(httpDate: value, now: now) { isExpired = time <= now }
      default: continue
      }
    }
    cookies.removeAll { $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path }
    if !isExpired, cookies.count < Limits.cookies { cookies.append(cookie) }
  }

  /// The value of the field `Cookie` for a request; nil for none.
  func field(for target: CheckTarget) -> String? {
    guard !cookies.isEmpty else { return nil }
    let host = Self.host(target)
    let path = Self.path(target)
    let fitting = cookies.filter { cookie in
      let isHost = cookie.isHostOnly ? host == cookie.domain : Self.matches(host, cookie.domain)
      return isHost && Self.includes(cookie.path, path) && (!cookie.isSecure || target.scheme == .https)
    }
    // Longer paths first (RFC 6265 §5.4); the sort is stable.
    let sorted = fitting.enumerated().sorted {
      ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
    }
    return sorted.isEmpty ? nil : sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
  }

  private static func host(_ target: CheckTarget) -> String { target.host.withoutFinalDot.lowercased() }

  private static func path(_ target: CheckTarget) -> Substring {
    target.pathAndQuery.prefix { $0 != "?" }
  }

  /// The directory of the path (RFC 6265 §5.1.4).
  private static func defaultPath(_ target: CheckTarget) -> String {
    guard let slash = path(target).lastIndex(of: "/"), slash > path(target).startIndex else { return "/" }
    return String(path(target)[..<slash])
  }

  /// Whether a host is a domain or is in it (RFC 6265 §5.1.3).
  private static func matches(_ host: String, _ domain: String) -> Bool {
    host == domain || IPAddress(host) == nil && domain.contains(".") && host.hasSuffix(".\(domain)")
  }

  /// Whether a cookie's path includes a request's (RFC 6265 §5.1.4).
  private static func includes(_ cookie: String, _ request: Substring) -> Bool {
    request == cookie
      || request.hasPrefix(cookie) && (cookie.hasSuffix("/") || request.dropFirst(cookie.count).first == "/")
  }
}
