internal import Glibc

/// The name that this machine goes by (uname(2)).
public enum HostName {
  /// The name, such as `web-3`; empty where the system does not say.
  public static var current: String {
    var names = utsname()
    guard unsafe uname(&names) == 0 else { return "" }
    return unsafe withUnsafeBytes(of: &names.nodename) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
