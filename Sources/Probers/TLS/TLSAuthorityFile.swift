/// Files of certificate authorities, as modules name them.
public enum TLSAuthorityFile {
  /// The reason why checks could not use a file; nil for a usable file.
  ///
  /// Checks read the file when they start, and again after it has changed; configuration code calls this function
  /// first.
  public static func diagnostic(_ path: String) -> String? {
    do throws(TLSTrustStore.Failure) {
      _ = try TLSTrustStore(path)
      return nil
    } catch {
      return error.cause
    }
  }
}
