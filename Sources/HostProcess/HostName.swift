internal import Glibc

/// The host name of this machine (uname(2)).
public enum HostName {
  /// The name, such as `web-3`; empty when uname(2) fails.
  public static var current: String {
    var names = utsname()
    guard unsafe uname(&names) == 0 else { return "" }
    return unsafe withUnsafeBytes(of: &names.nodename) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
