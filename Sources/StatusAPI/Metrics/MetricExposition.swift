/// One scrape in the text format of Prometheus, version 0.0.4.
public struct MetricExposition: Sendable {
  /// How a family's values move.
  public enum Kind: String, Sendable {
    /// Only up, from zero at the start.
    case counter
    /// Up and down.
    case gauge
    /// Counters of what did not exceed each of some bounds.
    case histogram
    /// A sum and a count, whose quotient is a mean.
    case summary
  }

  /// One series of a family: its labels and its value now.
  public struct Sample: Sendable {
    /// Label names and values, in order.
    public var labels: [(name: String, value: String)]
    /// The value.
    public var value: Double

    /// A series with labels.
    public init(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
      self.labels = labels.map { ($0.key, $0.value) }
      self.value = value
    }
  }

  /// Series of one family, at most: some ten thousand targets are watched or probed, and each costs about 80 bytes.
  public static let sampleLimitPerFamily = 10_000

  /// The page so far.
  public private(set) var bytes: [UInt8] = []
  /// Series that were left out because their family had too many.
  public private(set) var omitted = 0

  /// An empty page.
  public init() { bytes.reserveCapacity(16 * 1024) }

  /// Adds a family: all that there is of a name.
  ///
  /// A family without a series is left out: Prometheus knows what is not there.
  ///
  /// - Parameters:
  ///   - name: `reachd_…`; base units, and `_total` for a counter.
  ///   - kind: how the values move.
  ///   - help: a sentence for whoever sees only the name.
  ///   - samples: the series; those beyond ``sampleLimitPerFamily`` are left out and counted.
  public mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    add(name, kind, help, suffixed: samples.map { ("", $0) })
  }

  /// Adds a family whose series have names of their own behind the family's, as those of a histogram do.
  mutating func add(
    _ name: String, _ kind: Kind, _ help: String, suffixed samples: [(suffix: String, sample: Sample)]
  ) {
    guard !samples.isEmpty else { return }
    bytes += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8
    omitted += max(0, samples.count - Self.sampleLimitPerFamily)
    for (suffix, sample) in samples.prefix(Self.sampleLimitPerFamily) {
      bytes += name.utf8
      bytes += suffix.utf8
      write(sample.labels)
      bytes += " \(Self.text(sample.value))\n".utf8
    }
  }

  /// Adds a family of one series without labels.
  public mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
    add(name, kind, help, [Sample(Double(value))])
  }

  private mutating func write(_ labels: [(name: String, value: String)]) {
    guard !labels.isEmpty else { return }
    for (index, label) in labels.enumerated() {
      bytes.append(UInt8(ascii: index == 0 ? "{" : ","))
      bytes += "\(label.name)=\"".utf8
      for byte in label.value.utf8 {
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

  /// Whole numbers without a fraction: that is what most are, and what people read.
  private static func text(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return String(whole) }
    if value.isNaN { return "NaN" }
    return value.isFinite ? "\(value)" : value < 0 ? "-Inf" : "+Inf"
  }
}

/// Where series come from: asked anew for each scrape.
public struct MetricCollector: Sendable {
  /// Adds its families to a page; from any thread, and without blocking.
  public var write: @Sendable (inout MetricExposition) -> Void

  /// A source.
  public init(_ write: @escaping @Sendable (inout MetricExposition) -> Void) { self.write = write }
}
