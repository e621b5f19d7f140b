import CMicroHTTPD
import Glibc
import Testing

@testable import EmbeddedHTTPServer

@Suite("ServerInbox")
struct InboxTests {
  private func isReady(_ poller: Int32) -> Bool {
    var event = unsafe epoll_event()
    return unsafe epoll_wait(poller, &event, 1, 0) == 1
  }

  @Test("A wake-up wakes the thread once")
  func pokes() throws {
    let inbox = try #require(Inbox<Int>())
    let poller = epoll_create1(0)
    defer { close(poller) }
    #expect(inbox.watch(in: poller, token: 1))
    #expect(!isReady(poller))
    for round in 1...3 {
      inbox.post(round)
      inbox.post(-round)
      // The thread was awake, and took what was there before the kernel could tell.
      #expect(inbox.hasWork && inbox.take() == [round, -round] && !inbox.hasWork)
      #expect(isReady(poller), "the kernel tells late")
      #expect(!isReady(poller), "and once")
    }
    inbox.poke()
    #expect(isReady(poller) && inbox.hasWork && inbox.take().isEmpty)
    #expect(!isReady(poller))
  }
}
