public import Credentials
internal import Locks
internal import EmbeddedHTTPServer
public import ReachabilityChecks
public import ReachabilityModel

/// What a request does, and so which right it needs.
public enum Scope: String, CaseIterable, Sendable {
  /// Reads what is known: no packet leaves for it but a question to a name server.
  case read
  /// Has packets sent: an active check.
  case check
  /// Changes which targets are checked by themselves.
  case targetsWrite = "targets:write"
  /// Everything.
  case admin

  /// Whether it does more than read.
  var isActive: Bool { self != .read }
}

/// A token as it is configured: what it opens, and the digest by which it is known again.
public struct AccessToken: Sendable, Equatable {
  /// Its name, which is part of the token and no secret.
  public var id: String
  /// The digest of the whole token.
  public var digest: SHA256Digest
  /// What it opens; `admin` opens everything.
  public var scopes: Set<Scope>
  /// When it ends; nil for never.
  public var expires: Timestamp?
  /// What its callers may use.
  public var limits: AccountLimits

  /// A configured token.
  public init(
    id: String, digest: SHA256Digest, scopes: Set<Scope>, expires: Timestamp? = nil,
    limits: AccountLimits = AccountLimits()
  ) {
    self.limits = limits
    self.id = id
    self.digest = digest
    self.scopes = scopes
    self.expires = expires
  }

  func grants(_ scope: Scope) -> Bool { scopes.contains(scope) || scopes.contains(.admin) }
}

/// Who may ask what: the rules of each listener, and the tokens, which hold for all of them.
public struct AccessPolicy: Sendable, Equatable {
  /// What a kind of request needs.
  public enum Rule: String, CaseIterable, Sendable {
    /// Everybody who can connect may.
    case open
    /// Who brings a token for it may.
    case token
  }

  /// The rules of one listener.
  public struct Rules: Sendable, Equatable {
    /// For everything that only reads.
    public var reads: Rule
    /// For everything that does more; nil for `open` where only this machine can connect, and `token` elsewhere.
    public var checks: Rule?

    /// The rules of a listener, the defaults without arguments.
    public init(reads: Rule = .open, checks: Rule? = nil) {
      self.reads = reads
      self.checks = checks
    }

    /// What a request needs that came in by a listener of these rules.
    func rule(for scope: Scope, isLocal: Bool) -> Rule {
      switch scope {
      case .read: reads
      case .check, .targetsWrite: checks ?? (isLocal ? .open : .token)
      case .admin: .token
      }
    }
  }

  /// The rules of each listener, by its number; those of a listener beyond the end are the defaults.
  public var listeners: [Rules]
  private var tokens: [String: [AccessToken]]

  /// A policy; several tokens may have one id, so that one can be replaced without a moment in which none is good.
  public init(listeners: [Rules] = [], tokens: [AccessToken] = []) {
    self.listeners = listeners
    self.tokens = Dictionary(grouping: tokens, by: \.id)
  }

  /// The limits of the callers with a token, by its id; tokens of one id share them.
  var limits: [String: AccountLimits] { tokens.compactMapValues { $0.first?.limits } }

  /// Whether there is a token that opens this, expired or not.
  func hasToken(for scope: Scope) -> Bool { tokens.values.contains { $0.contains { $0.grants(scope) } } }

  /// The rules of a listener.
  func rules(of listener: Int) -> Rules { listeners.indices.contains(listener) ? listeners[listener] : Rules() }

  /// The configured token that this one is; nil for an unknown or expired one.
  func token(for given: BearerToken, at now: Timestamp) -> AccessToken? {
    // The digest is made for an unknown id, too, so that the time does not tell which ids there are.
    guard let digest = given.digest else { return nil }
    return tokens[given.id]?.first { $0.digest == digest && $0.expires.map { now < $0 } ?? true }
  }
}

/// The policy as it is now.
///
/// It can be replaced while requests are answered: streams that are open stay open.
final class AccessControl: Sendable {
  private let current: Locked<AccessPolicy>

  private let epoch: CacheGeneration

  init(_ policy: AccessPolicy, epoch: CacheGeneration = CacheGeneration()) {
    current = Locked(policy)
    self.epoch = epoch
  }

  var policy: AccessPolicy { current.withLock(\.self) }

  func replace(_ policy: AccessPolicy) {
    current.withLock { $0 = policy }
    epoch.advance()
  }
}
