internal import Locks
internal import Logging
internal import ReachabilityModel

/// A source with the observers that share it, and the number of its uses in this process.
final class CountedNetlinkSource: Sendable {
  /// What sources must have in common to be shared.
  private struct Key: Hashable {
    let namespace: NetworkNamespace
    let overrides: [InterfaceOverride]
  }

  private struct Entry {
    let source: CountedNetlinkSource
    var uses = 1
  }

  private static let entries = Locked<[Key: Entry]>([:])

  let source: NetlinkSource
  private let observers = NetlinkObserverMultiplexer()
  /// Nil for a source that is not shared.
  private let key: Key?

  private init(_ key: Key?, _ overrides: [InterfaceOverride]) {
    var settings = NetlinkSource.Settings()
    settings.interfaceOverrides = overrides
    source = NetlinkSource(settings: settings, logger: Logger(label: "reachability") { _ in SwiftLogNoOpLogHandler() })
    self.key = key
  }

  /// The source for the calling thread's namespace, with one more use, and whether the caller must start it.
  static func acquire(_ overrides: [InterfaceOverride]) -> (source: CountedNetlinkSource, isNew: Bool) {
    guard let namespace = NetworkNamespace.current else { return (CountedNetlinkSource(nil, overrides), true) }
    let key = Key(namespace: namespace, overrides: overrides)
    return entries.withLock { entries in
      if let entry = entries[key] {
        entries[key]?.uses += 1
        return (entry.source, false)
      }
      let source = CountedNetlinkSource(key, overrides)
      entries[key] = Entry(source: source)
      return (source, true)
    }
  }

  /// Ends one use; the last one stops the source.
  func release() {
    let isLast = Self.entries.withLock { entries in
      guard let key, let entry = entries[key], entry.source === self else { return true }
      entries[key]?.uses -= 1
      guard entry.uses == 1 else { return false }
      entries[key] = nil
      return true
    }
    if isLast { source.stop() }
  }

  /// Adds an observer and waits for its first reading.
  ///
  /// - Parameters:
  ///   - member: the observer's membership, for ``refresh(for:)`` and ``remove(_:)``.
  ///   - isNew: whether the source must be started.
  /// - Throws: a ``KernelError`` when the kernel cannot be read; the observer is not added then.
  func add(_ member: NetlinkObserverMultiplexer.Member, isNew: Bool) throws(KernelError) {
    try observers.add(member, isFirst: isNew)
    do throws(KernelError) {
      if isNew {
        try start()
      } else if observers.isCalledByThisThread {
        try observers.deliverFirst(to: member, source.lookUp)
        source.refresh()
      } else {
        source.refresh()
        try member.waitForFirstReading()
      }
    } catch {
      observers.remove(member)
      throw error
    }
  }

  /// Requests a reading for one observer, which the others do not receive unless the kernel's state has changed.
  func refresh(for member: NetlinkObserverMultiplexer.Member) {
    observers.request(member)
    source.refresh()
  }

  /// Ends the use of an observer.
  func remove(_ member: NetlinkObserverMultiplexer.Member) {
    observers.remove(member)
    release()
  }

  private func start() throws(KernelError) {
    do throws(KernelError) {
      try source.start(observers)
    } catch {
      // The next use starts a new source.
      Self.entries.withLock { entries in
        if let key, entries[key]?.source === self { entries[key] = nil }
      }
      observers.startFailed(error)
      throw error
    }
  }
}
