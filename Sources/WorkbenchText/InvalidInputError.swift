package import Foundation
import ManagedModel
package import SQLiteDriver

/// The reason why a file can't be used.
///
/// The checks that throw this error don't modify any file.
package struct InvalidInputError: Error, Sendable, CustomStringConvertible {
  /// The kind of reason.
  package enum Kind: Sendable {
    /// The file doesn't exist, or there's no permission to read it.
    case missing
    /// The file isn't of the expected kind, or is corrupt.
    case unusable
    /// The file may be fine: there's no space or no permission for a temporary copy.
    case noSpace
  }

  package let kind: Kind
  /// The error message, which names the file, without a period.
  package let message: String
  /// A suggestion of what to do, without a period.
  package let nextStep: String

  /// What to do with a corrupt store.
  static let recovery =
    "recover its rows with `cdprof doctor FILE --repair OUT`, or copy the file again"

  /// The message and the next step on separate lines.
  package var description: String { lines.joined(separator: "\n") }

  /// The message and the next step, each on one line, with line feeds in quoted names escaped.
  private var lines: [String] { [message, nextStep].map(PrintableText.line) }

  /// Checks that a path is that of a readable file, not of a folder.
  ///
  /// - Throws: An `InvalidInputError` if it isn't.
  package static func checkFile(_ path: String) throws(InvalidInputError) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw missing(path, "there's no file \(path)")
    }
    guard !isFolder.boolValue else {
      throw InvalidInputError(
        kind: .missing, message: "\(path) is a folder", nextStep: "use a file in it")
    }
    guard FileManager.default.isReadableFile(atPath: path) else {
      throw InvalidInputError(
        kind: .missing, message: "\(path) can't be read",
        nextStep: "check its permissions")
    }
  }

  /// Returns the error for a path at which no file was found: none exists, or the file system can't
  /// tell, such as because a folder above it can't be searched.
  private static func missing(_ path: String, _ message: String) -> InvalidInputError {
    var status = stat()
    if stat(path, &status) != 0 {
      let code = errno
      if ![ENOENT, ENOTDIR, ENAMETOOLONG].contains(code) { return InputFile.error(path, code) }
    }
    return InvalidInputError(
      kind: .missing, message: message, nextStep: remedy(without: path, "check the path"))
  }

  /// Returns what to do if there's no file at a path.
  ///
  /// Bytes that aren't UTF-8 are replaced in arguments and in the names of a folder's files, so
  /// these files can't be opened.
  private static func remedy(without path: String, _ usual: String) -> String {
    path.unicodeScalars.contains("\u{FFFD}")
      ? "rename the file or folder if its name isn't valid UTF-8" : usual
  }

  /// Checks that a path is that of a readable, regular file, not of a folder, FIFO, socket, or
  /// device.
  ///
  /// - Throws: An `InvalidInputError` if it isn't.
  package static func checkRegularFile(_ path: String) throws(InvalidInputError) {
    try checkFile(path)
    guard isSpecial(path) else { return }
    throw InvalidInputError(StoreFileProblem.notAFile(path: path))
  }

  /// Returns whether a path is that of an item that's neither a regular file nor a folder.
  static func isSpecial(_ path: String) -> Bool {
    if case .notAFile? = StoreFileProblem.ofPath(path) { true } else { false }
  }

  /// Checks that a path is that of a regular file or a folder.
  ///
  /// - Throws: An `InvalidInputError` if it isn't.
  package static func checkExists(_ path: String) throws(InvalidInputError) {
    guard FileManager.default.fileExists(atPath: path) else {
      throw missing(path, "there's no file or folder \(path)")
    }
    if isSpecial(path) { throw InvalidInputError(StoreFileProblem.notAFile(path: path)) }
  }

  /// Checks that a file is a valid Core Data store.
  ///
  /// **Cost:** reads the header, the schema, the names of the tables, and the metadata.
  /// - Throws: An `InvalidInputError` if the file can't be used.
  package static func check(_ url: URL) throws(InvalidInputError) {
    if let problem = StoreFileProblem.examine(path: url.relativePath) {
      throw InvalidInputError(problem)
    }
    let names: Set<String>
    do {
      let connection = try Connection(path: url.relativePath, access: .inspecting)
      defer { connection.close() }
      names = try connection.tableNames()
      try checkHousekeeping(on: connection, path: url.relativePath)
      if names.contains("Z_METADATA") {
        _ = try InspectedMetadata(reading: connection, path: url.relativePath)
      }
    } catch let error as SQLiteError {
      throw InvalidInputError(error, path: url.relativePath)
    } catch let refusal as InvalidInputError {
      throw refusal
    } catch {
      throw InvalidInputError(
        kind: .unusable, message: ErrorText.of(error), nextStep: "copy the complete file again")
    }
    try checkTables(names, path: url.relativePath)
  }

  /// Checks that the tables that contain a store's metadata and model are ordinary tables.
  ///
  /// - Throws: An `InvalidInputError` if the file isn't a Core Data store; a `SQLiteError`.
  package static func checkHousekeeping(on connection: Connection, path: String) throws {
    guard let reason = try HousekeepingTables.problem(on: connection) else { return }
    throw InvalidInputError(
      kind: .unusable, message: "\(path) is a SQLite database but not a Core Data store: \(reason)",
      nextStep: "use the file that NSPersistentContainer wrote, or inspect it with `sqlite3`")
  }

  /// Checks that a file has the tables that every store has.
  ///
  /// - Parameters:
  ///   - names: The names of the file's tables, in uppercase.
  ///   - path: The path of the file, for the error.
  /// - Throws: An `InvalidInputError` if the file isn't a Core Data store.
  package static func checkTables(_ names: Set<String>, path: String) throws(InvalidInputError) {
    guard names.contains("Z_METADATA"), names.contains("Z_PRIMARYKEY") else {
      let missing = names.contains("Z_METADATA") ? "Z_PRIMARYKEY" : "Z_METADATA"
      throw InvalidInputError(
        kind: .unusable,
        message: "\(path) is a SQLite database but not a Core Data store: "
          + "it has no table \(missing)",
        nextStep: names.isDisjoint(with: HousekeepingTables.names)
          ? "use the file that NSPersistentContainer wrote, or inspect it with `sqlite3`"
          : Self.recovery)
    }
  }

  package init(kind: Kind, message: String, nextStep: String) {
    self.kind = kind
    self.message = message
    self.nextStep = nextStep
  }

  /// Creates the error for an error that SQLite returned for a file.
  package init(_ error: SQLiteError, path: String) {
    if error.code.primary == .full {
      self.init(
        kind: .noSpace, message: "\(path) can't be copied: \(error.message)",
        nextStep: "free some space, or set TMPDIR to a folder that has some")
    } else if let problem = StoreFileProblem.of(error, path: path) {
      self.init(problem)
    } else {
      self.init(
        kind: .unusable, message: "\(path) can't be read: \(error.message)",
        nextStep: [.error, .tooBig].contains(error.code.primary)
          ? Self.recovery : "close the program that writes to it, and try again")
    }
  }

  private init(_ problem: StoreFileProblem) {
    switch problem {
    case .missing(let path):
      kind = .missing
      nextStep = Self.remedy(
        without: path, "check the path; an app's store is often under Library/Application Support")
    case .unreadable:
      kind = .missing
      nextStep = "check its permissions, or copy it to a folder that you can read"
    case .directory:
      kind = .missing
      nextStep = "use the file in it that ends in .sqlite, .db, or .moody"
    case .notAFile:
      kind = .missing
      nextStep = "use a regular file"
    case .empty:
      kind = .unusable
      nextStep = "save in the app, and copy the file again with its -wal file"
    case .notADatabase:
      kind = .unusable
      nextStep = "use the .sqlite file itself; decrypt an encrypted one first"
    case .documentStore:
      kind = .unusable
      nextStep = "convert it to SQLite with migratePersistentStore(_:to:type:), and use that file"
    case .truncated:
      kind = .unusable
      nextStep = "copy the complete file again, with its -wal file"
    case .corrupt:
      kind = .unusable
      nextStep = Self.recovery
    }
    message = problem.description
  }
}

extension Connection {
  /// Returns the names of all tables in uppercase; SQLite's table names are case-insensitive.
  package func tableNames() throws(SQLiteError) -> Set<String> {
    let rows = try values("SELECT upper(name) FROM sqlite_master WHERE type = 'table'")
    return Set(
      rows.compactMap { row in
        if case .text(let name)? = row.first { name } else { nil }
      })
  }
}
