/// An address on an interface (`RTM_NEWADDR`).
public struct InterfaceAddress: Hashable, Sendable {
  /// The index of the interface that owns it.
  public var interfaceIndex: UInt32
  /// The address and the length of its on-link prefix.
  public var prefix: IPPrefix
  /// `IFA_F_*` bits (`linux/if_addr.h`).
  public var flags: Flags

  /// An address from its facts.
  public init(interfaceIndex: UInt32, prefix: IPPrefix, flags: Flags = []) {
    self.interfaceIndex = interfaceIndex
    self.prefix = prefix
    self.flags = flags
  }

  /// The address itself.
  public var address: IPAddress { prefix.address }

  /// False while duplicate address detection runs or after it failed (RFC 4862 §5.4): the kernel sends nothing from it.
  public var isUsable: Bool {
    !flags.contains(.dadFailed) && (!flags.contains(.tentative) || flags.contains(.optimistic))
  }

  /// The `IFA_F_*` bits that decide something here.
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits as the kernel sends them.
    public let rawValue: UInt32
    /// Flags from the kernel's bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// `IFA_F_OPTIMISTIC`: may be used before detection ends (RFC 4429).
    public static let optimistic = Flags(rawValue: 0x04)
    /// `IFA_F_DADFAILED`: another machine has it.
    public static let dadFailed = Flags(rawValue: 0x08)
    /// `IFA_F_DEPRECATED`: not for new connections, though usable when nothing else is there.
    public static let deprecated = Flags(rawValue: 0x20)
    /// `IFA_F_TENTATIVE`: duplicate address detection runs.
    public static let tentative = Flags(rawValue: 0x40)
  }
}
