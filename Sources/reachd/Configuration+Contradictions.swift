internal import StatusAPI

extension Configuration {
  /// What is wrong with settings that are each possible by themselves.
  var contradictions: [ConfigurationError] {
    var errors: [ConfigurationError] = []
    for (id, tokens) in Dictionary(grouping: tokens, by: \.id) where tokens.count > Self.tokensOfOneID {
      errors.append(
        ConfigurationError(
          place: "configuration", path: "tokens", problem: "the id \(id) is there \(tokens.count) times",
          hint: "an old and a new token may share one id, \(Self.tokensOfOneID) at the most"))
    }
    if access.reads == .token, !tokens.contains(where: { !$0.scopes.isDisjoint(with: [.read, .admin]) }) {
      errors.append(
        ConfigurationError(
          place: "configuration", path: "access.reads", problem: "nobody could read: no token has the scope read",
          hint: "make one by `reachd token create --scope read`"))
    }
    return errors
  }

  /// An old one and its replacement.
  static let tokensOfOneID = 2

  /// Who may ask what.
  var accessPolicy: AccessPolicy { AccessPolicy(listeners: listen.map { _ in access }, tokens: tokens) }
}
