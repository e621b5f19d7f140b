internal import ReachabilityModel

// Moments: deadlines, exchanges that want to be woken, libcurl's timer.
extension ProberLoop {
  /// Wakes the check's exchange at `moment`; nil for never.
  func wake(_ check: Check, at moment: Instant?) {
    check.wake = moment
    setAlarm(check)
  }

  /// No check has this number.
  private static let curlAlarm: UInt64 = 0

  /// Notes when libcurl wants to be called; nil for never.
  func setCurlAlarm(_ moment: Instant?) {
    curlMoment = moment
    if let moment { alarms.set(Self.curlAlarm, at: moment) }
  }

  /// Notes the next moment that concerns the check.
  func setAlarm(_ check: Check) {
    let moment = check.nextMoment
    guard check.alarm != moment else { return }
    check.alarm = moment
    alarms.set(check.id, at: moment)
  }

  func ringAlarms() {
    while let (moment, id) = alarms.next(by: now) {
      if id == Self.curlAlarm {
        guard curlMoment == moment else { continue }
        curlMoment = nil
        transfers?.ring()
        continue
      }
      guard let check = checks[id], check.alarm == moment else { continue }
      check.alarm = nil
      if check.due <= now {
        overdue(check)
      } else if let wake = check.wake, wake <= now {
        check.wake = nil
        check.exchange?.awake()
        if checks[id] != nil { setAlarm(check) }
      }
    }
    if alarms.entries.count > 2 * checks.count + Limits.deadAlarms { rebuildAlarms() }
  }

  private func rebuildAlarms() {
    let curl = curlMoment.map { [($0, Self.curlAlarm)] } ?? []
    alarms.rebuild(checks.values.compactMap { check in check.alarm.map { ($0, check.id) } } + curl)
  }

  private func overdue(_ check: Check) {
    switch check.step {
    case .waiting:
      conclude(check, Finding(.unknown, .cancelled, detail: "too many checks are under way: its turn did not come"))
    case .resolving: conclude(check, Finding(.unknown, .dnsTimeout, detail: "no DNS server answered in time"))
    case .resolved: break
    case .asking: conclude(check, check.exchange?.overdue() ?? .cancelled)
    }
  }

  /// Gives back the time in which this thread did not run, though it should have: SIGSTOP, a machine that is overloaded.
  func forgive(_ before: Instant, _ wait: Duration?) {
    guard let wait else { return }
    let lost = before.duration(to: now) - wait
    guard lost > Limits.stall else { return }
    for check in checks.values {
      check.forgive(lost)
      check.alarm = check.nextMoment
    }
    rebuildAlarms()
  }
}
