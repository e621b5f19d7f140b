internal import Glibc

/// The environment of this process (environ(7)).
public enum ProcessEnvironment {
  /// All variables; of a name that occurs twice the first value counts, as for getenv(3).
  ///
  /// Read it at startup: a concurrent change by another thread is a data race.
  public static var all: [String: String] {
    var all: [String: String] = [:]
    var entry = unsafe environ
    while let line = unsafe entry.pointee {
      let text = unsafe String(cString: line)
      if let equals = text.firstIndex(of: "=") {
        let name = String(text[..<equals])
        if all[name] == nil { all[name] = String(text[text.index(after: equals)...]) }
      }
      unsafe entry += 1
    }
    return all
  }
}
