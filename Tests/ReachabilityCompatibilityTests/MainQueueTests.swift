import Dispatch
import Foundation
import Locks
import ReachabilityCompatibility
import TestSupport
import Testing

/// The parents' code as it stands in programs: observers on the main queue, and stops from wherever it suits.
///
/// In processes of their own, whose main queue is run as `dispatchMain()` and an `async` `@main` run it: where this fails,
/// that queue is stuck for good.
struct MainQueueTests {
  /// Ends this process with success when the condition holds, with failure when it does not come to hold.
  @Sendable private static func exitWhen(_ condition: @Sendable () -> Bool) async {
    exit(await becomes(condition) ? EXIT_SUCCESS : EXIT_FAILURE)
  }

  @Test("An observer on Foundation's main queue hears a Reachability, and the main queue goes on")
  func reachability() async {
    await #expect(processExitsWith: .success) {
      let reachability = Reachability(.default, on: Scripted().shared)
      let heard = Log<Bool>()
      let token = NotificationCenter.default.addObserver(
        forName: .reachabilityChanged, object: reachability, queue: .main
      ) { _ in heard.add(isOnMainQueue) }
      try reachability.startNotifier()
      DispatchQueue.main.async { heard.add(true) }
      await Self.exitWhen { heard.values == [true, true] }
      withExtendedLifetime((token, reachability)) {}
    }
  }

  @Test("The main queue that a user names is Foundation's, too", .enabled(if: Namespace.isSupported))
  func named() async {
    await #expect(processExitsWith: .success) {
      let reachability = try Reachability(hostname: "127.0.0.1", notificationQueue: DispatchQueue.main)
      let heard = Log<Bool>()
      let token = NotificationCenter.default.addObserver(
        forName: .reachabilityChanged, object: reachability, queue: .main
      ) { _ in heard.add(isOnMainQueue) }
      try Namespace().run { try reachability.startNotifier() }
      await Self.exitWhen { heard.values == [true] }
      withExtendedLifetime((token, reachability)) {}
    }
  }

  @Test("An observer on Foundation's main queue hears an AFNetworkReachabilityManager")
  func networking() async {
    await #expect(processExitsWith: .success) {
      let manager = AFNetworkReachabilityManager(.default, on: Scripted().shared)
      let heard = Log<Bool>()
      let token = NotificationCenter.default.addObserver(
        forName: .AFNetworkingReachabilityDidChange, object: manager, queue: .main
      ) { _ in heard.add(isOnMainQueue) }
      manager.startMonitoring()
      await Self.exitWhen { heard.values == [true] }
      withExtendedLifetime((token, manager)) {}
    }
  }

  @Test("A listener of Alamofire's may post to observers on Foundation's main queue")
  func alamofire() async {
    await #expect(processExitsWith: .success) {
      let manager = Scripted().manager()
      let name = Notification.Name("online")
      let heard = Log<Bool>()
      let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) { _ in
        heard.add(isOnMainQueue)
      }
      manager.startListening { _ in NotificationCenter.default.post(name: name, object: nil) }
      await Self.exitWhen { heard.values == [true] }
      withExtendedLifetime((token, manager)) {}
    }
  }

  @Test("The main queue may stop, or drop, a manager whose listener waits for the main queue")
  func stopsOnMain() async {
    await #expect(processExitsWith: .success) {
      let network = Scripted()
      let steps = Log<String>()
      for (number, step) in ["stopped", "dropped"].enumerated() {
        let isIn = DispatchSemaphore(value: 0)
        DispatchQueue.main.async {
          var manager: NetworkReachabilityManager? = network.manager()
          manager?.startListening(onQueue: .global()) { _ in
            isIn.signal()
            DispatchQueue.main.sync { steps.add("told") }
          }
          isIn.wait()
          if step == "stopped" { manager?.stopListening() } else { manager = nil }
          steps.add(step)
          withExtendedLifetime(manager) {}
        }
        await becomes { steps.values.count == 2 * (number + 1) }
      }
      await Self.exitWhen { steps.values == ["stopped", "told", "dropped", "told"] }
    }
  }

  @Test("The main queue may stop a Reachability whose observer waits for Foundation's main queue")
  func stopsReachability() async {
    await #expect(processExitsWith: .success) {
      let network = Scripted()
      let queue = DispatchQueue(label: "notifications")
      let reachability = Reachability(.default, on: network.shared, context: .named(queue))
      let steps = Log<String>()
      let isIn = DispatchSemaphore(value: 0)
      let token = NotificationCenter.default.addObserver(
        forName: .reachabilityChanged, object: reachability, queue: .main
      ) { _ in steps.add("told") }
      reachability.whenReachable = { _ in isIn.signal() }
      DispatchQueue.main.async {
        try? reachability.startNotifier()
        isIn.wait()
        reachability.stopNotifier()
        steps.add("stopped")
      }
      await Self.exitWhen { steps.values == ["stopped", "told"] }
      withExtendedLifetime((token, reachability)) {}
    }
  }

  @Test("Thousands of managers share the machine's threads")
  func threads() async {
    await #expect(processExitsWith: .success) {
      let network = Scripted()
      let told = Locked(0)
      let queue = DispatchQueue(label: "listener")
      let managers = (0..<2_000).map { _ in network.manager() }
      for manager in managers { manager.startListening(onQueue: queue) { _ in told.withLock { $0 += 1 } } }
      network.unplug()
      let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
      await becomes { told.withLock(\.self) == 2 * managers.count }
      exit(threads < 40 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test("A listener may have the main queue stop its manager and wait for that")
  func stopsByMain() async {
    await #expect(processExitsWith: .success) {
      let manager = Scripted().manager()
      let steps = Log<String>()
      manager.startListening(onQueue: .global()) { _ in
        // Not by `sync`, which may run its block on the thread that waits, where no stop ever waited.
        let hasStopped = DispatchSemaphore(value: 0)
        DispatchQueue.main.async {
          manager.stopListening()
          hasStopped.signal()
        }
        hasStopped.wait()
        steps.add("stopped")
      }
      await Self.exitWhen { steps.values == ["stopped"] }
    }
  }
}
