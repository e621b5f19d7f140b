/// Files of certificate authorities, as modules name them.
public enum AuthorityFile {
  /// Why checks could not use a file; nil for one that they can.
  ///
  /// Checks read it when they begin, and again whenever it has changed; whoever reads a configuration asks here first.
  public static func diagnostic(_ path: String) -> String? {
    do throws(TrustStore.Failure) {
      _ = try TrustStore(path)
      return nil
    } catch {
      return error.cause
    }
  }
}
