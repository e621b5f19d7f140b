import DequeModule
import EventLoop
import Foundation
import History
import Locks
import Logging
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// The API over a scripted kernel, asked as a function: no socket, no thread of its own.
struct ScriptedService {
  let kernel: ScriptedKernel
  let monitor: ReachabilityMonitor
  let prober = ScriptedProber()
  let service: StatusService
  /// What handles requests: by default the routes of a node.
  var router: Router

  /// A machine with a wire and a router, started.
  init(
    _ script: KernelScript? = .wired, started: Bool = true, nameServers: [String] = [],
    _ configuration: StatusServiceConfiguration = .init(), history: HistoryKeeper? = nil,
    webhooks: (ReachabilityMonitor) -> WebhookSetup? = { _ in nil }
  ) throws {
    let kernel = ScriptedKernel(script)
    self.kernel = kernel
    monitor = ReachabilityMonitor(configuration: .init(nameServers: nameServers), kernel: kernel)
    service = StatusService(
      monitor: monitor, checker: Checker(monitor: monitor, prober: prober),
      targetChecker: Checker(monitor: monitor, prober: prober), webhooks: webhooks(monitor),
      configuration: configuration, history: history, logger: .silent)
    router = Router(service)
    if started { try monitor.start() }
  }

  /// Asks for a target; `Host` is that of the machine itself unless it is given.
  func ask(
    _ target: String, _ headers: HTTPHeaders = [:], method: String = "GET", peer: String = "127.0.0.1:50000",
    isLoopbackListener: Bool = true, body: [UInt8] = []
  ) throws -> HTTPResponse {
    var headers = headers
    if headers["Host"] == nil { headers["Host"] = "127.0.0.1:8080" }
    let request = HTTPRequest(
      method: method, target: target, headers: headers, body: body, peer: peer, isLoopbackListener: isLoopbackListener)
    switch router.handle(request) {
    case .now(let response): return response
    case .later(let start): return try Self.wait(for: start)
    case .wait(let wait): return try Self.wait { _ = wait.begin($0) }
    }
  }

  private static func wait(for start: (HTTPPromise) -> Void) throws -> HTTPResponse {
    let inbox = try HTTPServerInbox()
    start(HTTPPromise(inbox: inbox, connection: 1, request: 1))
    var answer: HTTPResponse?
    let isAnswered = eventually {
      for message in inbox.take().messages {
        switch message {
        case .reply(_, _, let response): answer = response
        case .wait(_, _, let wait): _ = wait.begin(HTTPPromise(inbox: inbox, connection: 1, request: 1))
        default: break
        }
      }
      return answer != nil
    }
    try #require(isAnswered, "the promise was not kept")
    return try #require(answer)
  }

  /// The code of a problem; nil for every other answer.
  func problem(_ target: String, _ headers: HTTPHeaders = [:], method: String = "GET") throws -> String? {
    let response = try ask(target, headers, method: method)
    guard response.headers["Content-Type"] == "application/problem+json" else { return nil }
    return try response.object()["code"] as? String
  }
}

extension KernelScript {
  /// Loopback, and `eth0` with 10.0.0.5/24 and a router.
  static var wired: KernelScript {
    var script = KernelScript()
    script.addLoopback()
    script.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
    script.addDefault(via: "10.0.0.1", on: 2)
    return script
  }

  /// Takes the carrier of an interface away.
  mutating func dropCarrier(_ name: String) {
    change(name) {
      $0.operationalState = .down
      $0.flags.subtract([.running, .lowerUp])
    }
  }

  /// Gives it back.
  mutating func restoreCarrier(_ name: String) {
    change(name) {
      $0.operationalState = .up
      $0.flags.formUnion([.running, .lowerUp])
    }
  }
}

extension Logger {
  /// Says nothing.
  static var silent: Logger { Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }) }
}

extension HTTPResponse {
  /// The bytes of the body; a stream's up to now.
  var bytes: [UInt8] {
    switch body {
    case .none: []
    case .bytes(let bytes): bytes
    case .shared(let shared): shared.bytes
    case .stream(let stream): stream.receivedBytes
    }
  }

  /// The body as text.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The body as a JSON object, by a parser that is not ours.
  func object() throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  /// The body as a JSON array.
  func array() throws -> [[String: Any]] {
    try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [[String: Any]])
  }
}

extension EventStreamResponse {
  /// What a client would have received by now.
  var receivedBytes: [UInt8] {
    var bytes = preamble
    var feeds = feeds
    while let history {
      let piece = Self.nextPiece(of: history)
      if case .more(let frames) = piece { bytes += frames }
      guard case .last(let frames, let cursor) = piece else { continue }
      bytes += frames
      feeds[0].cursor = cursor
      break
    }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    for feed in feeds {
      var cursor = feed.cursor
      while true {
        let read = unsafe buffer.withUnsafeMutableBytes { unsafe feed.log.read(&cursor, feed.selection, into: $0) }
        guard case .bytes(let count, _) = read else { break }
        bytes += buffer[..<count]
      }
    }
    return bytes
  }
}

extension EventStreamResponse {
  private static func nextPiece(of history: any StreamHistory) -> StreamPiece? {
    let found = Locked<StreamPiece?>(nil)
    history.readNext { piece in found.withLock { $0 = piece } }
    _ = eventually { found.withLock { $0 != nil } }
    return found.withLock(\.self)
  }
}

/// A frame of an event stream, as a client sees it.
struct Frame: Equatable {
  var id: String?
  var event: String?
  var data: String?

  /// The frames of a stream; each must end with an empty line.
  static func parse(_ text: String) -> [Frame] {
    let blocks = text.components(separatedBy: "\n\n").map { block in
      block.split(separator: "\n").filter { !$0.hasPrefix(":") && !$0.hasPrefix("retry:") }
    }
    return blocks.filter { !$0.isEmpty }.map { lines in
      var frame = Frame()
      for line in lines {
        if line.hasPrefix("id: ") { frame.id = String(line.dropFirst(4)) }
        if line.hasPrefix("event: ") { frame.event = String(line.dropFirst(7)) }
        if line.hasPrefix("data: ") { frame.data = String(line.dropFirst(6)) }
      }
      return frame
    }
  }
}
