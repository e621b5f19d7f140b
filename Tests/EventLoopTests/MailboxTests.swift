import EventLoop
import Testing

@Suite struct MailboxTests {
  private let poller: Poller
  private let mailbox: Mailbox<Int>

  init() throws {
    poller = try Poller(capacity: 4)
    mailbox = try Mailbox()
    try mailbox.attach(to: poller, token: 7)
  }

  @Test func aMessageFromAnotherThreadEndsTheWait() throws {
    let mailbox = mailbox
    let thread = try LoopThread("sender") { mailbox.post(1) }
    #expect(poller.wait(atMost: nil) == 1)
    #expect(poller[0].token == 7)
    thread.join()
    #expect(Array(mailbox.take().messages) == [1])
  }

  @Test func noMessageOfManyThreadsIsLost() throws {
    let mailbox = mailbox
    let threads = try (0..<4).map { thread in
      try LoopThread("sender") { for number in 0..<10_000 { mailbox.post(thread * 10_000 + number) } }
    }
    var received: [Int] = []
    // Without a timeout: a lost wake-up would be a test that does not end.
    while received.count < 40_000 {
      _ = poller.wait(atMost: nil)
      received += mailbox.take().messages
    }
    threads.forEach { $0.join() }
    #expect(received.sorted() == Array(0..<40_000))
    for thread in 0..<4 {
      let own = received.filter { $0 / 10_000 == thread }
      #expect(own == own.sorted(), "messages of one thread keep their order")
    }
  }

  @Test func manyMessagesAreOneWakeUp() {
    for number in 0..<100 { mailbox.post(number) }
    #expect(mailbox.hasWork)
    #expect(poller.wait(atMost: .zero) == 1)
    #expect(poller.wait(atMost: .zero) == 0)
    #expect(mailbox.take().messages.count == 100)
    #expect(!mailbox.hasWork)
    // The next message wakes the thread again, although the eventfd was never read.
    mailbox.post(1)
    #expect(poller.wait(atMost: .zero) == 1)
  }

  @Test func aWakeUpNeedsNoMessage() {
    mailbox.wake()
    #expect(poller.wait(atMost: .zero) == 1)
    let (messages, isClosed) = mailbox.take()
    #expect(messages.isEmpty && !isClosed)
  }

  @Test func aLimitRefusesMessages() {
    #expect((0..<4).map { mailbox.post($0, limit: 3) } == [.accepted, .accepted, .accepted, .full])
    #expect(mailbox.post(9) == .accepted, "a message without a limit is accepted")
    #expect(Array(mailbox.take().messages) == [0, 1, 2, 9])
    #expect(mailbox.post(4, limit: 3) == .accepted)
  }

  @Test func aClosedMailboxKeepsWhatItHas() {
    mailbox.post(1)
    _ = poller.wait(atMost: .zero)
    mailbox.close()
    #expect(mailbox.post(2) == .closed)
    #expect(mailbox.hasWork)
    let (messages, isClosed) = mailbox.take()
    #expect(Array(messages) == [1] && isClosed)
    mailbox.close()
    #expect(poller.wait(atMost: .zero) == 1, "closing wakes the thread")
  }
}
