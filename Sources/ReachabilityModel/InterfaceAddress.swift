/// An address on an interface (`RTM_NEWADDR`).
public struct InterfaceAddress: Hashable, Sendable {
  /// The index of the interface that owns it.
  public var interfaceIndex: UInt32
  /// The address and the length of its on-link prefix.
  public var prefix: IPPrefix
  /// `IFA_F_*` bits (`linux/if_addr.h`).
  public var flags: Flags

  /// Creates an address from its properties.
  public init(interfaceIndex: UInt32, prefix: IPPrefix, flags: Flags = []) {
    self.interfaceIndex = interfaceIndex
    self.prefix = prefix
    self.flags = flags
  }

  /// The address itself.
  public var address: IPAddress { prefix.address }

  /// Whether the kernel sends from it: not during duplicate address detection or after it failed (RFC 4862 §5.4).
  public var isUsable: Bool {
    !flags.contains(.dadFailed) && (!flags.contains(.tentative) || flags.contains(.optimistic))
  }

  /// The `IFA_F_*` bits that affect verdicts.
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits as the kernel sends them.
    public let rawValue: UInt32
    /// Creates flags from the kernel's bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// `IFA_F_OPTIMISTIC`: may be used before detection ends (RFC 4429).
    public static let optimistic = Flags(rawValue: 0x04)
    /// `IFA_F_DADFAILED`: another machine uses the address.
    public static let dadFailed = Flags(rawValue: 0x08)
    /// `IFA_F_DEPRECATED`: not for new connections unless there is no other address.
    public static let deprecated = Flags(rawValue: 0x20)
    /// `IFA_F_TENTATIVE`: duplicate address detection is running.
    public static let tentative = Flags(rawValue: 0x40)
  }
}
