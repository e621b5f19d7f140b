package import History
package import NetworkReachability

extension RecoveredStoreState {
  /// The state that the last process published last, for the comparison with the first reading.
  package var restoredState: RestoredEngineState {
    let machine = subjects[HistorySubject.machine].flatMap(MachineStateRecord.init)
    return RestoredEngineState(
      lastNumber: lastSequence, machine: machine?.machine, since: machine?.since,
      // There is always a loopback interface, unless no state was stored.
      interfaces: interfaces.isEmpty ? nil : interfaces)
  }

  /// The stored interfaces; the name of the subject is decisive, because an event removes the state by it.
  var interfaces: [InterfaceState] {
    subjects.compactMap { subject, bytes -> InterfaceState? in
      guard let name = HistorySubject.interfaceName(in: subject), var state = InterfaceState(storedBytes: bytes) else {
        return nil
      }
      state.interface.name = name
      return state
    }.sorted { ($0.interface.index, $0.interface.name) < ($1.interface.index, $1.interface.name) }
  }
}

extension Snapshot {
  /// The states of the machine and its interfaces as they are stored; none before the first reading.
  package var storedStates: [(subject: String, state: [UInt8])] {
    guard machine.reason != .starting else { return [] }
    var states = interfaces.map { (subject: HistorySubject.interface($0.interface.name), state: $0.storedBytes) }
    states.append((HistorySubject.machine, MachineStateRecord(machine: machine, since: since).bytes))
    return states
  }
}
