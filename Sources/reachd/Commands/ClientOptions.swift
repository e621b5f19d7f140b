internal import ArgumentParser
internal import HostProcess
internal import EmbeddedHTTPServer
internal import Probers
internal import Service

/// The options of the commands that send requests to a service.
struct ClientOptions: ParsableArguments {
  @Option(
    help: """
      The service's address, such as https://host:8443 or unix:/run/reachd.sock; default: REACHD_URL, else the address \
      in the configuration.
      """)
  var url: String?

  @Option(help: "A file of certificate authorities to trust (PEM); default: REACHD_CACERT, else those of the system.")
  var cacert: String?

  @Option(help: "A file with the token to send; default: REACHD_TOKEN_FILE, else the token itself in REACHD_TOKEN.")
  var tokenFile: String?

  @Option(help: "The timeout of a request in seconds.")
  var timeout: Int = 5

  /// A status document has a few kilobytes per interface; this is enough for thousands of interfaces.
  private static let responseByteLimit = 8 << 20

  func validate() throws {
    guard (1...3600).contains(timeout) else { throw ValidationError("--timeout is from 1 to 3600 seconds.") }
    // An empty value comes from an unset variable of a script, and must not mean the default.
    for (option, text) in [("--url", url), ("--cacert", cacert), ("--token-file", tokenFile)] where text == "" {
      throw ValidationError("\(option) is empty; omit it.")
    }
  }

  /// Sends a GET request to the service.
  ///
  /// - Parameters:
  ///   - path: the path, with its query.
  ///   - accept: the media type to request.
  ///   - source: the source of the configuration, which contains the service's address.
  ///   - isAnonymous: whether to send no token and, if the address comes from this machine's own configuration, to
  ///     accept any certificate name.
  /// - Returns: the response.
  /// - Throws: why there is no response, or the problem in the configuration.
  func get(
    _ path: String, accept: String, _ source: SourceOptions, isAnonymous: Bool = false
  ) throws -> (status: Int, contentType: String?, body: [UInt8]) {
    // An empty variable counts as unset, as for all settings.
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

  /// Returns the token, which is never an argument because other users of the machine can read those.
  private func token(_ environment: [String: String]) throws(FileReadError) -> String? {
    guard let file = tokenFile ?? environment["REACHD_TOKEN_FILE"], !file.isEmpty else {
      // A secret that was read from a file often ends with a line break.
      return environment["REACHD_TOKEN"]?.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }
    let text = String(decoding: try FileReader.bytes(of: file, limit: Self.tokenByteLimit), as: UTF8.self)
    guard let token = text.split(whereSeparator: \.isWhitespace).first else {
      throw FileReadError(path: file, reason: "there is no token in it")
    }
    return String(token)
  }

  /// The limit of a token file in bytes.
  private static let tokenByteLimit = 4096

  /// The first address of the configuration that this machine can contact without a certificate name, else the first
  /// address.
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
