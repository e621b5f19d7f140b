internal import Glibc

/// The environment of this process (environ(7)).
public enum ProcessEnvironment {
  /// Every variable with its value; of a name that is there twice the first counts, as for getenv(3).
  ///
  /// Read it at the start: it is not safe against a change by another thread.
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
