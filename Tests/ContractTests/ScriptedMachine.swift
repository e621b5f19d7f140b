import EventStreams
import DequeModule
import EventLoop
import History
import Logging
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// A scripted machine with its API, asked as a function.
struct ScriptedMachine {
  let kernel: ScriptedKernel
  let monitor: ReachabilityMonitor
  let prober = ScriptedProber { _ in
    CheckResult(
      .up, address: IPAddress("10.0.0.9"), startedAt: Timestamp(microseconds: 0), duration: .microseconds(412),
      phases: [.init(.connect, .microseconds(401))])
  }
  let service: StatusService

  init(_ script: KernelScript = .wired, started: Bool = true, history: HistoryKeeper? = nil) throws {
    let kernel = ScriptedKernel(script)
    self.kernel = kernel
    // No server listens there: names that are not in the hosts file fail.
    monitor = ReachabilityMonitor(configuration: .init(nameServers: ["127.0.0.1:1"]), kernel: kernel)
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    service = StatusService(
      monitor: monitor, checker: Checker(monitor: monitor, prober: prober),
      targetChecker: Checker(monitor: monitor, prober: prober), configuration: .init { $0.version = "0.1.0" },
      history: history, logger: logger)
    if started { try monitor.start() }
  }

  func ask(
    _ target: String, _ headers: HTTPHeaders = [:], method: String = "GET", body: String = ""
  ) throws -> HTTPResponse {
    var headers = headers
    if headers["Host"] == nil { headers["Host"] = "127.0.0.1:8080" }
    if !body.isEmpty { headers["Content-Type"] = "application/json" }
    let request = HTTPRequest(
      method: method, target: target, headers: headers, body: Array(body.utf8), isLoopbackListener: true)
    switch Router(service).handle(request) {
    case .now(let response): return response
    case .wait(let wait): return wait.expired()
    case .later(let start):
      let inbox = try HTTPServerInbox()
      start(HTTPPromise(inbox: inbox, connection: 1, request: 1))
      var answer: HTTPResponse?
      eventually {
        for case .reply(_, _, let response) in inbox.take().messages { answer = response }
        return answer != nil
      }
      return try #require(answer, "the promise was not kept")
    }
  }

  /// The state after the cable of `eth0` was pulled a minute after the start, as the examples tell.
  static func pulled() throws -> ScriptedMachine {
    let machine = try ScriptedMachine()
    machine.pull()
    return machine
  }

  func pull() {
    kernel.advance(by: .seconds(60))
    kernel.change { script in
      script.change("eth0") {
        $0.operationalState = .down
        $0.flags.subtract([.running, .lowerUp])
      }
    }
    kernel.advance(by: .seconds(1))
  }
}

extension KernelScript {
  /// The machine of the examples: loopback, a wire, a router.
  static var wired: KernelScript { script(.ethernet) }

  /// A machine with one interface of a type, and a router unless the route is of another type.
  static func script(
    _ type: InterfaceType, route: RouteType = .unicast, addresses: [String] = ["10.0.0.5/24"],
    _ change: (inout Interface) -> Void = { _ in }
  ) -> KernelScript {
    var script = KernelScript()
    script.addLoopback()
    script.addInterface(2, "eth0", type, addresses: addresses)
    script.change("eth0", change)
    if route == .unicast {
      script.addDefault(via: "10.0.0.1", on: 2)
    } else {
      script.routes.append(Route(type: route, prefix: IPPrefix(IPAddress(ipv4: 0), length: 0), hops: []))
    }
    return script
  }
}

extension HTTPResponse {
  /// The body as text; a stream's up to now.
  var text: String {
    switch body {
    case .none: return ""
    case .bytes(let bytes): return String(decoding: bytes, as: UTF8.self)
    case .shared(let shared): return String(decoding: shared.bytes, as: UTF8.self)
    case .stream(let stream):
      let entries = stream.feeds.flatMap {
        $0.log.entries(after: $0.cursor.lastID, $0.selection, first: .max).entries
      }
      return String(decoding: stream.preamble + entries.flatMap(\.bytes), as: UTF8.self)
    }
  }

  /// The media type without its parameters.
  var mediaType: String? { headers["Content-Type"]?.split(separator: ";").first.map(String.init) }
}
