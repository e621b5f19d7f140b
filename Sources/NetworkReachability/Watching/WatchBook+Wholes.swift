internal import ReachabilityModel

// Targets with questions of their own, and names.
extension WatchBook {
  /// Has a whole judged by the next reading.
  mutating func touchWhole(_ number: Int32) {
    guard wholes[number]?.isTouched == false else { return }
    wholes[number]?.isTouched = true
    touchedWholes.append(number)
  }

  mutating func judgeWholes(_ round: inout Round) {
    let touched = touchedWholes
    touchedWholes = []
    for number in touched {
      guard let watch = watches[Int(number)], let whole = wholes[number], whole.isTouched else { continue }
      if watch.form == .several {
        round.severals.insert(number)
      } else if let queries = whole.queries, queries.allSatisfy({ round.reading.answers[$0] != nil }) {
        wholes[number]?.isTouched = false
        round.outcome.judged.append(number)
        let verdict = TargetRules.verdict(
          for: watch.target, resolution: watch.resolution, permitting: requirement, answers: round.reading.answers,
          in: round.reading.tables)
        take(verdict, for: number, &round)
      } else {
        touchedWholes.append(number)
      }
    }
    for number in round.severals {
      wholes[number]?.isTouched = false
      if let verdict = combined(number) { take(verdict, for: number, &round) }
    }
  }

  /// The verdict over a name from the paths of its addresses; nil when one is not known yet.
  private func combined(_ number: Int32) -> HostVerdict? {
    guard let watch = watches[Int(number)] else { return nil }
    let addresses = routedAddresses(of: watch) ?? []
    var verdicts: [HostVerdict.AddressVerdict] = []
    for address in addresses {
      let family = address.unmapped.family.place
      guard let position = indexes[family].position(of: address.unmapped.number, number) else { return nil }
      let path = path(family, at: position)
      guard path >= 0 else { return nil }
      verdicts.append(.init(address: address, path: paths[path]))
    }
    return HostVerdict(target: watch.target, best: verdicts)
  }

  private mutating func take(_ verdict: HostVerdict, for number: Int32, _ round: inout Round) {
    let old = wholes[number]?.verdict?.published
    if wholes[number]?.verdict == nil {
      wholes[number]?.verdict = SettledVerdict(verdict)
    } else {
      wholes[number]?.verdict?.take(verdict, at: round.reading.uptime, settle: round.settle) {
        NetworkPath.isLoss($0.path, $1.path)
      }
    }
    if wholes[number]?.verdict?.holdUntil == nil { heldWholes.remove(number) } else { heldWholes.insert(number) }
    guard let new = wholes[number]?.verdict?.published, new != old else { return }
    round.outcome.changes.verdicts.append(NewVerdict(watch: number, from: old, to: new))
  }
}
