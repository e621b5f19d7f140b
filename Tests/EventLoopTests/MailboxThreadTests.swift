import EventLoop
import Glibc
import Locks
import TestSupport
import Testing

@Suite final class MailboxThreadTests: Sendable {
  private let received = Locked<[Int]>([])
  private let starts = Locked(0)

  private func body() -> MailboxThread<Int>.Body {
    { [self] poller, mailbox in
      starts.withLock { $0 += 1 }
      while true {
        _ = poller.wait(atMost: nil)
        let (messages, isClosed) = mailbox.take()
        received.withLock { $0 += messages }
        if isClosed { return }
      }
    }
  }

  @Test func startsWithTheFirstMessageAndStopsWithAll() throws {
    let thread = MailboxThread<Int>("mailbox", eventCapacity: 4)
    thread.postIfRunning(0)
    for number in 1...1_000 { try thread.post(number, starting: body) }
    thread.postIfRunning(1_001)
    thread.stop()
    #expect(received.withLock { $0 } == Array(1...1_001))
    #expect(starts.withLock { $0 } == 1)
    thread.stop()
  }

  @Test func aStoppedThreadStaysStopped() {
    let thread = MailboxThread<Int>("mailbox", eventCapacity: 4)
    thread.stop()
    thread.postIfRunning(1)
    let error = #expect(throws: MailboxThread<Int>.PostError.self) { try thread.post(1, starting: body) }
    guard case .stopped = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(starts.withLock { $0 } == 0)
  }

  @Test func missingDescriptorsAreReportedAndTheNextMessageTriesAgain() throws {
    let namespace = try Namespace()
    try namespace.unshareDescriptors()
    let errors = namespace.run { () -> [EventLoopError?] in
      var taken: [Int32] = []
      while case let file = dup(0), file >= 0 { taken.append(file) }
      let thread = MailboxThread<Int>("mailbox", eventCapacity: 4)
      defer { thread.stop() }
      let errors = (0..<3).map { free -> EventLoopError? in
        if free > 0, let file = taken.popLast() { close(file) }
        do throws(MailboxThread<Int>.PostError) {
          try thread.post(free, starting: body)
          return nil
        } catch {
          guard case .unavailable(let cause) = error else { return EventLoopError(operation: "\(error)", errno: 0) }
          return cause
        }
      }
      for file in taken { close(file) }
      return errors
    }
    #expect(
      errors == [
        EventLoopError(operation: "eventfd", errno: EMFILE), EventLoopError(operation: "epoll_create1", errno: EMFILE),
        nil,
      ])
    #expect(received.withLock { $0 } == [2])
  }
}
