internal import EventLoop

/// The share of a taken-over stream in the number of its client's connections; it is released with the object.
final class PerAddressConnectionSlot: Sendable {
  private let address: String
  private let inbox: HTTPServerInbox

  init(_ address: String, _ inbox: HTTPServerInbox) {
    self.address = address
    self.inbox = inbox
  }

  deinit { inbox.post(.releasedAddressSlot(address)) }
}
