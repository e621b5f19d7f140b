internal import Dispatch
internal import Locks
internal import ReachabilityModel

/// A target to judge and what is known of its name.
struct TargetQuestion: Sendable {
  var target: ReachabilityTarget
  var resolution: NameResolution
}

/// Questions that may have to wait for the kernel, on a thread of their own: those who ask have other things to do.
///
/// What comes while one is waited for is answered together, after one barrier. Nobody waits longer than
/// ``Limits/questionPatience``: nothing ends a wait for the kernel's lock, so whoever waits is then answered without it. There
/// are as many questions as those who ask: a request, a check.
final class QuestionLine: Sendable {
  typealias Answer = Swift.Result<HostVerdict, KernelError>

  /// One question and who asked.
  struct Entry: Sendable {
    var question: TargetQuestion
    var completion: @Sendable (Answer) -> Void
  }

  private struct State {
    var waiting: [Entry] = []
    /// Those that the kernel is being asked about; empty when they were answered without it.
    var asked: [Entry] = []
    /// Since when the thread asks for these, whether or not they were answered meanwhile.
    var since = ContinuousClock.now
    var isAsking = false
    var isWatched = false
  }

  private let queue = DispatchQueue(label: "questions", qos: .userInitiated)
  private let watch = DispatchQueue(label: "patience", qos: .userInitiated)
  private let state = Locked(State())

  /// Has a question answered, on one of the line's threads.
  ///
  /// - Parameters:
  ///   - entry: the question, and who is told once.
  ///   - ask: answers questions in their order; may block.
  ///   - glance: answers one without waiting.
  func add(
    _ entry: Entry, ask: @escaping @Sendable ([TargetQuestion]) -> [Answer],
    glance: @escaping @Sendable (TargetQuestion) -> Answer
  ) {
    let isFirst = state.withLock { state in
      state.waiting.append(entry)
      guard !state.isAsking else { return false }
      (state.isAsking, state.since) = (true, .now)
      return true
    }
    guard isFirst else { return }
    queue.async { [self] in turn(ask) }
    keepWatch(glance)
  }

  /// Asks until nobody waits.
  private func turn(_ ask: ([TargetQuestion]) -> [Answer]) {
    while let asked = next() {
      let answers = ask(asked.map(\.question))
      // Those whose patience has ended were told meanwhile.
      let isTold = state.withLock { state in
        defer { state.asked = [] }
        return state.asked.isEmpty
      }
      guard !isTold else { continue }
      for (entry, answer) in zip(asked, answers) { entry.completion(answer) }
    }
  }

  private func next() -> [Entry]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isAsking = false
        return nil
      }
      swap(&state.asked, &state.waiting)
      state.since = .now
      return state.asked
    }
  }

  /// Looks now and then, as long as somebody asks, whether that takes too long.
  private func keepWatch(_ glance: @escaping @Sendable (TargetQuestion) -> Answer) {
    let begins = state.withLock { state in
      defer { state.isWatched = state.isAsking }
      return state.isAsking && !state.isWatched
    }
    guard begins else { return }
    watch.asyncAfter(deadline: .now() + .milliseconds(Limits.patienceWatch)) { [weak self] in
      guard let self else { return }
      for entry in impatient() { entry.completion(glance(entry.question)) }
      keepWatch(glance)
    }
  }

  /// Takes out who is to be answered without the kernel's lock: also who came when the others had been already.
  private func impatient() -> [Entry] {
    state.withLock { state in
      state.isWatched = false
      guard state.isAsking, .now - state.since >= Limits.questionPatience else { return [] }
      defer { (state.asked, state.waiting) = ([], []) }
      return state.asked + state.waiting
    }
  }
}
