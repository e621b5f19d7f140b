internal import MicroHTTP
internal import StatusAPI

extension Configuration {
  /// An old token and its replacement.
  static let tokensOfOneID = 2

  /// What is wrong with settings that are each possible by themselves.
  var contradictions: [ConfigurationError] {
    var errors: [ConfigurationError] = []
    func complain(_ path: String, _ problem: String, _ hint: String) {
      errors.append(ConfigurationError(place: "configuration", path: path, problem: problem, hint: hint))
    }
    for (id, tokens) in Dictionary(grouping: tokens, by: \.id) where tokens.count > Self.tokensOfOneID {
      complain(
        "tokens", "the id \(id) is there \(tokens.count) times",
        "an old and a new token may share one id, \(Self.tokensOfOneID) at the most")
    }
    if access.reads == .token || listeners.contains(where: { $0.reads == .token }),
      !tokens.contains(where: { !$0.scopes.isDisjoint(with: [.read, .admin]) })
    {
      complain(
        "access.reads", "nobody could read: no token has the scope read",
        "make one by `reachd token create --scope read`")
    }
    for listener in listeners {
      let isUnix = listener.address.path != nil
      if isUnix, listener.tls.isGiven {
        complain("listen", "\(listener.address) cannot speak TLS", "leave certificate and key out")
      }
      if !isUnix, listener.mode != nil {
        complain("listen", "\(listener.address) has no file", "mode is for unix:/path")
      }
      if listener.isPlain, listener.tls.isGiven {
        complain("listen", "\(listener.address) has tls: off and a certificate", "leave one of them out")
      }
    }
    return errors
  }
}
