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
/// file: it reports its own commits, and there are no others.
final class StoreWatcher: @unchecked Sendable {  // mutable state is used only on `queue`
  private let queue = DispatchQueue(label: "NSPersistentStoreRemoteChange")
  private let connection: Connection
  /// `nil` for an in-memory store.
  private let source: (any DispatchSourceRead)?
  private let descriptor: Int32
  private let fileName: String
  private weak var store: SQLiteStore?
  private var lastVersion: Int64
  private var checks = 0
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
    guard let url = store.url, let connection = try? Connection(path: url.path, access: .reading)
    else { return nil }
    // SQLite writes the WAL next to the file itself, not next to a link to it.
    let file = url.resolvingSymlinksInPath()
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    let watch = inotify_add_watch(
      descriptor, file.deletingLastPathComponent().path,
      UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO))
    guard descriptor >= 0, watch >= 0 else {
      if descriptor >= 0 { close(descriptor) }
      connection.close()
      return nil
    }
    self.store = store
    self.connection = connection
    self.descriptor = descriptor
    fileName = file.lastPathComponent
    lastVersion = StoreWatcher.version(connection) ?? 0
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
      connection.close()
    }
  }

  private func fileChanged() {
    guard drain() else { return }
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

  /// Reads the kernel's events; returns whether any is about this store.
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
          let name = buffer[(offset + header)..<end].prefix { $0 != 0 }
          if String(decoding: name, as: UTF8.self).hasPrefix(fileName) { isThisStore = true }
          offset += header + length
        }
      }
    }
    return isThisStore
  }

  private func check() {
    guard !isStopped, let version = StoreWatcher.version(connection), version != lastVersion,
      let store
    else { return }
    lastVersion = version
    var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier]
    userInfo[NSPersistentStoreURLKey] = store.url
    // A store without a history has no position to report.
    if let last = try? store.lastTransaction(on: connection) {
      userInfo[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken([store.identifier: last])
    }
    NotificationCenter.default.post(
      name: .NSPersistentStoreRemoteChange, object: store.persistentStoreCoordinator,
      userInfo: userInfo)
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
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`. Several commits may be combined.
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
