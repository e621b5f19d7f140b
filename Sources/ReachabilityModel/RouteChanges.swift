/// The routes that may differ from those of the previous reading.
package struct RouteChanges: Sendable, Equatable {
  /// A block whose routes changed, and the table.
  package struct Block: Hashable, Sendable {
    /// The block, with the host bits cleared.
    package var prefix: IPPrefix
    /// The routing table of the route; 0 when there is none, as for the block of a policy rule.
    package var table: UInt32

    package init(_ prefix: IPPrefix, table: UInt32) {
      self.prefix = prefix
      self.table = table
    }
  }

  /// The blocks whose routes were added, removed or changed.
  package var blocks: Set<Block>
  /// Whether any route may differ: at first, after lost events, and after changes that the kernel does not announce.
  package var isAny: Bool
  /// The blocks of all routes and rules; nil when they were not listed.
  package var allBlocks: Set<Block>?

  /// Whether no route may differ.
  package var isEmpty: Bool { blocks.isEmpty && !isAny }

  /// Creates changes; by default none.
  package init(blocks: Set<Block> = [], isAny: Bool = false, allBlocks: Set<Block>? = nil) {
    self.blocks = blocks
    self.isAny = isAny
    self.allBlocks = allBlocks
  }
}

/// The state that a source has read before the route lookups; the observer chooses its lookups by it.
package struct KernelSurvey: Sendable {
  /// Interfaces and addresses of this reading.
  package var tables: KernelTables
  /// The routes that may differ from those of the previous reading.
  package var changes: RouteChanges
  /// When it was made, on CLOCK_MONOTONIC.
  package var uptime: Duration
  /// Whether this is an audit: everything is read again without an event, to find changes that were not announced.
  package var isAudit: Bool
  /// Whether an earlier list of blocks may be incomplete: after lost events, and in an audit.
  package var isAfterLoss: Bool

  /// Creates a survey; by default one after which everything is looked up.
  package init(
    tables: KernelTables, changes: RouteChanges = RouteChanges(isAny: true), uptime: Duration, isAudit: Bool = false,
    isAfterLoss: Bool = false
  ) {
    self.tables = tables
    self.changes = changes
    self.uptime = uptime
    self.isAudit = isAudit
    self.isAfterLoss = isAfterLoss
  }
}
