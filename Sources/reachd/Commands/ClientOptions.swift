internal import ArgumentParser
internal import HostProcess
internal import EmbeddedHTTPServer
internal import Probers
internal import Service

/// Which service to ask, for the commands that ask one.
struct ClientOptions: ParsableArguments {
  @Option(
    help: """
      The service's address, such as https://host:8443 or unix:/run/reachd.sock; else REACHD_URL, else where the \
      configuration says it listens.
      """)
  var url: String?

  @Option(help: "A file of certificate authorities to trust (PEM); else REACHD_CACERT, else those of the system.")
  var cacert: String?

  @Option(help: "A file with the token to send; else REACHD_TOKEN_FILE, else the token itself in REACHD_TOKEN.")
  var tokenFile: String?

  @Option(help: "How many seconds to wait for an answer.")
  var timeout: Int = 5

  /// A status document has a few kilobytes for each interface; this is thousands of them.
  private static let responseByteLimit = 8 << 20

  func validate() throws {
    guard (1...3600).contains(timeout) else { throw ValidationError("--timeout is from 1 to 3600 seconds.") }
    // A script's variable that is not set: neither the system's authorities nor asking without a token was meant.
    for (option, text) in [("--url", url), ("--cacert", cacert), ("--token-file", tokenFile)] where text == "" {
      throw ValidationError("\(option) is empty; leave it out.")
    }
  }

  /// Asks the service for a path.
  ///
  /// - Parameters:
  ///   - path: the path, with its query.
  ///   - accept: the type that is wanted.
  ///   - source: where the configuration is, which says where the service listens.
  ///   - isAnonymous: whether to ask as anybody may: without a token and, where the own configuration says that the
  ///     service is on this machine, whatever its certificate is called.
  /// - Returns: the answer.
  /// - Throws: why there is none, or what is wrong with the configuration.
  func get(
    _ path: String, accept: String, _ source: SourceOptions, isAnonymous: Bool = false
  ) throws -> (status: Int, contentType: String?, body: [UInt8]) {
    // As for all settings, an empty variable is none.
    let environment = ProcessEnvironment.all.filter { !$0.value.isEmpty }
    let given = url ?? environment["REACHD_URL"]
    let base = try given ?? Self.configuredURL(source)
    let isOwn = isAnonymous && given == nil
    var headers = ["Accept": accept]
    if !isOwn, let token = try token(environment) { headers["Authorization"] = "Bearer \(token)" }
    let socket = base.hasPrefix("unix:") ? String(base.dropFirst("unix:".count)) : nil
    let root = socket == nil ? (base.hasSuffix("/") ? String(base.dropLast()) : base) : "http://localhost"
    return try HTTPClient.get(
      url: root + path, headers: headers, timeout: .seconds(timeout), maximumBody: Self.responseByteLimit,
      authorities: cacert ?? environment["REACHD_CACERT"], unixSocket: socket,
      allowsUntrusted: isOwn)
  }

  /// Never an argument: other users of the machine can read those.
  private func token(_ environment: [String: String]) throws(FileReadError) -> String? {
    guard let file = tokenFile ?? environment["REACHD_TOKEN_FILE"], !file.isEmpty else {
      // A secret that was read from a file often ends with a line's end.
      return environment["REACHD_TOKEN"]?.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }
    let text = String(decoding: try FileReader.bytes(of: file, limit: Self.tokenByteLimit), as: UTF8.self)
    guard let token = text.split(whereSeparator: \.isWhitespace).first else {
      throw FileReadError(path: file, reason: "there is no token in it")
    }
    return String(token)
  }

  /// Bytes of a file that holds a token.
  private static let tokenByteLimit = 4096

  /// The first address of the configuration that can be asked from this machine without a certificate's name, else the
  /// first of all.
  private static func configuredURL(_ source: SourceOptions) throws -> String {
    let configuration = try source.sources().loadOrExit()
    func isTLSDisabled(_ listener: ListenerConfiguration) -> Bool { configuration.tlsFiles(of: listener) == nil }
    guard let listener = configuration.listeners.first(where: isTLSDisabled) ?? configuration.listeners.first else {
      return "http://\(Configuration.defaultListen)"
    }
    let (address, scheme) = (listener.address, isTLSDisabled(listener) ? "http" : "https")
    if address.path != nil { return "\(address)" }
    switch address.host {
    case "0.0.0.0": return "\(scheme)://127.0.0.1:\(address.port)"
    case "::": return "\(scheme)://[::1]:\(address.port)"
    default: return "\(scheme)://\(address)"
    }
  }
}
