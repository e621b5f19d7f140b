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
  /// What must happen before a database is opened, if none is open.
  let reopening: StoreReopening
  let clock: EventClock

  init(_ configuration: StoreConfiguration) throws(StoreError) {
    files = StoreFiles(directory: try Self.lock(configuration), configuration: configuration)
    page = Self.page(files)
    recovery = StoreRecovery(files: files, page: page, boot: BootID.current, time: .now)
    let start = configuration.start
    let plan = start?.begin(in: files.directory, configuration.logger) ?? .open
    let watch = start?.watch()
    defer { watch?.end() }
    do throws(StoreError) {
      let opened = try Self.open(files, recovery, plan)
      (state, commits, mark) = (opened.state, opened.commits, opened.mark)
      (clock, reopening) = (opened.clock, opened.reopening)
    } catch {
      // The settings are wrong, and not the database.
      start?.end(configuration.logger)
      throw error
    }
  }

  /// What is known after an attempt to open the database.
  private struct Opened {
    var state: RecoveredStoreState
    var commits: GroupCommitWriter?
    var mark: StoreRunMark?
    var clock: EventClock
    var reopening: StoreReopening
  }

  private static func open(
    _ files: StoreFiles, _ recovery: StoreRecovery, _ plan: StoreStartPlan
  ) throws(StoreError) -> Opened {
    var aside: StoreSetAside?
    switch plan {
    case .open: break
    case .replace(let isSalvaging): aside = StoreSetAside(.unfinishedStarts(isSalvaging: isSalvaging))
    case .withoutDatabase:
      return detached("several starts in a row ended while the database was opened; it is not opened", files, .never)
    }
    var damage: String?
    var salvaged = SalvagedRows()
    while true {
      if var pending = aside {
        do throws(StoreSetAside.Failure) {
          if let rows = try pending.perform(files) { (damage, salvaged) = (pending.reason, rows) }
          aside = nil
        } catch {
          // The service starts without it, and tries again.
          return detached("\(error)", files, .setAside(pending))
        }
      }
      do throws(StoreError) {
        return try begin(files, recovery, damage, salvaged)
      } catch {
        // A second attempt follows a damaged file that was set aside.
        guard case .database(let failure) = error, failure.isDamage, damage == nil else {
          return try detached(error, files)
        }
        files.configuration.start?.beginOpening()
        aside = StoreSetAside(.damage("\(failure)"))
      }
    }
  }

  private static func begin(
    _ files: StoreFiles, _ recovery: StoreRecovery, _ damage: String?, _ salvaged: SalvagedRows
  ) throws(StoreError) -> Opened {
    let connection = try files.open()
    files.configuration.start?.beginRestoring()
    do throws(DatabaseError) {
      let (state, mark) = try recovery.begin(connection, damage: damage, salvaged: salvaged)
      let commits = GroupCommitWriter(connection, epoch: state.epoch, run: state.run)
      return Opened(state: state, commits: commits, mark: mark, clock: clock(connection, state), reopening: .open)
    } catch {
      throw .database(error)
    }
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
    if let name = DataDirectory.networkFileSystem(at: directory.path) {
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
  private static func detached(_ error: StoreError, _ files: StoreFiles) throws(StoreError) -> Opened {
    switch error {
    case .unavailable: break
    // A file system that was used before and is read-only now has failed.
    case .database(let failure) where failure.isDenied && !files.directory.isReadOnly:
      throw .directory(path: files.directory.path, reason: "\(failure)")
    case .database: break
    case .directory, .inUse, .newerSchema, .busy, .closed: throw error
    }
    return detached("\(error)", files, .open)
  }

  /// A store without a database: events are published, and wait for one.
  private static func detached(_ reason: String, _ files: StoreFiles, _ reopening: StoreReopening) -> Opened {
    files.configuration.logger.error("the store cannot be opened", metadata: ["error": "\(reason)"])
    files.configuration.start?.beginRestoring()
    let state = RecoveredStoreState(epoch: HistoryEpoch.random(), lastEnd: .unreadable(reason))
    return Opened(state: state, clock: clock(nil, state), reopening: reopening)
  }
}
