internal import Names
internal import ReachabilityModel

// Moments: deadlines, exchanges that want to be woken, libcurl's timer.
extension ProberLoop {
  /// Wakes the check's exchange at `moment`; nil for never.
  func wake(_ check: Check, at moment: Instant?) {
    guard check.wake != moment else { return }
    check.wake = moment
    setAlarm(check)
  }

  /// The numbers of libcurl's groups among the alarms, downwards: no check's comes so far.
  private static func alarm(of group: CurlGroup) -> UInt64 { .max - UInt64(group.number) }

  /// Notes when libcurl wants to be called.
  func setAlarm(_ group: CurlGroup) {
    if let moment = group.alarm { alarms.set(Self.alarm(of: group), at: moment) }
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
      guard let check = checks[id] else {
        ringGroup(id, moment)
        continue
      }
      guard check.alarm == moment else { continue }
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

  /// Rings for one of libcurl's groups, if the alarm is one's, and still counts.
  private func ringGroup(_ id: UInt64, _ moment: Instant) {
    let number = UInt64.max - id
    guard number < UInt64(transfers.groups.count) else { return }
    let group = transfers.groups[Int(number)]
    if group.alarm == moment { group.ring() }
  }

  private func rebuildAlarms() {
    alarms.rebuild(
      checks.values.compactMap { check in check.alarm.map { ($0, check.id) } }
        + transfers.groups.compactMap { group in group.alarm.map { ($0, Self.alarm(of: group)) } })
  }

  private func overdue(_ check: Check) {
    switch check.step {
    case .waiting, .admitted:
      let seconds = Limits.longestTurn.components.seconds
      let words = "too many checks are under way: its turn did not come within \(seconds) s"
      conclude(check, Finding(.unknown, .cancelled, detail: words))
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
