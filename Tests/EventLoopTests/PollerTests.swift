import CNetlink
import EventLoop
import Glibc
import Testing

/// A pipe that is closed with its last reference.
final class Pipe {
  let reading: Int32
  let writing: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0)
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    close(writing)
  }

  func write() { _ = unsafe Glibc.write(writing, "x", 1) }
}

@Suite struct PollerTests {
  private func events(_ poller: Poller) -> [UInt64: Poller.Events] {
    var found: [UInt64: Poller.Events] = [:]
    for index in 0..<poller.wait(atMost: .zero) { found[poller[index].token] = poller[index].events }
    return found
  }

  @Test func reportsReadyDescriptorsByTheirTokens() throws {
    let poller = try Poller(capacity: 8)
    let (first, second) = (try Pipe(), try Pipe())
    try poller.add(first.reading, .readable)
    try poller.add(second.reading, .readable, token: 1 << 40)
    #expect(events(poller).isEmpty)
    first.write()
    #expect(events(poller) == [UInt64(first.reading): .readable])
    second.write()
    #expect(events(poller) == [UInt64(first.reading): .readable, 1 << 40: .readable])
    poller.remove(first.reading)
    #expect(events(poller) == [1 << 40: .readable])
  }

  @Test func setAddsAndReplaces() throws {
    let poller = try Poller(capacity: 8)
    let pipe = try Pipe()
    try poller.set(pipe.writing, .writable)
    #expect(events(poller) == [UInt64(pipe.writing): .writable])
    try poller.set(pipe.writing, [])
    #expect(events(poller).isEmpty)
  }

  @Test func aBrokenDescriptorIsReadable() throws {
    let poller = try Poller(capacity: 8)
    let pipe = try Pipe()
    let copy = dup(pipe.writing)
    defer { close(copy) }
    try poller.add(copy, [])
    #expect(poller.wait(atMost: .zero) == 0)
    try #require(dup2(copy, pipe.reading) >= 0)
    #expect(poller.wait(atMost: .zero) == 1)
    #expect(poller[0].events == .error && poller[0].isReadable && !poller[0].isWritable)
    #expect(poller[0].descriptor == copy)
  }

  @Test func oneWaitReportsAtMostTheCapacity() throws {
    let poller = try Poller(capacity: 2)
    let pipes = try (0..<5).map { _ in try Pipe() }
    for pipe in pipes { try poller.add(pipe.writing, [.writable, .edgeTriggered]) }
    #expect((0..<4).map { _ in poller.wait(atMost: .zero) } == [2, 2, 1, 0])
    #expect(poller.capacity == 2)
  }

  @Test func aTimeoutIsRoundedUp() throws {
    let poller = try Poller(capacity: 1)
    let start = MonotonicInstant.now
    #expect(poller.wait(atMost: .microseconds(1_001)) == 0)
    #expect(start.duration(to: .now) >= .microseconds(1_001))
  }

  @Test func refusalsCarryCallAndErrorNumber() throws {
    let poller = try Poller(capacity: 1)
    #expect(throws: EventLoopError(operation: "epoll_ctl add", errno: EBADF)) { try poller.add(-1, .readable) }
    #expect(throws: EventLoopError(operation: "epoll_ctl modify", errno: EBADF)) { try poller.set(-1, .readable) }
    #expect(EventLoopError(operation: "eventfd", errno: EMFILE).description == "eventfd: Too many open files")
  }
}
