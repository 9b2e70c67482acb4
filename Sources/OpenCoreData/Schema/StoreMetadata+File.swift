import ManagedModel
import SQLiteDriver

extension StoreMetadata {
  /// Why metadata could not be read.
  enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
    case noTable
    case noRow
    case noUUID
    case damagedPropertyList
    /// A housekeeping table is something else, in words.
    case notATable(String)

    var description: String {
      switch self {
      case .noTable: "The file has no table Z_METADATA, so it is no Core Data store."
      case .noRow: "The table Z_METADATA is empty."
      case .noUUID: "The row in Z_METADATA has no UUID."
      case .damagedPropertyList: "The property list in Z_METADATA cannot be read."
      case .notATable(let reason): "The file isn't a Core Data store: \(reason)."
      }
    }
  }

  /// Reads the metadata.
  ///
  /// Three statements.
  ///
  /// - Throws: `Problem`, or `SQLiteError` when the file cannot be read.
  init(reading connection: Connection, telling teller: OpeningTeller? = nil) throws {
    let probe = "SELECT TBL_NAME FROM SQLITE_MASTER WHERE TBL_NAME = 'Z_METADATA'"
    let tables = try teller.telling(probe) { try connection.values(probe) }
    guard !tables.isEmpty else { throw Problem.noTable }
    if let reason = try HousekeepingTables.problem(on: connection) {
      throw Problem.notATable(reason)
    }
    let content = "SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA"
    let row = try teller.telling(content) { try HousekeepingTables.row(content, on: connection) }
    guard let row, row.count == 3 else { throw Problem.noRow }
    guard case .text(let uuid) = row[1], !uuid.isEmpty else { throw Problem.noUUID }
    guard case .blob(let bytes) = row[2] else {
      self.init(uuid: uuid, values: [:])
      return
    }
    guard let values = PropertyList.read(bytes) as? [String: Any] else {
      throw Problem.damagedPropertyList
    }
    self.init(uuid: uuid, values: values)
  }

  /// Writes the metadata in place of what is there.
  ///
  /// One statement.
  func write(to connection: Connection, telling teller: OpeningTeller? = nil) throws {
    // The identity has a column of its own.
    let list = try PropertyListSerialization.data(
      fromPropertyList: values.filter { $0.key != Self.uuidKey }, format: .binary, options: 0)
    let insert = "INSERT OR REPLACE INTO Z_METADATA(Z_VERSION, Z_UUID, Z_PLIST) VALUES(1, ?, ?)"
    _ = try teller.telling(insert) {
      try connection.values(insert, [.text(uuid), .blob([UInt8](list))])
    }
  }
}
