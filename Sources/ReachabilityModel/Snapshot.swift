/// The state of this machine at one sequence number.
public struct Snapshot: Hashable, Sendable {
  /// The number of the last transition that changed this state; 0 before the first reading.
  ///
  /// Changes of registered targets are numbered in the same sequence, and change nothing here.
  public var sequence: UInt64
  /// When the status last changed; nil before the first reading.
  public var since: Timestamp?
  /// The verdict for this machine.
  public var machine: MachinePath
  /// The interfaces with their usable addresses, by ascending index.
  public var interfaces: [InterfaceState]

  /// Creates a snapshot from its parts.
  public init(sequence: UInt64, since: Timestamp?, machine: MachinePath, interfaces: [InterfaceState]) {
    self.sequence = sequence
    self.since = since
    self.machine = machine
    self.interfaces = interfaces
  }

  /// The snapshot before the first reading: unknown, for this reason.
  public static func unknown(_ reason: Reason) -> Snapshot {
    Snapshot(
      sequence: 0, since: nil, machine: MachinePath(ipv4: .unknown(reason), ipv6: .unknown(reason)), interfaces: [])
  }

  /// The interfaces in order of preference, as NWPath lists its available interfaces.
  ///
  /// First the one of the ``MachinePath/leading`` default path, then the one of the other family's, then the others by
  /// ascending index. Default routes that the kernel does not use at present do not count.
  public var interfacesByPreference: [InterfaceState] {
    var first: [UInt32] = []
    for path in [machine.leading, machine.ipv4, machine.ipv6] {
      if let index = path.interface?.index, !first.contains(index) { first.append(index) }
    }
    let preferred = first.compactMap { index in interfaces.first { $0.interface.index == index } }
    return preferred + interfaces.filter { !first.contains($0.interface.index) }
  }

  /// Whether this machine has a usable default path.
  public var status: ReachabilityStatus { machine.status }
}

/// An interface with its usable addresses.
public struct InterfaceState: Hashable, Sendable {
  /// The interface.
  public var interface: Interface
  /// Its usable addresses with their prefix lengths, IPv4 first, by value.
  public var addresses: [IPPrefix]

  /// Creates an interface with addresses.
  public init(interface: Interface, addresses: [IPPrefix]) {
    self.interface = interface
    self.addresses = addresses
  }
}

/// One change of the published state, with its number in the sequence of all changes.
public struct Transition: Hashable, Sendable {
  /// The sequence number: consecutive, starting at 1.
  ///
  /// Changes of watched hosts have the number of the preceding transition, because they are not part of the machine's
  /// history.
  public var sequence: UInt64
  /// When the reading that shows the change was made.
  public var time: Timestamp
  /// The causes that the kernel reported, in the order of ``Cause/inOrder``; empty when it reported none.
  public var causes: [Cause]
  /// What changed.
  public var change: Change
  /// The present name of an interface whose old name this transition removes; nil for all other transitions.
  ///
  /// A transition with the same index and this name follows.
  public var renamedTo: String?

  /// Creates a transition.
  public init(sequence: UInt64, time: Timestamp, causes: [Cause], change: Change, renamedTo: String? = nil) {
    self.sequence = sequence
    self.time = time
    self.causes = causes
    self.change = change
    self.renamedTo = renamedTo
  }
}
