internal import ReachabilityModel

// What the book holds of each target.
extension WatchBook {
  /// One watched target.
  struct Watch {
    let target: Target
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

  /// A change to be told.
  enum Change {
    /// Of a single target: the numbers of its paths, the old one ``TargetIndex/unknown`` for the first verdict.
    case path(watch: Int32, from: Int32, to: Int32)
    indirect case verdict(watch: Int32, from: HostVerdict?, to: HostVerdict)

    var watch: Int32 {
      switch self {
      case .path(let watch, _, _), .verdict(let watch, _, _): watch
      }
    }
  }
}
