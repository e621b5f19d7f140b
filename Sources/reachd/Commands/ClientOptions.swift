internal import ArgumentParser
internal import HostProcess
internal import EmbeddedHTTPServer
internal import ReachabilityModel
internal import Service
internal import StatusClient

/// The options of the commands that send requests to a service.
struct ClientOptions: ParsableArguments {
  @Option(
    help: """
      The service's address, such as https://host:8443 or unix:/run/reachd.sock; default: REACHD_URL, else the address \
      in the configuration.
      """)
  var url: String?

  @Option(
    help: "A file of certificate authorities to trust (PEM); default: REACHD_CACERT, else those of the system.",
    completion: .file(extensions: ["pem", "crt"]))
  var cacert: String?

  @Option(
    help: "A file with the token to send; default: REACHD_TOKEN_FILE, else the token itself in REACHD_TOKEN.",
    completion: .file())
  var tokenFile: String?

  @Option(help: "The timeout of a request, such as 500ms or 5s.")
  var timeout = "5s"

  /// In bytes: the overview of half a million targets, and the status of thousands of interfaces.
  private static let responseByteLimit = 64 << 20
  /// In bytes: the authorities of a system have 200 KiB.
  private static let authorityByteLimit = 16 << 20
  private static let timeoutRange = Duration.milliseconds(1) ... .seconds(3600)

  func validate() throws {
    guard let limit = DurationFormat.parse(timeout), Self.timeoutRange.contains(limit) else {
      throw ValidationError(
        "--timeout must be a duration between 1ms and 1h, such as 5s, got \(timeout.debugDescription)")
    }
    // An empty value comes from an unset variable of a script, and must not mean the default.
    for (option, text) in [("--url", url), ("--cacert", cacert), ("--token-file", tokenFile)] where text == "" {
      throw ValidationError("\(option) is empty; omit it")
    }
    do throws(ServiceURL.Invalid) {
      if let url { _ = try ServiceURL(url, from: "--url") }
    } catch {
      throw ValidationError("\(error)")
    }
  }

  /// Sends a request to the service.
  ///
  /// - Parameters:
  ///   - path: the path, with its query.
  ///   - method: the method.
  ///   - accept: the media type to request.
  ///   - body: the body of a change, JSON; nil for none.
  ///   - fields: further header fields.
  ///   - source: the source of the configuration, which contains the service's address.
  ///   - isAnonymous: whether to send no token and, if the address comes from this machine's own configuration, to
  ///     accept any certificate.
  /// - Returns: the response.
  /// - Throws: why there is no response, or the problem in the configuration.
  func send(
    _ path: String, method: String = "GET", accept: String, body: String? = nil, fields: [String: String] = [:],
    _ source: SourceOptions, isAnonymous: Bool = false
  ) throws -> HTTPClient.Response {
    var request = try request(path, accept: accept, source, isAnonymous: isAnonymous)
    request.method = method
    request.headers.merge(fields) { $1 }
    if let body {
      request.body = body
      request.headers["Content-Type"] = "application/json"
    }
    return try HTTPClient.send(request, maximumBody: Self.responseByteLimit)
  }

  /// Receives an event stream of the service until it ends; see ``HTTPClient/stream(_:maximumBody:onOpen:receive:)``.
  ///
  /// - Parameters:
  ///   - path: the path, with its query.
  ///   - lastID: the id of the last event that was received, to continue after it; nil for a new stream.
  ///   - source: the source of the configuration.
  ///   - onOpen: is called before the first part, with the service's time in seconds since 1970, if it sends one.
  ///   - receive: is called with each part of the stream.
  /// - Returns: the response.
  /// - Throws: why there is no response, or the problem in the configuration.
  func stream(
    _ path: String, after lastID: String?, _ source: SourceOptions, onOpen: @escaping (_ date: Int?) -> Void = { _ in },
    receive: @escaping ([UInt8]) -> Void
  ) throws -> HTTPClient.Response {
    var request = try request(path, accept: "text/event-stream", source)
    if let lastID { request.headers["Last-Event-ID"] = lastID }
    return try HTTPClient.stream(request, maximumBody: Self.responseByteLimit, onOpen: onOpen, receive: receive)
  }

  /// Returns the address of the service, for its user: `10.0.0.5:8080`, or the path of a socket.
  func serviceName(_ source: SourceOptions) throws -> String {
    let base = try base(source).url
    return base.socket ?? base.root.split(separator: "//", maxSplits: 1).last.map(String.init) ?? base.root
  }

  /// The variables of the process; an empty one counts as unset, as for all settings.
  private var environment: [String: String] { ProcessEnvironment.all.filter { !$0.value.isEmpty } }

  /// Returns the URL of the service, and whether it was given and is not that of the configuration.
  private func base(_ source: SourceOptions) throws -> (url: ServiceURL, isGiven: Bool) {
    let given = url ?? environment["REACHD_URL"]
    let origin = url != nil ? "--url" : given != nil ? "REACHD_URL" : "listen"
    return (try ServiceURL(try given ?? Self.configuredURL(source), from: origin), given != nil)
  }

  private func request(
    _ path: String, accept: String, _ source: SourceOptions, isAnonymous: Bool = false
  ) throws -> HTTPClient.Request {
    let environment = environment
    let (base, isGiven) = try base(source)
    let isOwn = isAnonymous && !isGiven
    var request = HTTPClient.Request(base.root + path, timeout: DurationFormat.parse(timeout) ?? .seconds(5))
    request.headers = ["Accept": accept]
    if !isOwn, let token = try token(environment) { request.headers["Authorization"] = "Bearer \(token)" }
    request.authorities = cacert ?? environment["REACHD_CACERT"]
    // libcurl does not name the file.
    if let file = request.authorities { _ = try FileReader.bytes(of: file, limit: Self.authorityByteLimit) }
    request.unixSocket = base.socket
    request.allowsUntrusted = isOwn
    return request
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
    // Both loopback addresses, because the machine may have only one: libcurl resolves this name itself (RFC 6761).
    case "::": return "\(scheme)://localhost:\(address.port)"
    default: return "\(scheme)://\(address)"
    }
  }
}
