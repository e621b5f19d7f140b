import Glibc
import HostProcess
import Locks
import TestSupport
import Testing

/// The kernel keeps privileges per thread: every test gives up those of a thread of its own.
@Suite struct PrivilegesTests {
  /// Runs `body` on a new thread and waits.
  private func onNewThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
    let result = Locked<Value?>(nil)
    let work = unsafe Unmanaged.passRetained(Box { result.withLock { $0 = body() } })
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { context in
        if let context = unsafe context { unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, work.toOpaque())
    precondition(code == 0, "no thread")
    pthread_join(thread, nil)
    guard let value = result.withLock(\.self) else { preconditionFailure("the thread ran nothing") }
    return value
  }

  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  @Test func nothingIsLeftAfterDropping() {
    let (before, after) = onNewThread { (Privileges.current, Privileges.drop()) }
    #expect(after.isNone)
    #expect(after.hasNoNewPrivileges && after.effective == 0 && after.permitted == 0)
    #expect(after.user == before.user)
    // Shrinking the bounding set takes a capability (CAP_SETPCAP, 8); with it nothing stays there either.
    if before.effective & 1 << 8 != 0 { #expect(after.bounding == 0) }
    #expect(after.description == "user \(geteuid()), no new privileges, no capabilities")
    #expect(onNewThread { Privileges.drop() }.isNone, "once more is harmless")
  }

  @Test func onlyTheThreadItselfIsChanged() {
    let before = Privileges.current
    _ = onNewThread { Privileges.drop() }
    #expect(Privileges.current == before)
  }

  @Test func childThreadsInherit() {
    let child = onNewThread {
      _ = Privileges.drop()
      return PrivilegesTests().onNewThread { Privileges.current }
    }
    #expect(child.isNone)
  }

  /// What root may do, tried: each gives the error number, 0 when it was allowed.
  private static let forbidden: [(name: String, attempt: @Sendable () -> Int32)] = [
    ("a raw ICMP socket", { opened(socket(AF_INET, Int32(SOCK_RAW.rawValue), Int32(IPPROTO_ICMP))) }),
    ("a packet socket", { opened(socket(AF_PACKET, Int32(SOCK_RAW.rawValue), 0)) }),
    ("a host name", { unsafe sethostname("reachd-test", 11) == 0 ? 0 : errno }),
    ("a root directory", { unsafe chroot("/") == 0 ? 0 : errno }),
    ("a higher priority", { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -20) == 0 ? 0 : errno }),
    (
      "a mark on packets",
      {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var mark: Int32 = 7
        return unsafe setsockopt(descriptor, SOL_SOCKET, SO_MARK, &mark, 4) == 0 ? 0 : errno
      }
    ),
  ]

  private static func opened(_ descriptor: Int32) -> Int32 {
    guard descriptor >= 0 else { return errno }
    close(descriptor)
    return 0
  }

  @Test(arguments: forbidden.map(\.name))
  func whatRootMayDoIsRefused(name: String) {
    guard let attempt = Self.forbidden.first(where: { $0.name == name })?.attempt else { return }
    let code = onNewThread {
      _ = Privileges.drop()
      return attempt()
    }
    #expect(code == EPERM || code == EACCES, "\(name): \(code)")
  }

  @Test func aProgramCannotGainWhatWasGivenUp() {
    // Root that executes a program would have every capability again, were it not for the bounding set.
    let end = onNewThread { () -> Child.End? in
      _ = Privileges.drop()
      let child = try? Child("/bin/sh", ["-c", "grep -E '^Cap(Eff|Prm)|^NoNewPrivs' /proc/self/status"])
      guard let child, let end = try? child.wait() else { return nil }
      let words = child.output.split { $0 == "\n" || $0 == "\t" }
      let values = zip(words, words.dropFirst()).filter { $0.0.hasSuffix(":") }.map(\.1)
      return values == ["0000000000000000", "0000000000000000", "1"] ? end : nil
    }
    #expect(end == .exited(0))
  }
}
