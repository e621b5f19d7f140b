public import Foundation

/// Why a ``Reachability`` could not be created or started, with Linux's errno in place of Apple's code.
public enum ReachabilityError: Error {
  /// Never thrown on Linux.
  case failedToCreateWithAddress(sockaddr, Int32)
  /// The text is empty; with `EINVAL`.
  case failedToCreateWithHostname(String, Int32)
  /// The limit of watched targets is reached; with `ENOSPC`.
  case unableToSetCallback(Int32)
  /// Never thrown on Linux.
  case unableToSetDispatchQueue(Int32)
  /// The kernel cannot be read; with its errno.
  case unableToGetFlags(Int32)
}

extension ReachabilityError: LocalizedError {
  /// The failure; for an invalid host also the correction.
  public var errorDescription: String? {
    switch self {
    case .failedToCreateWithAddress(_, let errno): "The address cannot be watched (errno \(errno))."
    case .failedToCreateWithHostname(let text, _): "“\(text)” is not a host: pass a name or an address."
    case .unableToSetCallback(let errno): "Too many targets are watched (errno \(errno))."
    case .unableToSetDispatchQueue(let errno): "The queue cannot be used (errno \(errno))."
    case .unableToGetFlags(let errno): "The kernel cannot be read (errno \(errno))."
    }
  }
}

extension Notification.Name {
  /// Posted by a ``Reachability`` whenever its flags change, and once at each start; the object is the `Reachability`.
  public static let reachabilityChanged = Notification.Name("reachabilityChanged")
}

/// The notification of Apple's sample, posted after `reachabilityChanged`.
public let kReachabilityChangedNotification = "kNetworkReachabilityChangedNotification"
