import ManagedModel
import SQLiteDriver
import Synchronization

/// The document of an XML or binary store: read as a whole when the store is added, written as a
/// whole by each save.
///
/// Its rows are those of a `MemoryStore`: fetches and faults run no statements and read nothing
/// from the file. Apple counterpart: the stores of type `NSXMLStoreType` and `NSBinaryStoreType`.
final class AtomicStoreDocument: Sendable {
  private let form: AtomicStoreForm
  private let known: Mutex<State>

  /// The last known state of the file.
  private struct State {
    let url: URL
    let stamp: FileStamp?
  }

  /// Opens the store in a file, or creates the file.
  ///
  /// - Throws: 259 if the file isn't such a store, 260 if it's to be opened read-only and doesn't
  ///   exist, 134080 if it can't be read or created; 134100 if it was created with another model,
  ///   134020 if its objects don't fit the model.
  static func open(
    _ form: AtomicStoreForm, at url: URL, model: NSManagedObjectModel, configuration: String?,
    storeIndex: Int, options: [AnyHashable: Any]?
  ) throws -> MemoryStore {
    let file = AtomicStoreFile(url: url, form: form)
    let isReadOnly = options.isSet(NSReadOnlyPersistentStoreOption)
    let layouts = MemoryStore.layouts(
      of: model, configuration: configuration, storeIndex: storeIndex)
    guard file.exists || isReadOnly else {
      let metadata = StoreMetadata(
        newStoreOf: model, configuration: configuration, type: form.storeType)
      let document = StoreDocument(uuid: metadata.uuid, metadata: metadata.values, lastKey: 0)
      let tables = MemoryTables(rootCount: layouts.rootCount)
      return store(
        document, form, tables, layouts, at: url, stamp: try file.create(document),
        configuration: configuration, options: options)
    }
    if !isReadOnly { InterruptedMigrationFiles(of: url).removeFromDocument() }
    let (document, stamp) = try file.read()
    let metadata = StoreMetadata(uuid: document.uuid, values: document.metadata)
    // A document contains no model: if hashes can't be compared, its objects are checked.
    let ignores = options.isSet(NSIgnorePersistentStoreVersioningOption)
    if !ignores { try metadata.check(model, configuration, at: url) { nil } }
    let tables: MemoryTables
    do {
      tables = try document.tables(layouts)
    } catch {
      throw NSError.coreData(
        NSPersistentStoreIncompatibleSchemaError, "\(url.relativePath): \(error.message)",
        [NSFilePathErrorKey: url.path])
    }
    let opened = store(
      document, form, tables, layouts, at: url, stamp: stamp, configuration: configuration,
      options: options)
    let hashes = model.versionHashes(of: configuration)
    if ignores, !isReadOnly, metadata.hasOwnDigests, metadata.hashes != hashes {
      opened.updateVersionHashes(hashes)
    }
    return opened
  }

  private static func store(
    _ document: StoreDocument, _ form: AtomicStoreForm, _ tables: MemoryTables,
    _ layouts: StoreLayouts, at url: URL, stamp: FileStamp?, configuration: String?,
    options: [AnyHashable: Any]?
  ) -> MemoryStore {
    MemoryStore(
      layouts: layouts, type: form.storeType, url: url, identifier: document.uuid,
      configuration: configuration, options: options,
      metadata: StoreMetadata(uuid: document.uuid, values: document.metadata).publicValues,
      tables: tables, lastKeys: [document.lastKey],
      document: AtomicStoreDocument(form, known: State(url: url, stamp: stamp)))
  }

  private init(_ form: AtomicStoreForm, known: State) {
    self.form = form
    self.known = Mutex(known)
  }

  /// Replaces the file with the store's new tables; re-creates one that was removed.
  ///
  /// - Throws: 134030 if the file was changed elsewhere since it was read: those changes would be
  ///   lost. The file system's errors.
  func write(
    _ tables: MemoryTables, of store: MemoryStore, lastKey: Int64,
    beforeCommit: () throws -> Void
  ) throws {
    guard let url = store.url else { return }
    let file = AtomicStoreFile(url: url, form: form)
    try checkUnchanged(url, of: store)
    let stamp = try store.savingMetadata {
      let values = store.metadata.filter { $0.key != StoreMetadata.uuidKey }
      let document = StoreDocument(
        uuid: store.identifier, metadata: values, lastKey: lastKey, tables: tables)
      return try file.replace(by: document) {
        try beforeCommit()
        // Writing a large document takes a while.
        try checkUnchanged(url, of: store)
      } unsynced: { stamp in
        // The next save replaces the file that is there.
        known.withLock { $0 = State(url: url, stamp: stamp) }
      }
    }
    known.withLock { $0 = State(url: url, stamp: stamp) }
  }

  /// - Throws: 134030 if the file was changed elsewhere since it was read or written.
  private func checkUnchanged(_ url: URL, of store: MemoryStore) throws {
    let state = known.withLock { $0 }
    guard state.url == url, let stamp = FileStamp(path: url.path), stamp != state.stamp else {
      return
    }
    throw NSError.coreData(
      NSPersistentStoreSaveError,
      "\(url.relativePath) isn't the file that was read: it was modified by another process. "
        + "The store wasn't saved. Add it again.",
      [NSAffectedStoresErrorKey: [store], NSFilePathErrorKey: url.path])
  }
}

/// A file that is read and replaced as a whole.
struct AtomicStoreFile {
  let url: URL
  let form: AtomicStoreForm

  var exists: Bool { FileStamp.exists(path: url.path, followsLinks: true) }

  /// Reads the file once.
  ///
  /// - Throws: 259 with a message if it isn't a store of its form, 260 if it doesn't exist, 134080
  ///   if it can't be read.
  func read() throws -> (document: StoreDocument, stamp: FileStamp?) {
    // The stamp comes first: the next save detects a write in between.
    let stamp = FileStamp(path: url.path)
    if let stamp, stamp.size == 0 { throw StoreDocument.Problem("it's empty.").error(at: url) }
    if stamp == nil, let problem = StoreFileProblem.ofPath(url.path) {
      throw NSError.unusableStore(problem, url)
    }
    if let stamp, stamp.size > StoreLimits.documentSize {
      throw StoreDocument.Problem("it's too large; the limit is \(StoreLimits.documentSize) bytes.")
        .error(at: url, code: NSPersistentStoreOpenError)
    }
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw StoreDocument.Problem(FileErrorText.of(error))
        .error(at: url, code: NSPersistentStoreOpenError)
    }
    do {
      return (try form.document(data), stamp)
    } catch {
      throw error.error(at: url)
    }
  }

  /// Writes a new store's document, or one changed outside of a store.
  ///
  /// - Throws: 134080 if it can't be written.
  func create(_ document: StoreDocument) throws -> FileStamp {
    do {
      return try replace(by: document)
    } catch {
      throw NSError.coreData(
        NSPersistentStoreOpenError,
        "The store \(url.relativePath) can't be written: \(FileErrorText.of(error))",
        [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error as NSError])
    }
  }

  /// Replaces the file atomically: after a failure, it's the complete old one or the complete new
  /// one.
  ///
  /// The bytes are synced to disk before the new file replaces the old one. New files that
  /// interrupted replacements couldn't remove are removed first. If the file is a symbolic link,
  /// its target is replaced.
  /// - Parameters:
  ///   - beforeCommit: Called when only the replacement is left.
  ///   - unsynced: Called with the stamp of the file that is there after the new name couldn't be
  ///     synced to disk.
  /// - Throws: The file system's errors and those of `beforeCommit`; the old file is kept then. If
  ///   the new name can't be synced to disk, the old file is written again; if that fails, too,
  ///   `isOfUnsyncedFile` is true.
  func replace(
    by document: StoreDocument, beforeCommit: () throws -> Void = {},
    unsynced: (FileStamp?) -> Void = { _ in }
  ) throws -> FileStamp {
    if let target = try linkTarget() {
      return try AtomicStoreFile(url: target, form: form)
        .replace(by: document, beforeCommit: beforeCommit, unsynced: unsynced)
    }
    try refuseSpecialFile()
    let data = try form.data(document)
    let folder = url.deletingLastPathComponent()
    removeAbandonedFiles(in: folder)
    let new = folder.appendingPathComponent(newPrefix + UUID().uuidString)
    // The old file can be read through its descriptor after its name is replaced.
    let old = open(url.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    let isNew = old < 0 && errno == ENOENT
    defer { if old >= 0 { close(old) } }
    let stamp: FileStamp
    let problem: FileProblem?
    do {
      let descriptor = try write(data, to: new)
      // The lock on the new file ends when it's closed.
      defer { close(descriptor) }
      // Another process can replace the file as soon as it's renamed, which doesn't change this.
      guard let written = FileStamp(path: new.path) else { throw notWritten(EIO) }
      stamp = written
      try beforeCommit()
      problem = try FileDescriptors.changingName(in: folder.path) {
        guard rename(new.path, url.path) == 0 else { throw notWritten(errno) }
      }
    } catch {
      unlink(new.path)
      if let cause = error as? FileProblem { throw notWritten(cause.number) }
      throw error
    }
    guard let problem else { return stamp }
    let isRestored = restore(old, isNew: isNew, replacing: stamp)
    unsynced(isRestored ? FileStamp(path: url.path) : stamp)
    throw isRestored ? notWritten(problem.number) : NSError.unsynced(url, problem)
  }

  /// Writes the old file again after its replacement, or removes the new one if there was none.
  ///
  /// - Parameters:
  ///   - old: The descriptor of the old file; negative if it couldn't be opened.
  ///   - stamp: The stamp of the new file.
  /// - Returns: Whether the old file is there. It may be the new one after a power loss.
  private func restore(_ old: Int32, isNew: Bool, replacing stamp: FileStamp) -> Bool {
    // Another process can have replaced it in the meantime.
    guard FileStamp(path: url.path) == stamp else { return false }
    guard old >= 0 else { return isNew && unlink(url.path) == 0 }
    let copy = url.deletingLastPathComponent()
      .appendingPathComponent(newPrefix + UUID().uuidString)
    do {
      let file = try write(Data(), to: copy)
      defer { close(file) }
      try FileDescriptors.copyBytes(from: old, to: file)
      guard fsync(file) == 0, rename(copy.path, url.path) == 0 else { throw FileProblem(errno) }
      return true
    } catch {
      unlink(copy.path)
      return false
    }
  }

  /// Removes the file; ignores one that doesn't exist.
  ///
  /// - Throws: The file system's errors.
  func remove() throws {
    guard exists else { return }
    let unsynced: FileProblem?
    do {
      unsynced = try FileDescriptors.changingName(in: url.deletingLastPathComponent().path) {
        guard unlink(url.path) == 0 || errno == ENOENT else { throw FileProblem(errno) }
      }
    } catch let problem as FileProblem {
      throw NSError.file(url.path, "removed", problem.number)
    }
    if let unsynced { throw NSError.unsynced(url, unsynced, deed: "removed") }
  }

  /// Returns the target of a symbolic link; `nil` if the file isn't a link, or its target doesn't
  /// exist.
  private func linkTarget() throws -> URL? {
    var info = stat()
    guard lstat(url.path, &info) == 0 else {
      guard errno == ENOENT else { throw notWritten(errno) }
      return nil
    }
    guard info.st_mode & S_IFMT == S_IFLNK else { return nil }
    guard let path = realpath(url.path, nil) else {
      // A link without a target is replaced.
      guard [ENOENT, ELOOP].contains(errno) else { throw notWritten(errno) }
      return nil
    }
    defer { free(path) }
    return URL(fileURLWithPath: String(cString: path), isDirectory: false)
  }

  /// Rejects replacing a folder, a device, or another file without contents of its own.
  private func refuseSpecialFile() throws {
    let type = try? FileManager.default.attributesOfItem(atPath: url.path)[.type]
    let isReplaceable = [FileAttributeType.typeRegular, .typeSymbolicLink]
      .contains(type as? FileAttributeType ?? .typeRegular)
    guard !isReplaceable else { return }
    throw NSError.coreData(
      NSPersistentStoreSaveError,
      "\(url.relativePath) isn't a regular file, so it can't be replaced by a store.",
      [NSFilePathErrorKey: url.path])
  }

  /// How the names of new files begin that are to replace the file.
  private var newPrefix: String { ".\(url.lastPathComponent)." }

  /// Writes a new file and syncs it to disk, with the old one's access permissions.
  ///
  /// - Returns: The descriptor of the file, which is locked until the caller closes it.
  private func write(_ data: Data, to new: URL) throws -> Int32 {
    var old = stat()
    let isThere = stat(url.path, &old) == 0
    // A link without a target is replaced.
    guard isThere || [ENOENT, ELOOP].contains(errno) else { throw notWritten(errno) }
    let permissions = isThere ? old.st_mode & 0o7777 : nil
    let descriptor = open(
      new.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions ?? 0o666)
    guard descriptor >= 0 else { throw notWritten(errno) }
    do throws(FileProblem) {
      guard flock(descriptor, LOCK_EX) == 0, permissions.map({ fchmod(descriptor, $0) }) ?? 0 == 0
      else { throw FileProblem(errno) }
      try FileDescriptors.append(data, to: descriptor)
      return descriptor
    } catch {
      close(descriptor)
      throw notWritten(error.number)
    }
  }

  /// Removes new files that no process is writing.
  private func removeAbandonedFiles(in folder: URL) {
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    for name in names ?? []
    where name.hasPrefix(newPrefix)
      && UUID(uuidString: String(name.dropFirst(newPrefix.count))) != nil
    {
      let path = folder.appendingPathComponent(name).path
      let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard file >= 0 else { continue }
      if flock(file, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
      close(file)
    }
  }

  private func notWritten(_ number: Int32) -> NSError {
    NSError.file(url.path, "written", number)
  }
}

/// The form in which a document is written.
enum AtomicStoreForm {
  case xml
  case binary

  /// Creates the form of a type of store; `nil` for other types.
  init?(_ type: NSPersistentStore.StoreType) {
    switch type {
    case .xml: self = .xml
    case .binary: self = .binary
    default: return nil
    }
  }

  /// Core Data's name of the type of store.
  var storeType: String {
    switch self {
    case .xml: NSXMLStoreType
    case .binary: NSBinaryStoreType
    }
  }

  /// - Throws: The errors of writing the metadata as a property list.
  func data(_ document: StoreDocument) throws -> Data {
    switch self {
    case .xml: try document.xml()
    case .binary: try document.propertyList()
    }
  }

  /// - Throws: The position of the first error; also for a document whose primary keys are
  ///   exhausted.
  func document(_ data: Data) throws(StoreDocument.Problem) -> StoreDocument {
    let document =
      switch self {
      case .xml: try StoreDocumentParser.parse(data)
      case .binary: try StoreDocument(propertyList: data)
      }
    guard document.lastKey < Int64.max / 2 else {
      throw StoreDocument.Problem(
        "its largest key, \(document.lastKey), leaves no keys for new objects.")
    }
    return document
  }
}
