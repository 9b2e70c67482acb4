import Foundation
import OpenCoreData
import WorkbenchText

/// A file that takes the shell's answers.
final class ShellOutput {
  /// As it was given.
  let path: String
  private let file: Int32

  /// Opens a file to add to its end; creates it if it doesn't exist.
  ///
  /// A database, and a file that SQLite keeps next to one, is never opened; nor is a folder, pipe, or
  /// device.
  /// - Parameter force: whether a file that exists may be added to.
  /// - Throws: `InputRefusal`; the file system's `NSError`.
  init(path: String, force: Bool) throws {
    self.path = path
    if let store = ShellOutput.store(besideWhich: path) {
      throw InputRefusal(
        kind: .unusable, message: "SQLite would take \(path) for a part of \(store)",
        nextStep: "choose another name")
    }
    let exists = FileKind.mode(of: path, followingLinks: false) != nil
    if exists {
      let mode = FileKind.mode(of: path, followingLinks: true) ?? S_IFLNK
      guard FileKind.isRegular(mode), !OutputMark.isDatabase(path) else {
        throw InputRefusal(
          kind: .unusable,
          message: "\(path) is "
            + (FileKind.isRegular(mode) ? "a database" : FileKind.words(mode)) + ", not text",
          nextStep: "choose another name")
      }
      guard force else {
        throw InputRefusal(
          kind: .unusable, message: "there is a file \(path) already",
          nextStep: "choose another name, or add to the file with `output FILE force`")
      }
    }
    // Between the check and now, nothing may have come into its place.
    let flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | (exists ? 0 : O_CREAT | O_EXCL)
    file = open(path, flags, 0o666)
    guard file >= 0 else { throw OutputFile.error(errno, path) }
  }

  deinit {
    // Every write was checked.
    if file >= 0 { close(file) }
  }

  /// Adds lines.
  ///
  /// - Throws: the file system's `NSError`, such as for a full disk.
  func add(_ lines: [String]) throws {
    guard !lines.isEmpty else { return }
    let text = lines.map { PrintableText.line($0) + "\n" }.joined()
    if let problem = OutputFile.writeAll(Array(text.utf8), to: file) {
      throw OutputFile.error(problem, path)
    }
  }

  /// The database next to which SQLite would look for a file of this name; nil if there's none.
  ///
  /// Such a file is its WAL, its index, or its journal.
  static func store(besideWhich path: String) -> String? {
    for ending in ["-wal", "-shm", "-journal"] where path.hasSuffix(ending) {
      let store = String(path.dropLast(ending.count))
      if OutputMark.isDatabase(store) { return store }
    }
    return nil
  }
}
