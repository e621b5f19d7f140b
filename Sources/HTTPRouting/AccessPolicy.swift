public import Credentials
internal import Locks
public import ReachabilityModel

/// What a request does, which determines the scope that it requires.
public enum AccessScope: String, CaseIterable, Sendable {
  /// Reads known state; the only packets that it may cause are DNS queries.
  case read
  /// Sends packets: an active check.
  case check
  /// Changes the targets that the schedule checks.
  case targetsWrite = "targets:write"
  /// Grants everything.
  case admin

  /// Whether the scope allows more than reading.
  var isActive: Bool { self != .read }
}

/// A configured token: its scopes, and the digest that identifies it.
public struct AccessToken: Sendable, Equatable {
  /// The name, which is part of the token and not secret.
  public var id: String
  /// The digest of the whole token.
  public var digest: SHA256Digest
  /// The granted scopes; `admin` grants all of them.
  public var scopes: Set<AccessScope>
  /// The expiry time; nil for none.
  public var expires: Timestamp?

  /// Creates a configured token.
  public init(id: String, digest: SHA256Digest, scopes: Set<AccessScope>, expires: Timestamp? = nil) {
    self.id = id
    self.digest = digest
    self.scopes = scopes
    self.expires = expires
  }

  func grants(_ scope: AccessScope) -> Bool { scopes.contains(scope) || scopes.contains(.admin) }
}

/// Which client may use which routes: the rules of each listener, and the tokens, which are valid on all listeners.
public struct AccessPolicy: Sendable, Equatable {
  /// What a kind of request requires.
  public enum Rule: String, CaseIterable, Sendable {
    /// No token: every client that can connect is allowed.
    case open
    /// A token with the required scope.
    case token
  }

  /// The rules of one listener.
  public struct Rules: Sendable, Equatable {
    /// The rule for requests that only read.
    public var reads: Rule
    /// The rule for all other requests; nil for `open` on loopback listeners and `token` elsewhere.
    public var checks: Rule?

    /// Creates the rules of a listener; the defaults without arguments.
    public init(reads: Rule = .open, checks: Rule? = nil) {
      self.reads = reads
      self.checks = checks
    }

    /// Returns the rule for a scope on a listener with these rules.
    func rule(for scope: AccessScope, isLocal: Bool) -> Rule {
      switch scope {
      case .read: reads
      case .check, .targetsWrite: checks ?? (isLocal ? .open : .token)
      case .admin: .token
      }
    }
  }

  /// The rules of each listener, by its number; a listener beyond the end has the defaults.
  public var listeners: [Rules]
  /// The routes that need no token where other reads do: badges, so that public web pages can embed them, and the states of
  /// gates, for probes.
  package var opened: Set<RouteDeclaration.Opening> = []
  private var tokens: [String: [AccessToken]]

  /// Creates a policy; several tokens may share an id, so that a token can be rotated without interruption.
  public init(
    listeners: [Rules] = [], tokens: [AccessToken] = [], badgesAreOpen: Bool = false, gatesAreOpen: Bool = false
  ) {
    self.listeners = listeners
    if badgesAreOpen { opened.insert(.badges) }
    if gatesAreOpen { opened.insert(.gates) }
    self.tokens = Dictionary(grouping: tokens, by: \.id)
  }

  /// Whether a token grants this scope, expired or not.
  func hasToken(for scope: AccessScope) -> Bool { tokens.values.contains { $0.contains { $0.grants(scope) } } }

  func rules(of listener: Int) -> Rules { listeners.indices.contains(listener) ? listeners[listener] : Rules() }

  /// Returns the configured token that matches; nil for an unknown or expired one.
  func token(for given: BearerToken, at now: Timestamp) -> AccessToken? {
    // Compute the digest for an unknown id, too, so that the response time does not reveal which ids exist.
    guard let digest = given.digest else { return nil }
    return tokens[given.id]?.first { $0.digest == digest && $0.expires.map { now < $0 } ?? true }
  }
}

/// The current policy.
///
/// It can be replaced while requests are handled. A stream is closed, and a long poll ends, when its token does not permit it any
/// more.
package final class AccessControl: Sendable {
  private let current: Locked<AccessPolicy>

  private let generation: ResponseCacheGeneration
  /// The long polls, which each change of the policy may end.
  private let waits = LongPollRegistry<Never>()

  init(_ policy: AccessPolicy, generation: ResponseCacheGeneration) {
    current = Locked(policy)
    self.generation = generation
  }

  package var policy: AccessPolicy { current.withLock(\.self) }

  package func replace(_ policy: AccessPolicy) {
    current.withLock { $0 = policy }
    generation.advance()
    waits.notify()
  }

  /// Returns a wait that ends with a refusal when the request is not permitted any more.
  ///
  /// - Parameters:
  ///   - wait: the wait of a request.
  ///   - refusal: makes the refusal; nil while the request is permitted.
  /// - Returns: the wait.
  func revocable(_ wait: HTTPWait, _ refusal: @escaping @Sendable () -> HTTPResponse?) -> HTTPWait {
    var revocable = wait.map { refusal() ?? $0 }
    let begin = revocable.begin
    revocable.begin = { [waits] promise in
      let end = begin(promise)
      let id = waits.add { _ in
        guard let response = refusal() else { return false }
        promise.fulfil(response)
        return true
      }
      return {
        waits.remove(id)
        end()
      }
    }
    return revocable
  }
}
