/// Limits on one document.
///
/// The caller limits the length, because it depends on the use.
enum Limits {
  /// The deepest nesting, in collections.
  ///
  /// The deepest documented body has 4 levels. 32 keeps recursive readers within a thread's stack.
  static let depth = 32
}
