import CFailingFiles
import Foundation

/// The changes that an operation makes to the files below a folder, in their order.
struct RecordedFiles {
  /// A call that changed a file or a folder, or that made earlier changes durable.
  enum Change {
    /// A new file at a path, with its inode.
    case create(String, UInt64)
    case write(UInt64, offset: Int, [UInt8])
    case truncate(UInt64, Int)
    /// A file or a folder is synced: its inode, and its path.
    case sync(UInt64, String)
    case rename(String, to: String)
    case link(String, to: String)
    case remove(String)
    case makeFolder(String)
  }

  /// The changes, in their order.
  private(set) var changes: [Change] = []

  /// One recording at a time is possible.
  private static let lock = NSLock()

  /// Records the changes of all threads while a body runs.
  static func record<Value>(
    below folder: URL, _ body: () throws -> Value
  ) throws -> (value: Value, files: RecordedFiles) {
    lock.lock()
    defer { lock.unlock() }
    let path = folder.resolvingSymlinksInPath().path
    precondition(failing_files_record(path) != 0, "the path is too long: \(path)")
    let result = Result { try body() }
    var files = RecordedFiles()
    withUnsafeMutablePointer(to: &files) { files in
      failing_files_end_recording(
        { context, change in
          guard let context, let change else { return }
          context.assumingMemoryBound(to: RecordedFiles.self).pointee.add(change.pointee)
        }, files)
    }
    return (try result.get(), files)
  }

  private mutating func add(_ change: failing_files_change) {
    let path = String(cString: change.path)
    let other = change.other.map { String(cString: $0) } ?? ""
    switch FailingFiles.Kind(rawValue: Int(change.kind)) {
    case .create: changes.append(.create(path, change.file))
    case .write:
      let bytes = [UInt8](UnsafeRawBufferPointer(start: change.bytes, count: change.count))
      changes.append(.write(change.file, offset: Int(change.offset), bytes))
    case .truncate:
      precondition(change.file != 0, "\(path) was truncated by its name")
      changes.append(.truncate(change.file, Int(change.offset)))
    case .sync: changes.append(.sync(change.file, path))
    case .rename: changes.append(.rename(path, to: other))
    case .link: changes.append(.link(path, to: other))
    case .remove: changes.append(.remove(path))
    case .make: changes.append(.makeFolder(path))
    case .attribute: break
    default: preconditionFailure("a call of kind \(change.kind) was recorded for \(path)")
    }
  }
}
