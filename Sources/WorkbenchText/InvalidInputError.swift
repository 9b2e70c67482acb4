package import Foundation
import OpenCoreData
package import SQLiteDriver

/// Why a file that was named cannot be used, found out without changing a byte.
package struct InvalidInputError: Error, Sendable, CustomStringConvertible {
  /// What kind of reason it is.
  package enum Kind: Sendable {
    /// There's no such file, or the system does not let us read it.
    case missing
    /// It is there and isn't a store, or a damaged one.
    case unusable
    /// The file may be fine: there's no space or no permission for a temporary copy.
    case noSpace
  }

  package let kind: Kind
  /// What is wrong with which file, in a sentence without a full stop.
  package let message: String
  /// What to do now, in a sentence without a full stop.
  package let nextStep: String

  /// Message and next step, one below the other.
  package var description: String { lines.joined(separator: "\n") }

  /// Message and next step, each on one line whatever names they quote.
  private var lines: [String] { [message, nextStep].map(PrintableText.line) }

  /// Looks whether there is a file that can be read.
  ///
  /// - Parameter path: as it was given.
  /// - Throws: why there is none.
  package static func checkFile(_ path: String) throws(InvalidInputError) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw InvalidInputError(
        kind: .missing, message: "there's no file \(path)", nextStep: "check the path")
    }
    guard !isFolder.boolValue else {
      throw InvalidInputError(
        kind: .missing, message: "\(path) is a folder", nextStep: "give a file inside of it")
    }
    guard FileManager.default.isReadableFile(atPath: path) else {
      throw InvalidInputError(
        kind: .missing, message: "\(path) cannot be read",
        nextStep: "ask for permission to read it")
    }
  }

  /// Checks that there's a regular file that can be read: no folder, FIFO, socket, or device.
  ///
  /// - Parameter path: as it was given.
  /// - Throws: why there is none.
  package static func checkRegularFile(_ path: String) throws(InvalidInputError) {
    try checkFile(path)
    guard isSpecial(path) else { return }
    throw InvalidInputError(StoreFileProblem.notAFile(path: path))
  }

  /// Whether there's something at a path that's neither a regular file nor a folder.
  static func isSpecial(_ path: String) -> Bool {
    if case .notAFile? = StoreFileProblem.ofPath(path) { true } else { false }
  }

  /// Looks whether there is a file or a folder, for input that may be either.
  ///
  /// - Parameter path: as it was given.
  /// - Throws: why there is none.
  package static func checkExists(_ path: String) throws(InvalidInputError) {
    guard FileManager.default.fileExists(atPath: path) else {
      throw InvalidInputError(
        kind: .missing, message: "there's no file or folder \(path)", nextStep: "check the path")
    }
    if isSpecial(path) { throw InvalidInputError(StoreFileProblem.notAFile(path: path)) }
  }

  /// Looks at a file that is to be a store.
  ///
  /// Cost: reads its header, its schema, the names of its tables, and what it says of itself.
  /// - Throws: why it cannot be used.
  package static func check(_ url: URL) throws(InvalidInputError) {
    if let problem = StoreFileProblem.examine(path: url.relativePath) {
      throw InvalidInputError(problem)
    }
    let names: Set<String>
    do {
      let connection = try Connection(path: url.relativePath, access: .looking)
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
        kind: .unusable, message: ErrorText.of(error), nextStep: "copy the file again, whole")
    }
    try checkTables(names, path: url.relativePath)
  }

  /// Checks that the tables in which a store keeps its metadata and model are ordinary ones.
  ///
  /// - Throws: that the file isn't a Core Data store; `SQLiteError`.
  package static func checkHousekeeping(on connection: Connection, path: String) throws {
    guard let reason = try HousekeepingTables.problem(on: connection) else { return }
    throw InvalidInputError(
      kind: .unusable, message: "\(path) is a SQLite database but not a Core Data store: \(reason)",
      nextStep: "use the file that NSPersistentContainer wrote, or inspect it with `sqlite3`")
  }

  /// Holds the names of a file's tables, in upper case, against those that every store has.
  ///
  /// - Throws: that the file isn't a Core Data store.
  package static func checkTables(_ names: Set<String>, path: String) throws(InvalidInputError) {
    guard names.contains("Z_METADATA"), names.contains("Z_PRIMARYKEY") else {
      let missing = names.contains("Z_METADATA") ? "Z_PRIMARYKEY" : "Z_METADATA"
      throw InvalidInputError(
        kind: .unusable,
        message: "\(path) is a SQLite database but no Core Data store: "
          + "it has no table \(missing)",
        nextStep: "give the file that NSPersistentContainer wrote, or look with `sqlite3`")
    }
  }

  package init(kind: Kind, message: String, nextStep: String) {
    self.kind = kind
    self.message = message
    self.nextStep = nextStep
  }

  /// An error that SQLite gave for the file.
  package init(_ error: SQLiteError, path: String) {
    if error.code.primary == .full {
      self.init(
        kind: .noSpace, message: "\(path) can't be copied: \(error.message)",
        nextStep: "free some space, or set TMPDIR to a folder that has some")
    } else if let problem = StoreFileProblem.of(error, path: path) {
      self.init(problem)
    } else {
      self.init(
        kind: .unusable, message: "\(path) cannot be read: \(error.message)",
        nextStep: "close the program that writes to it, and try again")
    }
  }

  private init(_ problem: StoreFileProblem) {
    switch problem {
    case .missing:
      kind = .missing
      nextStep = "check the path; an app's store is often under Library/Application Support"
    case .unreadable:
      kind = .missing
      nextStep = "ask for permission to read it, or copy it to where you may"
    case .directory:
      kind = .missing
      nextStep = "give the file inside of it that ends in .sqlite, .db or .moody"
    case .notAFile:
      kind = .missing
      nextStep = "use a regular file"
    case .empty:
      kind = .unusable
      nextStep = "let the app save once, and copy the file again, with its -wal file"
    case .notADatabase:
      kind = .unusable
      nextStep = "give the .sqlite file itself; an encrypted one has to be decrypted first"
    case .documentStore:
      kind = .unusable
      nextStep = "have an app move it with migratePersistentStore(_:to:type:), and give that file"
    case .truncated:
      kind = .unusable
      nextStep = "copy it again, whole, with its -wal file"
    case .corrupt:
      kind = .unusable
      nextStep = "copy it again, or save what is left with `sqlite3 FILE .recover`"
    }
    message = problem.description
  }
}

extension Connection {
  /// The names of all tables, in upper case: SQLite compares names without case.
  package func tableNames() throws(SQLiteError) -> Set<String> {
    let rows = try values("SELECT upper(name) FROM sqlite_master WHERE type = 'table'")
    return Set(
      rows.compactMap { row in
        if case .text(let name)? = row.first { name } else { nil }
      })
  }
}
