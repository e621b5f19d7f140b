internal import EventLoop

/// The share of a taken-over stream in the number of its client's connections; it is released with the object.
final class PerAddressSlot: Sendable {
  private let address: String
  private let inbox: ServerInbox

  init(_ address: String, _ inbox: ServerInbox) {
    self.address = address
    self.inbox = inbox
  }

  deinit { inbox.post(.releasedAddressSlot(address)) }
}
