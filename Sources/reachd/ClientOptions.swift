internal import ArgumentParser
internal import HostProcess
internal import MicroHTTP
internal import Probes

/// Which service to ask, for the commands that ask one.
struct ClientOptions: ParsableArguments {
  @Option(help: "The service's address; else REACHD_URL, else where the configuration says it listens.")
  var url: String?

  @Option(help: "How many seconds to wait for an answer.")
  var timeout: Int = 5

  /// A status document has a few kilobytes for each interface; this is thousands of them.
  private static let largestAnswer = 8 << 20

  func validate() throws {
    guard (1...3600).contains(timeout) else { throw ValidationError("--timeout is from 1 to 3600 seconds.") }
  }

  /// Asks the service for a path.
  func get(
    _ path: String, accept: String, _ source: SourceOptions
  ) throws -> (status: Int, contentType: String?, body: [UInt8]) {
    let base = try url ?? ProcessEnvironment.all["REACHD_URL"] ?? Self.usualURL(source)
    let root = base.hasSuffix("/") ? String(base.dropLast()) : base
    return try HTTPClient.get(
      url: root + path, headers: ["Accept": accept], timeout: .seconds(timeout), maximumBody: Self.largestAnswer)
  }

  /// The first address of the configuration, as seen from this machine.
  private static func usualURL(_ source: SourceOptions) throws -> String {
    let address = try source.sources().loadOrExit().listen[0]
    switch address.host {
    case "0.0.0.0": return "http://127.0.0.1:\(address.port)"
    case "::": return "http://[::1]:\(address.port)"
    default: return "http://\(address)"
    }
  }
}
