// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Dispatch
import Glibc
import ManagedModel
import SQLiteDriver

/// Watches a store's file and posts `NSPersistentStoreRemoteChange` after any commit to it.
///
/// The kernel reports writes to the WAL (`inotify`); `PRAGMA data_version` of a separate connection
/// detects a commit. The WAL index, which makes a commit visible, is written after the WAL and
/// without a kernel event, so each event is followed by several checks. An in-memory store has no
/// file: it reports its own commits, and there are no others. For a store that was opened
/// read-only, there's no such connection, because it would write to the folder: any write to the
/// files is a change, unless the history shows that it isn't a commit.
final class StoreWatcher: @unchecked Sendable {  // mutable state is used only on `queue`
  private let queue = DispatchQueue(label: "NSPersistentStoreRemoteChange")
  /// `nil` for a store that was opened read-only.
  private let connection: Connection?
  /// `nil` for an in-memory store.
  private let source: (any DispatchSourceRead)?
  private let descriptor: Int32
  private let fileName: String
  private weak var store: SQLiteStore?
  /// The last `data_version`; without a connection, the last transaction of the history.
  private var lastVersion: Int64
  private var checks = 0
  private var isCheckScheduled = false
  private var isStopped = false

  /// The delays in milliseconds after a write at which to check for a commit.
  private static let delays = [0, 5, 25, 100, 500]

  /// Begins to watch; `nil` if the system can't watch files.
  init?(_ store: SQLiteStore) {
    if store.pool.isInMemory {
      guard let connection = try? store.pool.lease() else { return nil }
      self.store = store
      self.connection = connection
      descriptor = -1
      fileName = ""
      lastVersion = StoreWatcher.version(connection) ?? 0
      source = nil
      return
    }
    guard let url = store.url else { return nil }
    var connection: Connection?
    if !store.opensReadOnly {
      connection = try? Connection(path: url.path, access: .reading)
      if connection == nil { return nil }
    }
    // SQLite writes the WAL next to the file itself, not next to a link to it.
    let file = url.resolvingSymlinksInPath()
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    let watch = inotify_add_watch(
      descriptor, file.deletingLastPathComponent().path,
      // A deletion of the rollback journal is a commit.
      UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE))
    guard descriptor >= 0, watch >= 0 else {
      if descriptor >= 0 { close(descriptor) }
      connection?.close()
      return nil
    }
    self.store = store
    self.connection = connection
    self.descriptor = descriptor
    fileName = file.lastPathComponent
    lastVersion =
      connection.map { StoreWatcher.version($0) ?? 0 } ?? StoreWatcher.newestTransaction(of: store)
      ?? 0
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    self.source = source
    source.setCancelHandler { close(descriptor) }
    source.setEventHandler { [weak self] in self?.fileChanged() }
    source.activate()
  }

  /// Checks for the commit that an in-memory store has just made.
  func storeCommitted() {
    queue.async { [weak self] in self?.check() }
  }

  /// Stops watching; nothing is posted afterward.
  func stop() {
    queue.async { [self] in
      isStopped = true
      source?.cancel()
      connection?.close()
    }
  }

  private func fileChanged() {
    guard drain() else { return }
    guard connection != nil else { return scheduleCheck() }
    checks += 1
    let round = checks
    for delay in StoreWatcher.delays {
      queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
        // A newer event has its own checks.
        guard let self, round == checks || delay == 0 else { return }
        check()
      }
    }
  }

  /// Checks once for all writes of the next milliseconds: a commit consists of several.
  private func scheduleCheck() {
    guard !isCheckScheduled else { return }
    isCheckScheduled = true
    queue.asyncAfter(deadline: .now() + .milliseconds(25)) { [weak self] in
      guard let self else { return }
      isCheckScheduled = false
      check()
    }
  }

  /// Reads the kernel's events; returns whether any is about this store, or may have been: the
  /// kernel discards events that don't fit into its queue.
  private func drain() -> Bool {
    var isThisStore = false
    let header = MemoryLayout<inotify_event>.size
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return }
        var offset = 0
        while offset + header <= count {
          // The struct's last field, `len`, is the length of the name that follows it.
          let length = Int(buffer.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
          let end = min(offset + header + length, count)
          let bytes = buffer[(offset + header)..<end].prefix { $0 != 0 }
          let name = String(decoding: bytes, as: UTF8.self)
          // A reader that opens the store writes the WAL index, too.
          let isCounted = connection != nil || !name.hasSuffix("-shm")
          if isCounted, name.hasPrefix(fileName) { isThisStore = true }
          let mask = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
          if mask & UInt32(IN_Q_OVERFLOW) != 0 { isThisStore = true }
          offset += header + length
        }
      }
    }
    return isThisStore
  }

  private func check() {
    guard !isStopped, let store else { return }
    let transaction: Int64?
    if let connection {
      guard let version = StoreWatcher.version(connection), version != lastVersion else { return }
      lastVersion = version
      transaction = try? store.lastTransaction(on: connection)
    } else {
      transaction = StoreWatcher.newestTransaction(of: store)
      if let transaction {
        guard transaction != lastVersion else { return }
        lastVersion = transaction
      }
    }
    var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier]
    userInfo[NSPersistentStoreURLKey] = store.url
    // A store without a history has no position to report.
    if let transaction {
      userInfo[NSPersistentHistoryTokenKey] =
        NSPersistentHistoryToken([store.identifier: transaction])
    }
    NotificationCenter.default.post(
      name: .NSPersistentStoreRemoteChange, object: store.persistentStoreCoordinator,
      userInfo: userInfo)
  }

  /// Returns the last transaction in the history of a store that was opened read-only; `nil` if
  /// it has no history, or can't be read.
  private static func newestTransaction(of store: SQLiteStore) -> Int64? {
    guard let reader = try? store.leaseNewest() else { return nil }
    defer { store.pool.returnToPool(reader) }
    return try? store.lastTransaction(on: reader)
  }

  /// Returns a number that changes with each commit of another connection; `nil` if it can't be
  /// read.
  private static func version(_ connection: Connection) -> Int64? {
    guard case .integer(let version)? = try? connection.values("PRAGMA data_version").first?.first
    else { return nil }
    return version
  }
}

// Core Data's names of the remote change notification, of its keys, and of the history options.

extension Notification.Name {
  /// Posted after a commit to a store by this process or another.
  ///
  /// Posted on the store's own queue with the coordinator as the object, for stores opened with
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`. Several commits may be combined. For
  /// a store without a history that's opened read-only, it's also posted after other writes to the
  /// files, such as a checkpoint.
  public static let NSPersistentStoreRemoteChange = Notification.Name(
    "NSPersistentStoreRemoteChangeNotification")
}

/// Option: true keeps a persistent history in the store.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Option: true posts `NSPersistentStoreRemoteChange` for each commit to the file.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// Key of the store's URL in a remote change notification.
public let NSPersistentStoreURLKey = "storeURL"
/// Key of the history token in a remote change notification.
public let NSPersistentHistoryTokenKey = "historyToken"
