import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import Testing

extension KernelScript {
  /// A machine with a wired link: `eth0`, 10.0.0.5/24, the default route over 10.0.0.1.
  static var wired: KernelScript {
    var script = KernelScript()
    script.addLoopback()
    script.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
    script.addDefault(via: "10.0.0.1", on: 2)
    return script
  }

  /// A machine with a wired link without a default route.
  static var withoutDefault: KernelScript {
    var script = KernelScript.wired
    script.removeDefaults(.ipv4)
    return script
  }
}

/// A monitor with a scripted kernel, and what a test needs to change it.
struct Bench {
  let kernel: ScriptedKernel
  let monitor: ReachabilityMonitor
  static let settle = Duration.milliseconds(10)

  init(
    _ script: KernelScript = .wired, settle: Duration = Bench.settle, nameServers: [String] = ["127.0.0.1:1"],
    nameTimeout: Duration = .seconds(5)
  ) {
    let kernel = ScriptedKernel(script)
    self.kernel = kernel
    monitor = ReachabilityMonitor(
      configuration: .init(settle: settle, nameServers: nameServers, nameTimeout: nameTimeout), kernel: kernel)
  }

  static func started(_ script: KernelScript = .wired, settle: Duration = Bench.settle) throws -> Bench {
    let bench = Bench(script, settle: settle)
    try bench.monitor.start()
    return bench
  }

  /// A recorder of these kinds with immediate delivery, and its subscription.
  func record(
    _ kinds: Transition.Kinds = [.status, .path], watching targets: [ReachabilityTarget] = []
  ) throws -> (UpdateRecorder, ReachabilityMonitor.Subscription) {
    let recorder = UpdateRecorder()
    let subscription = try #require(
      monitor.listen(to: kinds, watching: targets, on: .immediate) { recorder.record($0) })
    return (recorder, subscription)
  }

  func loseDefault(_ causes: Set<Cause> = [.routeRemoved]) { kernel.change(causes) { $0.removeDefaults(.ipv4) } }

  func gainDefault(via gateway: String = "10.0.0.1", _ causes: Set<Cause> = [.routeAdded]) {
    kernel.change(causes) { $0.addDefault(via: gateway, on: 2) }
  }
}

/// Runs `body` once on each of several new threads concurrently, and waits for them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for number in 0..<count {
    DispatchQueue(label: "test thread \(number)").async(group: group) { body(number) }
  }
  group.wait()
}
