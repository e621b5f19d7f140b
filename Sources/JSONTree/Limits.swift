/// What a document may cost.
///
/// How long it may be is its reader's business, who knows what it is for.
enum Limits {
  /// Deepest nesting, in collections: the deepest documented body has 4 levels; 32 keeps recursive readers far away from
  /// the end of a thread's stack.
  static let depth = 32
}
