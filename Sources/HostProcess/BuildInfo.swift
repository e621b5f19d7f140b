internal import CBuildInfo

/// The source from which this program was built.
public enum BuildInfo {
  /// The commit, abbreviated and with `-dirty` for uncommitted changes; `unknown` when the build was not given one.
  public static var commit: String { unsafe String(cString: CBuildInfo_commit()) }
}
