import EventLoop
import Glibc
import Locks
import TestSupport
import Testing

@Suite struct LoopThreadTests {
  /// The signals that are blocked on the calling thread.
  private static func blockedSignals() -> Set<Int32> {
    var mask = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
    return Set((1...64).filter { unsafe sigismember(&mask, $0) == 1 })
  }

  @Test func onlySynchronousSignalsAreOpen() throws {
    let blocked = Locked<Set<Int32>>([])
    let before = Self.blockedSignals()
    try LoopThread("signals") {
      let own = Self.blockedSignals()
      blocked.withLock { $0 = own }
    }.join()
    // SIGKILL and SIGSTOP cannot be blocked, and glibc keeps 32 and 33 for itself.
    let open: Set<Int32> = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGKILL, SIGSTOP, 32, 33]
    #expect(blocked.withLock { $0 } == Set(1...64).subtracting(open))
    #expect(Self.blockedSignals() == before, "the starting thread keeps its mask")
  }

  @Test func theNameIsCutTo15Bytes() throws {
    let name = Locked("")
    try LoopThread("a name of 22 bytes ...") {
      let file = unsafe open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = unsafe max(0, read(file, &bytes, bytes.count))
      let text = String(decoding: bytes.prefix(count), as: UTF8.self)
      name.withLock { $0 = text }
    }.join()
    #expect(name.withLock { $0 } == "a name of 22 by\n")
  }

  @Test func aThreadThatJoinsItselfDoesNotWait() throws {
    let latch = Latch()
    let own = Locked<LoopThread?>(nil)
    let started = Latch()
    let thread = try LoopThread("itself") {
      started.wait()
      own.withLock { $0 }?.join()
      latch.open()
    }
    own.withLock { $0 = thread }
    started.open()
    latch.wait()
  }

  @Test func aLatchReleasesAllThreads() throws {
    let latch = Latch()
    let count = Locked(0)
    let body: @Sendable () -> Void = {
      latch.wait()
      count.withLock { $0 += 1 }
    }
    let threads = try (0..<3).map { _ in try LoopThread("waiter", body) }
    #expect(count.withLock { $0 } == 0)
    latch.open()
    threads.forEach { $0.join() }
    latch.wait()
    #expect(count.withLock { $0 } == 3)
  }
}
