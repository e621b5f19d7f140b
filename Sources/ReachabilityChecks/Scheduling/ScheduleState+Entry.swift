internal import ReachabilityModel

extension ScheduleState {
  /// A registered target and where its checks stand.
  struct Entry {
    var report: TargetReport
    /// Why it is in its state, as it was told.
    var told: ToldReason
    /// When the next check is due.
    var due = Duration.zero
    /// The tick of the wheel with which it comes.
    var tick = 0
    var activity = Activity.idle
    /// The way changed while a check was under way: what it finds may be about the old one.
    var isDoubtful = false
    /// How many results in a row were thrown away.
    var repeats = 0
    /// What the kernel says about the way.
    var way = Way.open
    /// The addresses that its name had.
    var addresses: [IPAddress] = []
    /// Since when checks alone have said that the way is missing, while that waits for the settle time.
    var missedSince: Duration?

    /// Whether the next check is to be soon: the state may be about to change, or no word of the kernel will tell that the
    /// way is back.
    var wantsHaste: Bool {
      report.status.isPending || report.status.state == .unreachable && way == .open
    }

    var definition: TargetDefinition { report.definition }
    var host: ReachabilityTarget.Remote { report.definition.target.host.remote }
  }

  /// What the kernel says about the way to a target.
  enum Way {
    /// It is there, or nobody knows.
    case open
    /// No way leads out, and a name that has no address yet cannot be asked for: only a check can tell that it can again.
    case cutOff
    /// It is missing: checks would find nothing else.
    case missing
  }

  enum Activity: Equatable {
    case idle
    case queued(run: Int, due: Duration)
    case running(run: Int, since: Duration)
  }
}
