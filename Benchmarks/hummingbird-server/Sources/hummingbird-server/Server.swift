import Hummingbird
import Logging

/// Answers `GET /status` with a ready body of the size that reachd's has, on the port given as the last argument.
@main
struct Server {
  static func main() async throws {
    let port = CommandLine.arguments.last.flatMap { Int($0) } ?? 8080
    let body = ByteBuffer(
      string: "{\"status\":\"reachable\",\"rest\":\"" + String(repeating: "x", count: 700) + "\"}\n")
    let router = Router()
    router.get("/status") { _, _ in
      Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: body))
    }
    var logger = Logger(label: "hummingbird")
    logger.logLevel = .error
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
    try await application.runService()
  }
}
