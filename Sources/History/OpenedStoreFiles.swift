internal import Database
internal import HostProcess
internal import Logging

/// The files of a store after its start, before its threads.
struct OpenedStoreFiles {
  let files: StoreFiles
  let page: WriterRunPage?
  let recovery: StoreRecovery
  /// The connection that writes; nil while the disk is not available.
  let commits: GroupCommitWriter?
  /// The run of this process; nil while there is no connection.
  let mark: StoreRunMark?
  let state: RecoveredStoreState
  let clock: EventClock

  init(_ configuration: StoreConfiguration) throws(StoreError) {
    files = StoreFiles(directory: try Self.lock(configuration), configuration: configuration)
    page = Self.page(files)
    let recovery = StoreRecovery(files: files, page: page, boot: BootID.current, time: .now)
    self.recovery = recovery
    var damage: String?
    var salvaged = SalvagedRows()
    // The second attempt follows a damaged file that was set aside.
    for _ in 0..<2 {
      do throws(StoreError) {
        let connection = try files.open()
        let begun = Result { () throws(DatabaseError) in
          try recovery.begin(connection, damage: damage, salvaged: salvaged)
        }
        switch begun {
        case .success(let begun):
          (state, mark) = begun
          clock = Self.clock(connection, state)
          commits = GroupCommitWriter(connection, epoch: state.epoch, run: state.run)
          return
        case .failure(let error): throw .database(error)
        }
      } catch {
        guard case .database(let failure) = error, failure.isDamage, damage == nil else {
          state = try Self.detached(error, files)
          commits = nil
          mark = nil
          clock = Self.clock(nil, state)
          return
        }
        damage = "\(failure)"
        salvaged = try Self.setAside(files, failure)
      }
    }
    state = RecoveredStoreState(epoch: HistoryEpoch.random(), lastEnd: .unreadable(damage ?? ""))
    commits = nil
    mark = nil
    clock = Self.clock(nil, state)
  }

  private static func clock(_ connection: DatabaseConnection?, _ state: RecoveredStoreState) -> EventClock {
    let now = StoreTime.now
    // Without them, events count as published now.
    let stretches = connection.flatMap { try? ClockStretch.newest(since: .min, now: now, in: $0) }
    return EventClock(stretches ?? [], next: state.lastSequence + 1, now: now)
  }

  private static func lock(_ configuration: StoreConfiguration) throws(StoreError) -> DataDirectory {
    let path = configuration.directory
    let directory: DataDirectory?
    do throws(DatabaseFileError) {
      directory = try DataDirectory(locking: path)
    } catch {
      throw .directory(path: path, reason: "\(error)")
    }
    guard let directory else { throw .inUse(path: path) }
    if let name = DataDirectory.networkFileSystem(at: path) {
      throw .directory(path: path, reason: "the file system is \(name); the store needs a local one")
    }
    return directory
  }

  private static func page(_ files: StoreFiles) -> WriterRunPage? {
    guard let path = files.pagePath else { return nil }
    do throws(DatabaseFileError) {
      return try WriterRunPage(path)
    } catch {
      files.configuration.logger.warning(
        "ids begin again after a kill: the runtime directory cannot be used", metadata: ["error": "\(error)"])
      return nil
    }
  }

  /// Decides whether an error of the start is one of the disk, which may end, or one of the settings.
  private static func detached(_ error: StoreError, _ files: StoreFiles) throws(StoreError) -> RecoveredStoreState {
    switch error {
    case .unavailable: break
    case .database(let failure) where failure.isDenied:
      throw .directory(path: files.directory.path, reason: "\(failure)")
    case .database: break
    case .directory, .inUse, .newerSchema, .busy, .closed: throw error
    }
    files.configuration.logger.error("the store cannot be opened", metadata: ["error": "\(error)"])
    return RecoveredStoreState(epoch: HistoryEpoch.random(), lastEnd: .unreadable("\(error)"))
  }

  private static func setAside(_ files: StoreFiles, _ failure: DatabaseError) throws(StoreError) -> SalvagedRows {
    do throws(DatabaseFileError) {
      let name = try files.setAside(.now)
      let rows = files.salvage(from: name)
      files.configuration.logger.error(
        "the database is damaged and was set aside",
        metadata: ["error": "\(failure)", "as": "\(name)", "targets": "\(rows.targets.count)"])
      return rows
    } catch {
      throw .directory(path: files.directory.path, reason: "\(error)")
    }
  }
}
