internal import Dispatch
internal import FleetAPI
internal import Locks
internal import ReachabilityFleet

extension FleetAgent {
  /// Sends a heartbeat, if this process is the agent.
  func sendHeartbeat(suspects: [String] = []) {
    guard let hello = state.withLock({ $0.isConnected && $0.hello > 0 ? $0.hello : nil }) else { return }
    let heartbeat = HeartbeatMessage(
      agent: id, instance: instance, outbox: Int(clamping: chain.backlog), hello: hello, suspects: suspects)
    messenger.send(FleetWire.encode(heartbeat), on: .heartbeat(id))
  }

  /// The check of a target that was up has failed: a heartbeat names it, and a replica asks the other agents to check it.
  ///
  /// A target without a path does not get here: the kernel reports that, or the check has the result `unreachable`.
  func suspect(_ target: String) {
    let now = ContinuousClock.now - beginning
    guard let time = state.withLock({ $0.isConnected ? $0.suspects.add(target, at: now) : nil }) else { return }
    queue.asyncAfter(deadline: .now() + (time - now) / .seconds(1)) { [weak self] in
      guard let self else { return }
      sendHeartbeat(suspects: state.withLock { [beginning] in $0.suspects.take(at: .now - beginning) })
    }
  }
}
