/// What a start does with the database, by what earlier starts have left behind.
///
/// Each step removes one more possible cause of their end, so that the service starts at the fifth attempt at the latest,
/// which is the number of starts in ten seconds that systemd permits by default.
enum StoreStartPlan: Hashable {
  case open
  /// Set the database aside, and begin a new one with the rows that another process can read of it, or with none.
  case replace(isSalvaging: Bool)
  /// Open no database: starts with a new database ended, too.
  case withoutDatabase

  /// The number to record once the rows that were read are in use: a start that ends from then on did not end by reading.
  static let afterSalvage = 4

  /// Decides by a number.
  ///
  /// - Parameter unfinished: the starts in a row before this one that did not end their marker, and
  ///   ``afterSalvage`` or more from a start on that has set the database aside.
  init(unfinished: Int) {
    self =
      switch unfinished {
      // One end may be a power failure or a SIGKILL.
      case ..<2: .open
      // A second time, if it ended before the rows were read.
      case ..<Self.afterSalvage: .replace(isSalvaging: true)
      case Self.afterSalvage: .replace(isSalvaging: false)
      default: .withoutDatabase
      }
  }
}
