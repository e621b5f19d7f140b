internal import History
internal import HostProcess
internal import Logging
internal import NetworkReachability
internal import ServiceLifecycle

// The start of the monitor.
extension Daemon {
  /// The delays between attempts to open the kernel; the first ones are short, because failures during boot end soon.
  private static let retryDelays: [Duration] = [.seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30)]

  /// Opens the kernel, retries until it succeeds, and then waits for the end.
  func startMonitor() async {
    var retryDelays = Self.retryDelays.makeIterator()
    var wait = Self.retryDelays.last ?? .seconds(30)
    while !Task.isCancelled {
      do throws(KernelError) {
        try monitor.start()
        await waitForFirstState()
        data.store?.endStart()
        await waitForEndOfStart()
        manager.notify("READY=1\nSTATUS=Serving.")
        break
      } catch {
        wait = retryDelays.next() ?? wait
        // The states are restored, and compared with the kernel's only when that is available.
        data.store?.endStart()
        manager.notify("STATUS=The kernel is unavailable: \(error)")
        logger.error("kernel unavailable", metadata: ["error": "\(error)", "retryIn": "\(wait)"])
        try? await Task.sleep(for: wait)
      }
    }
    try? await gracefulShutdown()
  }
}
