import Dispatch
import Foundation
import Locks
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityCompatibility
import TestSupport

/// A scripted network with a monitor for several façades, without a settle time.
struct Scripted {
  let kernel: ScriptedKernel
  let monitor: ReachabilityMonitor
  let shared: CompatibilityMonitor

  init(online: Bool = true, nameServers: [String] = []) {
    var script = KernelScript()
    script.addLoopback()
    script.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
    script.addInterface(3, "wwan0", .wwan, addresses: ["100.64.0.5/24"])
    if online { script.addDefault(via: "10.0.0.1", on: 2) }
    let kernel = ScriptedKernel(script)
    self.kernel = kernel
    monitor = ReachabilityMonitor(
      configuration: .init(settle: .zero, nameServers: nameServers), kernel: kernel)
    shared = CompatibilityMonitor(monitor)
  }

  /// The default route leads through Ethernet and a router.
  func plug() {
    kernel.change {
      $0.removeDefaults(.ipv4)
      $0.addDefault(via: "10.0.0.1", on: 2)
    }
  }

  /// The default route leads through the modem.
  func roam() {
    kernel.change {
      $0.removeDefaults(.ipv4)
      $0.addDefault(via: "100.64.0.1", on: 3)
    }
  }

  /// There is no default route.
  func unplug() { kernel.change { $0.removeDefaults(.ipv4) } }

  /// The default route leads through Ethernet without a router: other flags, same status.
  func plugDirectly() {
    kernel.change {
      $0.removeDefaults(.ipv4)
      let any = IPPrefix(IPAddress(ipv4: 0), length: 0)
      $0.routes.append(Route(prefix: any, hops: [.init(interfaceIndex: 2)]))
    }
  }

  func manager(_ target: ReachabilityTarget = .default) -> NetworkReachabilityManager {
    NetworkReachabilityManager(target, on: shared)
  }
}

extension ReachabilityTarget {
  static let localhost = ReachabilityTarget(.name("localhost"))
}

/// Stores the values that a listener receives.
final class Log<Value: Sendable>: Sendable {
  private let kept = Locked<[Value]>([])

  func add(_ value: Value) { kept.withLock { $0.append(value) } }

  var values: [Value] { kept.withLock(\.self) }
}

extension NetworkReachabilityManager {
  /// Waits until everything that was submitted to `queue` has run.
  func drain(_ queue: DispatchQueue) {
    reachabilityQueue.sync {}
    queue.sync {}
  }
}

/// Observes one notification until it is released.
final class Observer {
  private let centre: NotificationCenter
  private let token: any NSObjectProtocol

  init(
    _ name: Notification.Name, of object: Any? = nil, in centre: NotificationCenter = .default,
    _ body: @escaping @Sendable (Notification) -> Void
  ) {
    self.centre = centre
    token = centre.addObserver(forName: name, object: object, queue: nil, using: body)
  }

  deinit { centre.removeObserver(token) }
}

/// Waits, without blocking a thread, until a condition holds.
@discardableResult
func becomes(_ condition: () -> Bool) async -> Bool {
  await eventually { () async in condition() }
}

/// Whether this runs on the main queue, which is not always the main thread: `dispatchMain` gives that up.
var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mainQueueMark) == true }

private let mainQueueMark = {
  let mark = DispatchSpecificKey<Bool>()
  DispatchQueue.main.setSpecific(key: mark, value: true)
  return mark
}()
