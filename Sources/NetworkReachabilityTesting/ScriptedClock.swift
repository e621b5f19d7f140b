internal import Locks
public import ReachabilityModel

/// A clock that a test advances: the test double for `CheckClock`, for code that uses a `CheckSchedule`.
///
/// ```swift
/// let clock = ScriptedClock()
/// let schedule = CheckSchedule(monitor: monitor, checker: checker, clock: clock)
/// schedule.put(definition)
/// clock.advance()
/// ```
///
/// The schedule runs only inside ``advance(by:)``, on the thread of the test.
public final class ScriptedClock: CheckClock {
  private struct State {
    var uptime = Duration.zero
    var time: Timestamp
    var timers: [Reference] = []

    mutating func move(to moment: Duration) {
      let step = max(.zero, moment - uptime)
      uptime += step
      time = Timestamp(microseconds: time.microseconds + Int64(step / .microseconds(1)))
    }
  }

  private struct Reference {
    weak var timer: Timer?
    /// When it fires; nil when it is not armed.
    var at: Duration?
    /// It fires before all others.
    var isCalled = false

    /// Timers that were called fire immediately.
    var moment: Duration { isCalled ? .zero : at ?? .zero }
  }

  private let state: Locked<State>
  /// The limit of calls at one time, which only a timer in an endless loop exceeds.
  private static let mostCalls = 1_000_000

  /// A clock at `time`, the beginning of 1970 by default.
  public init(time: Timestamp = Timestamp(microseconds: 0)) {
    state = Locked(State(time: time))
  }

  /// The time since the creation of the clock.
  public var uptime: Duration { state.withLock(\.uptime) }

  /// The wall-clock time.
  public var time: Timestamp { state.withLock(\.time) }

  /// Advances the clock and fires all timers that are due until then, each at its own time; by default those that are due now.
  public func advance(by duration: Duration = .zero) {
    let end = uptime + duration
    var (calls, moment) = (0, uptime)
    while let timer = next(until: end) {
      if uptime > moment { (calls, moment) = (0, uptime) }
      calls += 1
      precondition(calls <= Self.mostCalls, "a timer is still due after \(Self.mostCalls) calls")
      timer.body()
    }
  }

  /// A timer that fires inside ``advance(by:)``.
  public func makeTimer(_ body: @escaping @Sendable () -> Void) -> any CheckTimer {
    let timer = Timer(self, body)
    state.withLock { $0.timers.append(Reference(timer: timer)) }
    return timer
  }

  /// Advances to the next timer and returns it; nil, at the end, when none is due.
  private func next(until end: Duration) -> Timer? {
    state.withLock { state in
      state.timers.removeAll { $0.timer == nil }
      let due = state.timers.indices
        .filter { state.timers[$0].isCalled || state.timers[$0].at.map { $0 <= end } ?? false }
        .min { state.timers[$0].moment < state.timers[$1].moment }
      guard let due else {
        state.move(to: end)
        return nil
      }
      state.move(to: state.timers[due].moment)
      if state.timers[due].isCalled { state.timers[due].isCalled = false } else { state.timers[due].at = nil }
      return state.timers[due].timer
    }
  }

  fileprivate func change(_ timer: Timer, at uptime: Duration?) {
    state.withLock { state in
      guard let index = state.timers.firstIndex(where: { $0.timer === timer }) else { return }
      if let uptime { state.timers[index].at = uptime } else { state.timers[index].isCalled = true }
    }
  }

  fileprivate final class Timer: CheckTimer {
    private let clock: ScriptedClock
    let body: @Sendable () -> Void

    init(_ clock: ScriptedClock, _ body: @escaping @Sendable () -> Void) {
      self.clock = clock
      self.body = body
    }

    func fire(at uptime: Duration) { clock.change(self, at: uptime) }
    func fire() { clock.change(self, at: nil) }
  }
}
