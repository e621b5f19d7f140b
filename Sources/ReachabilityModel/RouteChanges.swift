/// Which routes may differ from those of the reading before.
public struct RouteChanges: Sendable, Equatable {
  /// A block whose routes changed, and in which table.
  public struct Block: Hashable, Sendable {
    /// The block, without the bits of an address in it.
    public var prefix: IPPrefix
    /// The routing table of the route; 0 when it is none's, as for the block of a policy rule.
    public var table: UInt32

    /// A block of a table.
    public init(_ prefix: IPPrefix, table: UInt32) {
      self.prefix = prefix
      self.table = table
    }
  }

  /// The blocks whose routes came, went or changed.
  public var blocks: Set<Block>
  /// Any route may differ: at first, after lost events, and after changes that the kernel carries out without telling.
  public var isAny: Bool
  /// The blocks of all routes and rules that there are; nil when they were not listed.
  public var allBlocks: Set<Block>?

  /// Changes; none when nothing is said.
  public init(blocks: Set<Block> = [], isAny: Bool = false, allBlocks: Set<Block>? = nil) {
    self.blocks = blocks
    self.isAny = isAny
    self.allBlocks = allBlocks
  }
}

/// What a source knows before it asks for routes: the basis of the observer's questions.
public struct KernelSurvey: Sendable {
  /// Interfaces and addresses as they were just read.
  public var tables: KernelTables
  /// Which routes may differ from those of the reading before.
  public var changes: RouteChanges
  /// When this is: CLOCK_MONOTONIC since its own zero.
  public var uptime: Duration
  /// Nothing was announced since the last reading and everything is read afresh: what differs, no event has told of.
  public var isAudit: Bool

  /// A survey; by default one after which everything is asked.
  public init(
    tables: KernelTables, changes: RouteChanges = RouteChanges(isAny: true), uptime: Duration, isAudit: Bool = false
  ) {
    self.tables = tables
    self.changes = changes
    self.uptime = uptime
    self.isAudit = isAudit
  }
}
