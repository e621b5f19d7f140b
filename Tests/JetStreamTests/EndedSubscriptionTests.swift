import Dispatch
import Glibc
import Locks
import TestSupport
import Testing

@testable import NATSClient

@Suite("Ended subscriptions", .enabled(if: !NATSServer.isSkipped))
struct EndedSubscriptionTests {
  /// libnats 3.4 wrote to freed memory in most runs with as many.
  private static let count = 4_000

  @Test("Subscriptions may end while their messages arrive", arguments: ["a handler", "a question"])
  func endWhileMessagesArrive(_ kind: String) throws {
    let server = try NATSServer(.latest)
    let receiving = try Client([server.url], name: "receiving").connected()
    let sending = try Client([server.url], name: "sending").connected()
    let isDone = Locked(false)
    let subject = Locked("none")
    let group = DispatchGroup()
    DispatchQueue(label: "sending").async(group: group) {
      while !isDone.withLock(\.self) { try? sending.connection.publish(subject.withLock(\.self), [1]) }
    }
    if kind == "a handler" {
      subject.withLock { $0 = "a" }
      let received = Locked(0)
      for _ in 0..<Self.count {
        let before = received.withLock(\.self)
        let subscription = try receiving.connection.subscribe("a") { _ in received.withLock { $0 += 1 } }
        _ = eventually { received.withLock(\.self) > before }
        subscription.cancel()
      }
      #expect(received.withLock(\.self) >= Self.count)
    } else {
      // Replies arrive until after the time limit.
      let inboxes = try sending.connection.subscribe("ask") { message in
        if let reply = message.reply { subject.withLock { $0 = reply } }
      }
      for _ in 0..<Self.count {
        _ = try? receiving.connection.ask("ask", [], replyPrefix: "_ANSWER", within: .milliseconds(1))
      }
      inboxes.cancel()
    }
    isDone.withLock { $0 = true }
    group.wait()
    #expect(eventually { receiving.connection.hasReleasedAll }, "released after a flush")
  }

  @Test("Too many that wait for the server refuse further ones, and all are released with their connection")
  func limit() throws {
    let server = try NATSServer(.latest)
    let client = try Client([server.url]).connected()
    server.signal(SIGSTOP)
    defer { server.signal(SIGCONT) }
    var error: NATSError?
    for _ in 0..<20_000 where error == nil {
      do throws(NATSError) { try client.connection.subscribe("a") { _ in }.cancel() } catch let thrown {
        error = thrown
      }
    }
    #expect(error?.message.contains("too many ended subscriptions") == true, "\(String(describing: error))")
  }
}
