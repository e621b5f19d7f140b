package import Logging
package import EmbeddedHTTPServer
package import NetworkReachability
internal import StatusAPI

/// The settings of the service, valid: what `reachd serve` runs with.
///
/// ``ConfigurationSources`` makes it.
package struct Configuration: Sendable {
  /// Where to listen; at least one address.
  package var listeners: [ListenerConfiguration]
  package var logLevel = Logger.Level.info
  package var logFormat = LineLogHandler.Format.text
  /// Whether each answer leaves a line in the log.
  var logsAccess = false
  /// How long a loss waits before it is told.
  package var settle = Duration.milliseconds(10)
  /// How long after SIGTERM new connections are still taken, so that an orchestrator sees `/readyz` turn first.
  var drainDelay = Duration.seconds(2)
  /// The most that stopping may take in all.
  var grace = Duration.seconds(10)
  /// Names that `Host` may carry besides literals and `localhost`.
  var allowedHosts: [String] = []
  /// Origins whose web pages may ask.
  var allowedOrigins: [String] = []
  /// Who may ask what, where a listener has no rules of its own.
  var access = AccessPolicy.Rules()
  /// The tokens that open something.
  var tokens: [AccessToken] = []
  /// A file with more tokens; nil for none.
  var tokensFile: String?
  /// Connections at once; nil for what the descriptor limit allows.
  var connectionLimit: Int?
  /// Connections at once from one address; nil or 0 for any number.
  var connectionsPerAddress: Int?
  /// Event streams at once; nil for the server's default.
  var streamLimit: Int?
  /// How event streams reach their clients.
  var streams = StreamMode.auto
  /// Bytes of a request body; nil for the server's default.
  var requestBodyLimit: Int?
  /// Registered targets at most, the file's included.
  var targetLimit: Int?
  /// Checks a second at most, scheduled and on demand; 0 for any number.
  var checksPerSecond: Int?
  /// The targets that are checked on a schedule.
  var targets: [TargetDefinition] = []
  /// Modules besides the built-in ones, or in their place.
  package var modules: [CheckModule] = []
  /// Whom callers may have us contact.
  var contactPolicy = ContactPolicy()
  /// Name servers; empty for those of the system.
  package var nameServers: [String] = []
  /// What is known better about interfaces than the kernel shows.
  package var interfaces: [InterfaceOverride] = []
  /// The deadline of a name's resolution, which sets its pace, too.
  package var resolverTimeout = Duration.seconds(5)

  /// Certificate and key of every TCP address that has none of its own.
  var tls = TLSFiles()
  /// How long clients are told, under TLS, to come by TLS only; nil to tell them nothing.
  var strictTransport: Duration?
  /// The certificates and keys that were read.
  var identities: [TLSFiles: TLSIdentity] = [:]

  /// Addresses with rules of their own that a file gives and a variable or a flag leaves out.
  var unusedRules: [ListenAddress] = []

  /// The addresses alone.
  package var listen: [ListenAddress] { listeners.map(\.address) }

  /// The default address: loopback, so that nothing is exposed by accident.
  package static let defaultListen = ListenAddress(host: "127.0.0.1", port: 8080)

  /// What was given by file, environment or flags: the path of each setting with its texts.
  var assigned: [String: [String]] = [:]

  init() { listeners = [ListenerConfiguration(Self.defaultListen)] }
}
