public import Foundation

/// Why a ``Reachability`` could not be made or started, with Linux's errno where the original has Apple's code.
public enum ReachabilityError: Error {
  /// Never thrown on Linux: there is no address that could not be watched.
  case failedToCreateWithAddress(sockaddr, Int32)
  /// The text is no host name, for instance a URL; with `EINVAL`.
  case failedToCreateWithHostname(String, Int32)
  /// Too many targets are watched; with `ENOSPC`.
  case unableToSetCallback(Int32)
  /// Never thrown on Linux: every queue will do.
  case unableToSetDispatchQueue(Int32)
  /// The kernel refuses to be asked; with its errno.
  case unableToGetFlags(Int32)
}

extension ReachabilityError: LocalizedError {
  /// What was refused, and what to do about it where there is something.
  public var errorDescription: String? {
    switch self {
    case .failedToCreateWithAddress(_, let errno): "The address cannot be watched (errno \(errno))."
    case .failedToCreateWithHostname(let text, _):
      "“\(text)” is no host: give a name or an address alone, without scheme, port or path."
    case .unableToSetCallback(let errno): "Too many targets are watched (errno \(errno))."
    case .unableToSetDispatchQueue(let errno): "The queue cannot be used (errno \(errno))."
    case .unableToGetFlags(let errno): "The kernel cannot be asked about the network (errno \(errno))."
    }
  }
}

extension Notification.Name {
  /// Posted by a ``Reachability`` whenever its flags change, and once at each start; the object is the `Reachability`.
  public static let reachabilityChanged = Notification.Name("reachabilityChanged")
}

/// The notification of Apple's sample, posted after `reachabilityChanged`.
public let kReachabilityChangedNotification = "kNetworkReachabilityChangedNotification"
