/// A source of name resolutions: the hosts file and name servers in production, a script in tests.
public protocol NameSource: AnyObject, Sendable {
  /// The current resolution of a name; `pending` until there is an answer.
  ///
  /// It must return immediately, must not block and must not call back into the monitor.
  func resolution(of name: String) -> NameResolution

  /// Adds a handler for changed answers; it stays for the lifetime of the source, in addition to earlier ones.
  func onChange(_ body: @escaping @Sendable () -> Void)
}
