import Glibc
import Locks
import Synchronization
import TestSupport

@testable import EventStreams
@testable import EmbeddedHTTPServer

/// A running server on a free loopback port, stopped when it goes out of scope.
final class Fixture: Sendable {
  let server: HTTPServer

  /// Bytes of a body; more is too much.
  static let bodyLimit = 64 * 1024

  init(
    host: String = "127.0.0.1", configure: (inout HTTPServerConfiguration) -> Void = { _ in },
    handler: @escaping HTTPHandler = Fixture.echo
  ) throws {
    var configuration = HTTPServerConfiguration(address: ListenAddress(host: host, port: 0))
    configuration.requestBodyLimit = Self.bodyLimit
    configure(&configuration)
    server = HTTPServer(configuration: configuration, handler: handler)
    try server.start()
  }

  /// A server whose streams reach their clients in one of the two ways.
  convenience init(
    _ mode: HTTPStreamMode, configure: (inout HTTPServerConfiguration) -> Void = { _ in },
    handler: @escaping HTTPHandler
  ) throws {
    try self.init(
      configure: {
        $0.streams = mode
        configure(&$0)
      }, handler: handler)
  }

  /// A server with the default configuration.
  static func serving(host: String = "127.0.0.1", _ handler: @escaping HTTPHandler) throws -> Fixture {
    try Fixture(host: host, handler: handler)
  }

  deinit { server.stop() }

  var address: ListenAddress { server.boundAddress }

  func client() throws -> RawClient { try RawClient(address) }

  /// Sends bytes on a connection of their own and returns everything up to its end.
  func exchange(_ text: String) throws -> String {
    let client = try client()
    client.send(text)
    return try client.receiveAll()
  }

  /// Answers with what the request said.
  static let echo: HTTPHandler = { request in
    let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
    let body = String(decoding: request.body, as: UTF8.self)
    let text = "\(request.method) \(request.path) [\(query)] \(request.headers["Host"] ?? "-") \(body)"
    return .now(HTTPResponse(headers: ["Content-Type": "text/plain"], body: .bytes(Array(text.utf8))))
  }

  /// Follows `log` from its end, or from the beginning.
  static func follow(
    _ log: EventLog, preamble: String = "hello\n", kinds: UInt64 = .max, heartbeat: Duration = .seconds(15)
  ) -> HTTPHandler {
    { request in
      var cursor = log.end
      if let after = request.query.first.flatMap({ UInt64($0.value) }), case .at(let found) = log.cursor(after: after) {
        cursor = found
      }
      let feed = EventStreamResponse.Feed(log: log, cursor: cursor, selection: .init(kinds: kinds))
      let beat = EventStreamResponse.Heartbeat(
        interval: heartbeat, bytes: Array("beat ".utf8), position: .init(prefix: [], suffix: Array("\n".utf8)))
      let stream = EventStreamResponse(feeds: [feed], preamble: Array(preamble.utf8), heartbeat: beat)
      return .now(HTTPResponse(headers: ["Content-Type": "text/event-stream"], body: .stream(stream)))
    }
  }

  /// Waits for something to become true; a broken server makes it return false after a generous time.
  func eventually(_ condition: (HTTPServer.Counters) -> Bool) -> Bool {
    TestSupport.eventually { condition(server.counters) }
  }

  /// Waits until the server refuses connections.
  func waitUntilRefusing() { TestSupport.eventually { (try? client()) == nil } }

  /// The turns of the loop in some time, and the milliseconds that passed: a loop without a pause takes tens of thousands
  /// of turns a second.
  func turns(in time: Duration) -> (count: UInt64, milliseconds: UInt64) {
    pause(.milliseconds(100), because: "what the test did before may need turns")
    let (turns, start) = (server.loopTurns, ContinuousClock.now)
    pause(time, because: "only its turns in some time distinguish a loop that rests")
    return (server.loopTurns - turns, UInt64((.now - start) / .milliseconds(1)))
  }
}

extension HTTPStreamMode {
  /// Both ways; each must do the same.
  static let both = [HTTPStreamMode.takeover, .callback]
}

/// A count that several threads share.
final class Tally: Sendable {
  private let count = Atomic(0)
  func add() { count.wrappingAdd(1, ordering: .relaxed) }
  var value: Int { count.load(ordering: .relaxed) }
}

/// Runs `body` on a thread of its own and gives back a way to wait for its end.
func onThread(_ body: @escaping @Sendable () -> Void) -> () -> Void {
  final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  let context = unsafe Unmanaged.passRetained(Box(body)).toOpaque()
  let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
    guard let context = unsafe context else { return nil }
    unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
    return nil
  }
  let code = unsafe pthread_create(&thread, nil, start, context)
  precondition(code == 0, "no thread")
  return { [thread] in pthread_join(thread, nil) }
}

/// The number of descriptors this process has open.
func openDescriptors() -> Int {
  guard let directory = unsafe opendir("/proc/self/fd") else { return -1 }
  defer { unsafe closedir(directory) }
  var count = 0
  while unsafe readdir(directory) != nil { count += 1 }
  return count
}
