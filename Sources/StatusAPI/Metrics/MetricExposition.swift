internal import ReachabilityModel

/// One scrape in the Prometheus text format, version 0.0.4.
public struct MetricExposition: Sendable {
  /// The type of a metric family.
  public enum Kind: String, Sendable {
    /// Only increases, from zero at the start.
    case counter
    /// Increases and decreases.
    case gauge
    /// Cumulative counters by upper bound.
    case histogram
    /// A sum and a count, whose quotient is the mean.
    case summary
  }

  /// One series of a family: its labels and its current value.
  public struct Sample: Sendable {
    /// Label names and values, in order.
    public var labels: [(name: String, value: String)]
    /// The value.
    public var value: Double

    /// Creates a series with labels.
    public init(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
      self.labels = labels.map { ($0.key, $0.value) }
      self.value = value
    }
  }

  /// The maximum number of series per family: targets may number ten thousand, and each series costs about 80 bytes.
  public static let sampleLimitPerFamily = 10_000

  /// The exposition so far.
  public private(set) var bytes: [UInt8] = []
  /// The number of series that were omitted because their family had too many.
  public private(set) var omitted = 0

  /// Creates an empty exposition.
  public init() { bytes.reserveCapacity(16 * 1024) }

  /// Adds a family: all series of one name.
  ///
  /// A family without series is omitted; Prometheus treats it as absent.
  ///
  /// - Parameters:
  ///   - name: `reachd_…`; base units, and `_total` for a counter.
  ///   - kind: the type.
  ///   - help: one sentence that explains the name.
  ///   - samples: the series; those beyond ``sampleLimitPerFamily`` are omitted and counted.
  public mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: some Sequence<Sample>) {
    add(name, kind, help, suffixed: samples.lazy.map { ("", $0) })
  }

  /// Adds a family whose series have a suffix after the family's name, such as those of a histogram.
  mutating func add(
    _ name: String, _ kind: Kind, _ help: String, suffixed samples: some Sequence<(suffix: String, sample: Sample)>
  ) {
    var count = 0
    for (suffix, sample) in samples {
      if count == 0 { bytes += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8 }
      count += 1
      guard count <= Self.sampleLimitPerFamily else {
        omitted += 1
        continue
      }
      bytes += name.utf8
      bytes += suffix.utf8
      write(sample.labels)
      bytes += " \(Self.text(sample.value))\n".utf8
    }
  }

  /// Adds a family of one series without labels.
  public mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
    add(name, kind, help, CollectionOfOne(Sample(Double(value))))
  }

  private mutating func write(_ labels: [(name: String, value: String)]) {
    guard !labels.isEmpty else { return }
    for (index, label) in labels.enumerated() {
      bytes.append(UInt8(ascii: index == 0 ? "{" : ","))
      bytes += "\(label.name)=\"".utf8
      // The name of an interface may have control characters, which a terminal would interpret.
      let lines = label.value.split(separator: "\n", omittingEmptySubsequences: false)
      for byte in lines.map({ String($0).withoutControls }).joined(separator: "\n").utf8 {
        switch byte {
        case UInt8(ascii: "\\"): bytes += "\\\\".utf8
        case UInt8(ascii: "\""): bytes += "\\\"".utf8
        case 0x0a: bytes += "\\n".utf8
        default: bytes.append(byte)
        }
      }
      bytes.append(UInt8(ascii: "\""))
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Returns whole numbers without a fraction: most values are whole, and are easier to read so.
  private static func text(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return String(whole) }
    if value.isNaN { return "NaN" }
    return value.isFinite ? "\(value)" : value < 0 ? "-Inf" : "+Inf"
  }
}

/// A source of metrics, which is called for each scrape.
public struct MetricCollector: Sendable {
  /// Adds the families of this source; callable from any thread, and never blocking.
  public var write: @Sendable (inout MetricExposition) -> Void

  /// Creates a source.
  public init(_ write: @escaping @Sendable (inout MetricExposition) -> Void) { self.write = write }
}
