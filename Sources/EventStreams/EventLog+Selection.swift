extension EventLog {
  /// The entries that a reader selects.
  public struct Selection: Sendable, Hashable {
    /// The entry kinds, one bit each.
    public var kinds: UInt64
    /// The topics, ascending; nil for any topic.
    public let topics: [UInt64]?
    /// The sources, ascending; nil for any source.
    public let sources: [UInt64]?
    /// The groups, ascending; nil for any group.
    public let groups: [UInt64]?

    /// Selects entries of the given kinds that concern one of the given topics, sources and groups.
    ///
    /// An entry with the label 0 concerns each of them; nil selects any label.
    public init(
      kinds: UInt64 = .max, topics: [UInt64]? = nil, sources: [UInt64]? = nil, groups: [UInt64]? = nil
    ) {
      self.kinds = kinds
      self.topics = topics?.sorted()
      self.sources = sources?.sorted()
      self.groups = groups?.sorted()
    }

    /// Whether the selection includes an entry of a kind with some labels.
    package func wants(kind: UInt8, _ labels: Labels) -> Bool {
      kinds & (1 << UInt64(kind)) != 0 && Self.includes(topics, labels.topic)
        && Self.includes(sources, labels.source) && Self.includes(groups, labels.group)
    }

    private static func includes(_ selected: [UInt64]?, _ label: UInt64) -> Bool {
      guard label != 0, let selected else { return true }
      var low = 0
      var high = selected.count
      while low < high {
        let middle = (low + high) / 2
        if selected[middle] < label { low = middle + 1 } else { high = middle }
      }
      return low < selected.count && selected[low] == label
    }
  }
}
