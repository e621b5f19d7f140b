import Logging
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// A request head as text: the guard judges it, the router answers it.
enum RequestTarget {
  private static let router: Router = {
    var script = KernelScript()
    script.addLoopback()
    script.addInterface(2, "eth0", .ethernet, addresses: ["10.0.0.5/24", "fe80::5/64"])
    script.addDefault(via: "10.0.0.1", on: 2)
    let kernel = ScriptedKernel(script)
    // No server is queried: names that need an answer give promises, which are not used.
    let monitor = ReachabilityMonitor(configuration: .init(nameServers: ["127.0.0.1:1"]), kernel: kernel)
    let logger = Logger(label: "fuzz", factory: { _ in SwiftLogNoOpLogHandler() })
    let service = StatusService(
      monitor: monitor, checker: Checker(monitor: monitor), targetChecker: Checker(monitor: monitor), logger: logger)
    do { try monitor.start() } catch { preconditionFailure("\(error)") }
    service.schedule.gates.configure([
      GateDefinition(id: "app", machine: .reachable, targets: ["db"]), GateDefinition(id: "open", machine: .reachable),
    ])
    return Router(service)
  }()

  static func play(_ bytes: [UInt8]) {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    let words = (lines.popFirst() ?? []).split(separator: UInt8(ascii: " "), maxSplits: 2).map(text)
    guard words.count == 3 else { return }
    var headers = HTTPHeaders()
    for line in lines {
      let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      headers.add(text(parts[0]), text(parts.count > 1 ? parts[1].drop { $0 == 0x20 } : []))
    }
    // Half of the inputs begin with heads that would fail for a missing Host alone.
    if headers["Host"] == nil { headers.add("Host", "127.0.0.1:8080") }
    guard RequestValidator.check(method: words[0], target: words[1], version: words[2], headers: headers) == nil else {
      return
    }
    for field in headers { precondition(!field.value.utf8.contains(0) && !field.value.utf8.contains(0x0A)) }
    headers.trimValues()
    let request = HTTPRequest(method: words[0], target: words[1], version: words[2], headers: headers)
    precondition(request.path == "*" || request.path.hasPrefix("/"), "a path begins at the root")
    for item in request.query { precondition(!item.name.utf8.contains(0) && !item.value.utf8.contains(0)) }
    guard case .now(let response) = router.handle(request) else { return }
    precondition((200...599).contains(response.status) && response.status != 500, "\(response.status)")
    for (name, value) in response.headers {
      precondition(!(name + value).utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 }, "a header is split: \(name)")
    }
  }

  private static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
}
