internal import EventLoop
internal import ReachabilityModel

// Timers: the deadlines of checks, the wake times of exchanges, libcurl's timers.
extension ProberLoop {
  /// Calls the check's exchange at `moment`; nil for never.
  func wake(_ check: ProberCheck, at moment: MonotonicInstant?) {
    guard check.wakeTime != moment else { return }
    check.wakeTime = moment
    setTimer(check)
  }

  func timerExpired(_ check: ProberCheck) {
    if check.due <= now {
      overdue(check)
    } else if let wake = check.wakeTime, wake <= now {
      check.wakeTime = nil
      check.exchange?.awake()
      if checks[check.id] != nil { setTimer(check) }
    }
  }

  private func overdue(_ check: ProberCheck) {
    switch check.step {
    case .waiting, .admitted:
      let seconds = Limits.longestTurn.components.seconds
      let message = "too many checks are running: the check did not start within \(seconds) s"
      conclude(check, ProberResult(.unknown, .cancelled, detail: message))
    case .resolving:
      conclude(check, ProberResult(.unknown, .dnsTimeout, detail: "no DNS server answered in time"))
    case .resolved, .gathering: break
    case .asking: conclude(check, check.exchange?.overdue() ?? .cancelled)
    }
  }

  /// Adds to all deadlines the time in which this thread should have run but did not: after SIGSTOP, and on an
  /// overloaded machine.
  func compensateForStall(since before: MonotonicInstant, _ wait: Duration?) {
    guard let wait else { return }
    let lost = before.duration(to: now) - wait
    guard lost > Limits.stall else { return }
    for check in checks.values {
      check.compensateForStall(lost)
      check.exchange?.deadlineMoved()
      setTimer(check)
    }
  }
}
