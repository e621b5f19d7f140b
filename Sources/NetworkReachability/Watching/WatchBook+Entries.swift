internal import ReachabilityModel

// What the book holds of each target.
extension WatchBook {
  /// One watched target.
  struct Watch {
    let target: ReachabilityTarget
    var subscriptions = 1
    var resolution: NameResolution = .pending
    /// A new answer of the resolver came since the last verdict.
    var hasNewAnswer = false
    var form = Form.own
  }

  /// How a target is judged.
  enum Form: UInt8 {
    /// By the class of its address.
    case single
    /// By the classes of its addresses: a name.
    case several
    /// By questions of its own.
    case own
  }

  /// What targets need that are not ``Form/single``.
  struct Whole {
    var verdict: SettledVerdict<HostVerdict>?
    /// The questions of its own; nil before they are known.
    var queries: [RouteQuery]?
    /// The next reading asks, or judges anew.
    var isTouched = false
  }

  /// What is to be told, in no order; of one watch at most one of all.
  struct Changes {
    /// Whole classes, which become moves of their members when it is told.
    var classMoves: [ClassMove] = []
    var moves: [Move] = []
    var verdicts: [NewVerdict] = []

    /// The moves have the first places, the verdicts those after them.
    func watch(at place: Int) -> Int32 {
      place < moves.count ? moves[place].watch : verdicts[place - moves.count].watch
    }
  }

  /// All members of a uniform class have another path.
  struct ClassMove {
    let pathClass: Int32
    let from: Int32
    let to: Int32
  }

  /// A single target has another path; nothing but numbers, for there may be a hundred thousand at once.
  struct Move {
    let watch: Int32
    /// ``TargetIndex/unknown`` before the first verdict.
    let from: Int32
    let to: Int32
  }

  /// Another target has another verdict.
  struct NewVerdict {
    let watch: Int32
    let from: HostVerdict?
    let to: HostVerdict
  }
}
