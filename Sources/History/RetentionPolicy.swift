/// How long the history is kept: ages are those of the time that the service has run, whatever the wall clock says.
public struct RetentionPolicy: Sendable, Equatable {
  /// The age of events for replay, in seconds.
  public var events: Int64 = 7 * day
  /// The bytes of events for replay.
  public var eventBytes: Int64 = 64 << 20
  /// The bytes of events while a webhook has not delivered them, or a fleet has not stored them: a receiver may be down
  /// for days.
  public var undeliveredEventBytes: Int64 = 256 << 20
  /// The age of transitions in seconds; the last one of each subject before it stays, unless it is a removal.
  public var transitions: Int64 = 400 * day
  /// The age of samples in seconds.
  public var samples: Int64 = 48 * 3600
  /// The age of hourly roll-ups in seconds.
  public var hours: Int64 = 90 * day
  /// The age of daily roll-ups in seconds.
  public var days: Int64 = 800 * day
  /// The bytes of the database; beyond it, the oldest samples, hours, events and transitions go first.
  public var maximumSize: Int64 = 1 << 30

  /// The seconds of a day.
  private static let day: Int64 = 86_400

  /// The default policy.
  public init() {}
}

/// What one transaction of the retention deletes.
public enum RetentionStep: Sendable, Equatable {
  /// Events with a lower number.
  case events(before: Int64)
  /// Transitions with a lower row number that are not the last one of their subject below it, or are its removal.
  case transitions(before: Int64)
  /// Samples of an hour since 1970.
  case samples(hour: Int64)
  /// Hourly roll-ups of an hour.
  case hours(hour: Int64)
  /// Daily roll-ups of a day since 1970.
  case days(day: Int64)
}

/// What the database holds, as far as the retention needs it.
public struct RetentionContents: Sendable, Equatable {
  /// The lowest and the highest number of an event; nil without events.
  public var events: ClosedRange<Int64>?
  /// The mean size of an event in bytes.
  public var meanEventBytes: Int64 = 0
  /// The first event that is not too old.
  public var firstRecentEvent: Int64 = 0
  /// The first event that some webhook has not delivered; nil without webhooks.
  public var firstUndelivered: Int64?
  /// The first event that the fleet does not have, which is kept at any age; nil without a fleet.
  public var firstUnpublished: Int64?
  /// The lowest and the highest row number of a transition that is not examined yet; nil without any.
  public var transitions: ClosedRange<Int64>?
  /// The first transition that is not too old.
  public var firstRecentTransition: Int64 = 0
  /// The hour of `sample` that was written first; nil without rows.
  public var firstSample: SamplePeriod?
  /// The hour of `hour` that was written first; nil without rows.
  public var firstHour: SamplePeriod?
  /// The day of `day` that was written first; nil without rows.
  public var firstDay: SamplePeriod?
  /// The bytes that are in use.
  public var size: Int64 = 0
}

extension RetentionPolicy {
  /// Decides what is to be deleted now.
  ///
  /// - Parameters:
  ///   - contents: what the database holds.
  ///   - time: the time that the service has run, in microseconds.
  /// - Returns: the steps in order; none when everything is within the limits.
  public func steps(_ contents: RetentionContents, at time: Int64) -> [RetentionStep] {
    var steps: [RetentionStep] = []
    if let stored = contents.events {
      // The newest event stays: it has the last number of the epoch.
      func first(within bytes: Int64) -> Int64 {
        let allowed = contents.meanEventBytes == 0 ? .max : bytes / contents.meanEventBytes
        return stored.upperBound - min(max(1, allowed), stored.upperBound) + 1
      }
      var largest = first(within: eventBytes)
      if let undelivered = contents.firstUndelivered {
        largest = min(largest, max(undelivered, first(within: undeliveredEventBytes)))
      }
      largest = max(contents.firstRecentEvent, largest)
      if let unpublished = contents.firstUnpublished {
        largest = min(largest, max(unpublished, first(within: undeliveredEventBytes)))
      }
      let bound = min(stored.upperBound, largest)
      if bound > stored.lowerBound { steps.append(.events(before: bound)) }
    }
    func isOld(_ period: SamplePeriod, _ age: Int64) -> Bool { period.service < time &- age * 1_000_000 }
    if let first = contents.firstSample, isOld(first, samples) { steps.append(.samples(hour: first.number)) }
    if let first = contents.firstHour, isOld(first, hours) { steps.append(.hours(hour: first.number)) }
    if let first = contents.firstDay, isOld(first, days) { steps.append(.days(day: first.number)) }
    if let stored = contents.transitions, contents.firstRecentTransition > stored.lowerBound {
      steps.append(.transitions(before: contents.firstRecentTransition))
    }
    if steps.isEmpty, contents.size > maximumSize, let step = largest(contents) { steps.append(step) }
    return steps
  }

  /// The oldest part of what may go first, when the database is too large.
  private func largest(_ contents: RetentionContents) -> RetentionStep? {
    if let first = contents.firstSample { return .samples(hour: first.number) }
    if let first = contents.firstHour { return .hours(hour: first.number) }
    if let stored = contents.events, stored.lowerBound < stored.upperBound {
      // A damaged file may have any numbers.
      let (bound, overflow) = stored.lowerBound.addingReportingOverflow(Int64(Limits.deletedRows))
      return .events(before: overflow ? stored.upperBound : min(stored.upperBound, bound))
    }
    if let stored = contents.transitions, stored.lowerBound < stored.upperBound {
      return .transitions(before: stored.upperBound)
    }
    return nil
  }
}

/// The keys of the tables `sample`, `hour` and `day`: the hour or day since 1970, then the target.
enum SampleKey {
  /// The bits of the target's number: 16 million targets.
  static let subjectBits: Int64 = 24

  static let highestSubject: Int64 = 1 << subjectBits - 1

  static func key(_ period: Int64, _ subject: Int64) -> Int64 { period << subjectBits | subject }

  /// The first key of a period.
  static func first(of period: Int64) -> Int64 { period << subjectBits }

  static func period(of key: Int64) -> Int64 { key >> subjectBits }

  static func subject(of key: Int64) -> Int64 { key & highestSubject }
}
