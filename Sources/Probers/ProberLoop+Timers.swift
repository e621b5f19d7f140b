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

  /// Sets the timer of a check to the next time at which it must be handled.
  func setTimer(_ check: ProberCheck) {
    // The checks of its addresses have timers.
    guard check.step != .gathering else { return }
    timers.set(.check(check.id), at: check.nextMoment)
  }

  /// Sets the timer of a group of libcurl's transfers; nil for none.
  func setTimer(_ group: CurlGroup, at moment: MonotonicInstant?) {
    if let moment {
      timers.set(.transfers(group.number), at: moment)
    } else {
      timers.cancel(.transfers(group.number))
    }
  }

  func handleTimers() {
    while let timer = timers.popExpired(now) {
      switch timer {
      case .check(let id): if let check = checks[id] { timerExpired(check) }
      case .transfers(let number): transfers.groups[number].timerExpired()
      }
    }
  }

  private func timerExpired(_ check: ProberCheck) {
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
