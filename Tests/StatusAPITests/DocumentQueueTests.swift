import DequeModule
import Dispatch
import EventLoop
import Locks
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// Requests for documents of all targets, which wait for each other.
@Suite struct DocumentQueueTests {
  let service: ScriptedService
  private let gate = DispatchSemaphore(value: 0)

  init() throws {
    service = try ScriptedService()
    service.prober.follow { _ in TargetRoutesTests.result(.up) }
    // With fewer, lists are not queued.
    for id in ["a", "b"] + (0..<StatusService.directTargets).map({ "many\($0)" }) {
      _ = try service.send("PUT", "/targets/\(id)", #"{"target": "tcp://10.0.0.9:1", "labels": {"env": "\#(id)"}}"#)
    }
  }

  private var counts: DocumentQueue.Counts { service.router.environment.documents.counts }

  /// A request that is made to wait; its answer, once there is one.
  private struct Pending {
    let inbox: HTTPServerInbox

    var answers: [HTTPResponse] {
      inbox.take().messages.compactMap { message in
        if case .reply(_, _, let response) = message { response } else { nil }
      }
    }

    /// The client disconnects.
    func abandon() {
      for case .onAbandonment(_, _, let body) in inbox.take().messages { body() }
    }
  }

  private func begin(_ target: String, peer: String = "192.0.2.1:5000") throws -> Pending {
    let request = HTTPRequest(target: target, headers: ["Host": "127.0.0.1:8080"], peer: peer)
    let inbox = try HTTPServerInbox()
    guard case .later(let start) = service.router.handle(request) else { throw TestError("\(target) is not queued") }
    start(HTTPPromise(inbox: inbox, connection: 1, request: 1))
    return Pending(inbox: inbox)
  }

  /// Keeps the queue busy until ``gate`` is signalled.
  private func block() throws {
    let isBusy = Locked(false)
    service.service.add(
      MetricCollector { [gate] _ in
        isBusy.withLock { $0 = true }
        gate.wait()
      })
    _ = try begin("/metrics", peer: "192.0.2.99:1")
    #expect(eventually { isBusy.withLock(\.self) })
  }

  @Test func waitingRequestsOfOneClientHaveALimit() throws {
    try block()
    let requests = try (0..<300).map { try begin("/targets/overview?label=l\($0)") }
    #expect(counts.waiting == DocumentQueue.clientLimit)
    let refused = requests.flatMap(\.answers)
    #expect(refused.count == 300 - DocumentQueue.clientLimit && counts.refused == refused.count)
    #expect(refused.allSatisfy { $0.status == 503 && $0.headers["Retry-After"] == "2" })
    #expect(try refused.first?.object()["code"] as? String == "overloaded")
    gate.signal()
    #expect(eventually { counts.waiting == 0 && counts.made == 1 + DocumentQueue.clientLimit })
  }

  @Test func waitingRequestsOfAllClientsHaveALimit() throws {
    try block()
    var requests: [Pending] = []
    for client in 0..<20 {
      for number in 0..<40 { requests.append(try begin("/targets?label=l\(number)", peer: "192.0.2.\(client):1")) }
    }
    #expect(counts.waiting == DocumentQueue.limit && counts.refused == 800 - DocumentQueue.limit)
    gate.signal()
    #expect(eventually { counts.waiting == 0 })
    // Each client has about the same number.
    let answers = requests.map { $0.answers.first?.status }
    for client in 0..<20 {
      let served = answers[client * 40..<client * 40 + 40].count { $0 == 200 }
      #expect((11...14).contains(served), "\(client): \(served)")
    }
  }

  @Test func requestsOfDisconnectedClientsAreNotAnswered() throws {
    try block()
    let made = counts.made
    let requests = try (0..<60).map { try begin("/targets/overview?label=l\($0)") }
    #expect(counts.waiting == 60)
    for request in requests { request.abandon() }
    #expect(counts.waiting == 0)
    let last = try begin("/targets/overview", peer: "192.0.2.2:1")
    gate.signal()
    var answers: [HTTPResponse] = []
    #expect(
      eventually {
        answers += last.answers
        return !answers.isEmpty
      })
    #expect(answers.first?.status == 200 && counts.made == made + 1)
  }

  @Test func theHandlerOfTheDocumentIsTheLast() throws {
    let queue = DocumentQueue()
    let inbox = try HTTPServerInbox()
    let promises = Locked<[HTTPPromise]>([])
    let cancelled = Locked<Set<UInt64>>([])
    // Several threads, so that the queue is busy when requests arrive.
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 1...5_000 {
        let number = UInt64(thread * 5_000 + number)
        let reply = queue.reply(client: "\(number)", requestID: "") {
          .later { promise in
            promise.onAbandonment { cancelled.withLock { _ = $0.insert(number) } }
            promises.withLock { $0.append(promise) }
          }
        }
        guard case .later(let start) = reply else { continue }
        start(HTTPPromise(inbox: inbox, connection: number, request: 1))
      }
    }
    #expect(eventually { queue.counts.waiting == 0 && promises.withLock(\.count) == queue.counts.made })
    var handlers: [UInt64: () -> Void] = [:]
    for case .onAbandonment(let connection, _, let body) in inbox.take().messages { handlers[connection] = body }
    for body in handlers.values { body() }
    #expect(queue.counts.made > 0 && cancelled.withLock(\.count) == queue.counts.made)
  }

  @Test func clientsTakeTurns() throws {
    try block()
    let many = try (0..<50).map { try begin("/targets?label=l\($0)") }
    let one = try begin("/targets", peer: "192.0.2.2:1")
    let order = Locked<[String]>([])
    service.service.add(MetricCollector { _ in order.withLock { $0.append("metrics") } })
    let scrape = try begin("/metrics", peer: "192.0.2.3:1")
    gate.signal()
    gate.signal()
    var found: HTTPResponse?
    #expect(
      eventually {
        found = found ?? one.answers.first
        return found != nil
      })
    #expect(found?.status == 200)
    // The last one does not wait any more while it is made.
    var answers = 0
    #expect(
      eventually {
        answers += (many + [scrape]).reduce(0) { $0 + $1.answers.count }
        return answers >= 51
      })
    #expect(answers == 51 && counts.waiting == 0)
  }

  @Test(arguments: [
    "/targets", "/targets?limit=1&label=env", "/targets/overview", "/targets/overview?id=a&id=b", "/metrics",
  ])
  func expensiveRoutesAreQueued(target: String) throws {
    try block()
    let request = try begin(target)
    #expect(counts.waiting == 1 && request.answers.isEmpty)
    gate.signal()
    gate.signal()
    var answers: [HTTPResponse] = []
    #expect(
      eventually {
        answers += request.answers
        return !answers.isEmpty
      })
    #expect(answers.map(\.status) == [200])
  }

  @Test func arraysOfEventsAreQueued() throws {
    try block()
    let request = HTTPRequest(
      target: "/events", headers: ["Host": "127.0.0.1:8080", "Accept": "application/json"], peer: "192.0.2.1:1")
    guard case .later(let start) = service.router.handle(request) else {
      Issue.record("not queued")
      return
    }
    let inbox = try HTTPServerInbox()
    start(HTTPPromise(inbox: inbox, connection: 1, request: 1))
    #expect(counts.waiting == 1)
    gate.signal()
    #expect(eventually { counts.waiting == 0 })
  }
}
