package import History
package import HostProcess
internal import Logging

/// The data directory that the settings and the environment choose, and the store in it.
package struct DataDirectoryChoice: Sendable {
  /// The variable for a directory that is used if that is possible, for a container image, where a volume may be missing.
  static let defaultVariable = "REACHD_DEFAULT_DATA"

  /// The store; nil for memory only.
  package let store: HistoryStore?
  /// Why the directory of the image is not used; nil if it is, and without one.
  let refusal: StoreError?
  private let path: String?
  /// What the store had when it was opened.
  private let summary: RecoverySummary?

  private struct RecoverySummary {
    let isExpected: Bool
    let metadata: Logger.Metadata

    init(_ store: HistoryStore) {
      let recovered = store.recovered
      isExpected = recovered.lastEnd.isExpected
      metadata = [
        "directory": "\(store.configuration.directory)", "epoch": "\(recovered.epoch)",
        "last": "\(recovered.lastSequence)", "end": "\(recovered.lastEnd)", "targets": "\(recovered.targets.count)",
      ]
    }
  }

  /// Memory only.
  package init() {
    store = nil
    refusal = nil
    path = nil
    summary = nil
  }

  /// Opens the store of `data`, else of systemd's `$STATE_DIRECTORY`, else of `$REACHD_DEFAULT_DATA`.
  ///
  /// It blocks, and runs while the process has one thread, as it does at its end. Capabilities are not used: later, when files are opened again,
  /// there are none.
  ///
  /// - Throws: a `StoreError` for a directory that was chosen explicitly and cannot be used.
  package init(
    _ configuration: Configuration, _ environment: [String: String], _ style: LogSettings, _ writer: LogWriter,
    _ manager: ServiceManager
  ) throws(StoreError) {
    let explicit = configuration.data ?? Self.first(of: environment["STATE_DIRECTORY"])
    path = explicit ?? Self.first(of: environment[Self.defaultVariable])
    guard let path else {
      store = nil
      refusal = nil
      summary = nil
      return
    }
    var settings = StoreConfiguration(directory: path, logger: LineLogHandler.logger(style, writer))
    if let runtime = configuration.storeRuntime ?? Self.first(of: environment["RUNTIME_DIRECTORY"]) {
      settings.runtimeDirectory = runtime
    }
    settings.start = StoreStart(reportingTo: manager)
    settings.maximumSize = configuration.storeMaxSize ?? settings.maximumSize
    settings.keep = configuration.storeKeep ?? settings.keep
    let opened = Privileges.withoutEffectiveCapabilities { [settings] in
      Result { () throws(StoreError) in try HistoryStore.open(settings) }
    }
    switch opened {
    case .success(let opened):
      store = opened
      refusal = nil
      summary = RecoverySummary(opened)
    case .failure(let error):
      guard explicit == nil else { throw error }
      store = nil
      refusal = error
      summary = nil
    }
  }

  /// Ends the run of a service that does not begin to serve; otherwise its end would count as a kill.
  func end() {
    guard let store, (try? store.start()) != nil else { return }
    store.close(within: .seconds(1))
  }

  /// systemd separates directories by colons; the first one is ours.
  private static func first(of list: String?) -> String? {
    list?.split(separator: ":").first.map(String.init)
  }

  /// Logs where events and targets are kept.
  func log(to logger: Logger) {
    if let refusal {
      logger.warning("the data directory cannot be used", metadata: ["error": "\(refusal)"])
    }
    if store == nil {
      logger.notice("events and targets are kept in memory only; --data keeps them in a directory")
    }
    if let summary {
      logger.log(level: summary.isExpected ? .notice : .warning, "store", metadata: summary.metadata)
    }
  }
}
