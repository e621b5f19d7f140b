internal import ReachabilityModel

/// What libcurl is told about whom it talks to, where that is not the target's own name.
///
/// libcurl takes the name of the TLS handshake from the URL: where a recipe gives another, that stands in the URL, and the
/// target's own in the field `Host`.
struct HTTPStage {
  /// What libcurl takes for the target.
  let url: ProbeTarget
  /// The field `Host`, if it is not what the URL says.
  let host: String?
  private let target: ProbeTarget

  init(_ target: ProbeTarget, _ recipe: HTTPRecipe, isFirst: Bool) {
    self.target = target
    guard isFirst, target.scheme == .https, let name = recipe.tls.serverName else {
      (url, host) = (target, nil)
      return
    }
    var url = target
    url.host = Target(.name(name))
    self.url = url
    host = Self.authority(target)
  }

  /// The status codes that send a client on by `Location` (RFC 9110 §15.4); 300 and 304 do not.
  static let redirects = [301, 302, 303, 307, 308]

  /// Where a redirect leads that libcurl has put together with the URL's host.
  func redirect(_ url: String, _ location: String?) -> String {
    // What names no host means the one that was asked, and that is not the one in the URL.
    guard host != nil, let location, !Self.namesHost(location) else { return url }
    let prefix = "\(target.scheme.rawValue)://"
    let rest = url.hasPrefix(prefix) ? url.dropFirst(prefix.count) : url[...]
    return prefix + Self.authority(target) + rest.drop { $0 != "/" && $0 != "?" }
  }

  private static func namesHost(_ location: String) -> Bool {
    let start = location.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    return location.hasPrefix("//") || start.contains(":")
  }

  /// Host and port as the target's text has them.
  private static func authority(_ target: ProbeTarget) -> String {
    String(target.description.dropFirst("\(target.scheme.rawValue)://".count).prefix { $0 != "/" && $0 != "?" })
  }
}
