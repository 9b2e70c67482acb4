import SQLiteDriver

/// A file that is read whole and replaced whole.
struct AtomicStoreFile {
  let url: URL
  let form: AtomicStoreForm

  var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

  /// Reads the file, once.
  ///
  /// - Throws: 134080 with a sentence when it cannot be read or is no store of its form.
  func read() throws -> (document: StoreDocument, stamp: FileStamp?) {
    // The stamp comes first: who writes in between is noticed by the next save.
    let stamp = FileStamp(path: url.path)
    if let stamp, stamp.size == 0 { throw StoreDocument.Problem("it is empty.").error(at: url) }
    if stamp == nil, let problem = StoreFileProblem.ofPath(url.path) {
      throw NSError.unusableStore(problem, url)
    }
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw StoreDocument.Problem(FileErrorText.of(error)).error(at: url)
    }
    do {
      return (try form.document(data), stamp)
    } catch {
      throw error.error(at: url)
    }
  }

  /// Writes a document that its store begins with, or that somebody outside of it wrote.
  ///
  /// - Throws: 134080 when it cannot be written.
  func create(_ document: StoreDocument) throws -> FileStamp? {
    do {
      return try replace(by: document)
    } catch {
      throw NSError.coreData(
        NSPersistentStoreOpenError,
        "The store \(url.path) cannot be written: \(FileErrorText.of(error))",
        [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error as NSError])
    }
  }

  /// Replaces the file: whatever happens meanwhile, it is the old one or the new one, whole.
  ///
  /// The bytes are on the disk before the new file takes the place of the old one.
  /// - Parameter beforeCommit: Called when nothing but taking the place is left.
  /// - Throws: the file system's errors and those of `beforeCommit`; the old file is there then.
  func replace(
    by document: StoreDocument, beforeCommit: () throws -> Void = {}
  ) throws -> FileStamp? {
    try refuseSpecialFile()
    let data = try form.data(document)
    let folder = url.deletingLastPathComponent()
    let new = folder.appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
    do {
      try write(data, to: new)
      try beforeCommit()
      guard rename(new.path, url.path) == 0 else {
        throw posixError(url)
      }
    } catch {
      try? FileManager.default.removeItem(at: new)
      throw error
    }
    settle(folder)
    return FileStamp(path: url.path)
  }

  /// Removes the file; one that is not there is removed already.
  ///
  /// - Throws: the file system's errors.
  func remove() throws {
    if exists { try FileManager.default.removeItem(at: url) }
  }

  /// Refuses to replace a folder, a device, or another file that holds no bytes of its own.
  private func refuseSpecialFile() throws {
    let type = try? FileManager.default.attributesOfItem(atPath: url.path)[.type]
    let isReplaceable = [FileAttributeType.typeRegular, .typeSymbolicLink]
      .contains(type as? FileAttributeType ?? .typeRegular)
    guard !isReplaceable else { return }
    throw NSError.coreData(
      NSPersistentStoreSaveError,
      "\(url.path) isn't a regular file, so it can't be replaced by a store.",
      [NSFilePathErrorKey: url.path])
  }

  /// Writes a new file down to the disk; who could not read the old one reads none of its bytes.
  private func write(_ data: Data, to new: URL) throws {
    let old = try exists ? FileManager.default.attributesOfItem(atPath: url.path) : [:]
    let permissions = (old[.posixPermissions] as? NSNumber).map { mode_t($0.uint32Value) }
    let descriptor = open(new.path, O_WRONLY | O_CREAT | O_EXCL, permissions ?? 0o666)
    guard descriptor >= 0 else { throw posixError(new) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    if let permissions, fchmod(descriptor, permissions) != 0 { throw posixError(new) }
    try handle.write(contentsOf: data)
    try handle.synchronize()
    try handle.close()
  }

  private func posixError(_ url: URL) -> NSError {
    NSError(
      domain: NSPOSIXErrorDomain, code: Int(errno), userInfo: [NSFilePathErrorKey: url.path])
  }

  /// Brings the new name to the disk; where a folder cannot be synchronised, the system does it later.
  private func settle(_ folder: URL) {
    let descriptor = open(folder.path, O_RDONLY)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}
