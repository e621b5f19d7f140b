internal import EventLoop
package import Logging
package import EmbeddedHTTPServer
internal import HTTPRouting
package import NetworkReachability
internal import ReachabilityChecks
internal import StatusAPI
internal import Webhooks

/// The valid settings of the service, with which `reachd serve` runs.
///
/// ``ConfigurationSources`` creates it.
package struct Configuration: Sendable {
  /// The addresses to listen on; at least one.
  package var listeners: [ListenerConfiguration]
  package var logLevel = Logger.Level.info
  package var logFormat = LineLogHandler.Format.text
  /// Whether the log contains a line for each response.
  var logsAccess = false
  /// The delay before a loss is reported.
  package var settle = Duration.milliseconds(10)
  /// How long new connections are accepted after SIGTERM, so that an orchestrator sees the change of `/readyz` first.
  var drainDelay = Duration.seconds(2)
  /// The time limit of the whole shutdown.
  var grace = Duration.seconds(10)
  /// The names that `Host` may contain besides address literals and `localhost`.
  var allowedHosts: [String] = []
  /// Whether browsers get the status page at `/`.
  var servesPage = true
  /// The origins whose web pages may send requests.
  var allowedOrigins: [String] = []
  /// The access rules for listeners without rules of their own.
  var access = AccessPolicy.Rules()
  /// Whether badges need a token where other reads do.
  var badges = AccessPolicy.Rule.token
  /// Whether the states of gates need a token where other reads do.
  var gateStates = AccessPolicy.Rule.token
  var tokens: [AccessToken] = []
  /// The limits of the clients with tokens, by the id of the token; tokens of one id share them.
  var accountLimits: [String: Set<AccountLimits>] = [:]
  /// The path of a file with more tokens; nil for none.
  var tokensFile: String?
  /// Whether a change of the configuration file itself is applied without SIGHUP.
  var watchesFile = false
  var webhookFiles: [String] = []
  /// The limit of concurrent connections; nil for what the descriptor limit allows.
  var connectionLimit: Int?
  /// The limit of concurrent connections from one address; nil or 0 for no limit.
  var connectionsPerAddress: Int?
  /// The limit of concurrent event streams; nil for the server's default.
  var streamLimit: Int?
  /// How event streams are sent to their clients.
  var streams = HTTPStreamMode.auto
  /// The limit of a request body in bytes; nil for the server's default.
  var requestBodyLimit: Int?
  /// The limit of registered targets, including those of the file.
  var targetLimit: Int?
  /// The limit of checks per second, scheduled and on demand; 0 for no limit.
  var checksPerSecond: Int?
  /// The limit of changes and removals of targets per second by one account; 0 for no limit.
  var changesPerSecond: Int?
  /// The names of the labels of targets that are labels of `reachd_target_up`.
  var metricLabels: [MetricLabel] = []
  /// The targets that are checked on a schedule.
  var targets: [TargetDefinition] = []
  /// What programs need, as one condition each.
  package var gates: [GateDefinition] = []
  /// The modules besides the built-in ones, or in place of them.
  package var modules: [CheckModule] = []
  var webhooks: [WebhookDefinition] = []
  /// The rules for the targets that clients may check.
  var contactPolicy = ContactPolicy()
  /// The name servers; empty for those of the system.
  package var nameServers: [String] = []
  /// The properties of interfaces that the kernel does not report.
  package var interfaces: [InterfaceOverride] = []
  /// The data directory; nil for the service manager's, or for memory only.
  var data: String?
  /// The directory of the page that outlives the process; nil for the service manager's, or `/dev/shm`.
  var storeRuntime: String?
  /// The size of the database from which the oldest rows are deleted, in bytes; nil for the default.
  var storeMaxSize: Int64?
  /// How long transitions are kept; nil for the default.
  var storeKeep: Duration?
  /// The deadline for the resolution of a name, which also sets the retransmission interval.
  package var resolverTimeout = Duration.seconds(5)

  /// The membership in a fleet, which `reachd-fleet` uses.
  package var fleet = FleetConfiguration()

  /// The certificate and key of every TCP address without its own.
  var tls = TLSFiles()
  /// The `max-age` of `Strict-Transport-Security` under TLS; nil to omit the field.
  var strictTransport: Duration?
  /// The certificates and keys that were read.
  var identities: [TLSFiles: ServerTLSIdentity] = [:]

  /// The addresses with rules of their own in the file that a variable or flag leaves out.
  var unusedRules: [ListenAddress] = []

  /// The files that were read, as they were before the reading: a later change is not missed.
  private(set) var signatures: [String: FileSignature] = [:]

  /// The configuration file as it was read; nil for none.
  var source: (path: String, bytes: [UInt8])?

  /// The files that a renewal replaces, which are read again when they change: certificates, keys, tokens, secrets.
  var renewedFiles: [String] {
    let files = tlsPairs.flatMap { [$0.certificate, $0.key] } + [tokensFile] + webhookFiles
    return Set(files.compactMap(\.self)).sorted()
  }

  /// The files that no other user of the machine should read: keys, secrets, credentials.
  var secretFiles: [String] {
    let files = tlsPairs.map(\.key) + webhookFiles + [fleet.credentialsFile]
    return Set(files.compactMap(\.self)).sorted()
  }

  private var tlsPairs: Set<TLSFiles> {
    Set(listeners.compactMap { tlsFiles(of: $0) } + (tls.isPresent ? [tls] : []))
  }

  /// Records the state of a file that is read next.
  mutating func willRead(_ path: String?) {
    if let path { signatures[path] = FileSignature(path) }
  }

  /// The addresses without their rules.
  package var listen: [ListenAddress] { listeners.map(\.address) }

  /// The default address: loopback, so that the service is not exposed by default.
  package static let defaultListen = ListenAddress(host: "127.0.0.1", port: 8080)

  /// The texts that the file, the environment or flags give, by setting path.
  var assigned: [String: [String]] = [:]

  init() { listeners = [ListenerConfiguration(Self.defaultListen)] }
}
