/// What names resolve to, in place of the hosts file and the name servers: a script in tests.
public protocol NameSource: AnyObject, Sendable {
  /// What a name resolves to now; `pending` as long as nobody answers.
  ///
  /// It must answer at once, must not block and must not call back into the monitor.
  func resolution(of name: String) -> NameResolution

  /// Says what to call whenever an answer may be another; it stays as long as the source, besides those given before.
  func onChange(_ body: @escaping @Sendable () -> Void)
}
