import Foundation
import OpenCoreData
import WorkbenchText

/// A file to which the shell appends results.
final class ShellOutput {
  /// The path as typed.
  let path: String
  private let file: Int32

  /// Opens a file for appending; creates it if it doesn't exist.
  ///
  /// Databases, the files that SQLite keeps next to them, folders, pipes, and devices are never
  /// opened.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - force: Whether to append to an existing file.
  /// - Throws: An `InvalidInputError`; an `NSError` of the file system.
  init(path: String, force: Bool) throws {
    self.path = path
    if let store = ShellOutput.store(besideWhich: path) {
      throw InvalidInputError(
        kind: .unusable, message: "SQLite would treat \(path) as part of \(store)",
        nextStep: "choose another name")
    }
    let exists = FileKind.mode(of: path, followingLinks: false) != nil
    if exists {
      let mode = FileKind.mode(of: path, followingLinks: true) ?? S_IFLNK
      guard FileKind.isRegular(mode), !OutputMark.isDatabase(path) else {
        throw InvalidInputError(
          kind: .unusable,
          message: "\(path) is "
            + (FileKind.isRegular(mode) ? "a database" : FileKind.words(mode)) + ", not text",
          nextStep: "choose another name")
      }
      guard force else {
        throw InvalidInputError(
          kind: .unusable, message: "\(path) already exists",
          nextStep: "choose another name, or append to the file with `output FILE force`")
      }
    }
    // `O_EXCL` fails if a file was created since the check.
    let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | (exists ? 0 : O_CREAT | O_EXCL)
    file = open(path, flags, 0o666)
    guard file >= 0 else { throw OutputFile.error(errno, path) }
  }

  deinit {
    // Each write has been checked, so an error of `close` can be ignored.
    if file >= 0 { close(file) }
  }

  /// Appends lines.
  ///
  /// - Throws: An `NSError` of the file system, such as for a full disk.
  func add(_ lines: [String]) throws {
    guard !lines.isEmpty else { return }
    let text = lines.map { PrintableText.line($0) + "\n" }.joined()
    if let problem = OutputFile.writeAll(Array(text.utf8), to: file) {
      throw OutputFile.error(problem, path)
    }
  }

  /// Returns the database to which SQLite would assign a file by its name, or nil if there's none.
  ///
  /// Such a file is the database's WAL, shared-memory file, or rollback journal.
  static func store(besideWhich path: String) -> String? {
    for ending in ["-wal", "-shm", "-journal"] where path.hasSuffix(ending) {
      let store = String(path.dropLast(ending.count))
      if OutputMark.isDatabase(store) { return store }
    }
    return nil
  }
}
