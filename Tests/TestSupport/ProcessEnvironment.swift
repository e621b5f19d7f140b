internal import Glibc

/// What the environment says about how much a test does.
public enum ProcessEnvironment {
  /// The number that a variable holds; nil when it is not set or holds none.
  public static func number(_ name: String) -> Int? {
    unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
  }
}
