package import Foundation
import SQLiteDriver
import ScenarioLanguage
import WorkbenchText

/// What a variant did, regardless of its cost: the values that it read, and the rows that it left
/// in the store.
///
/// Two variants of the same data that do the same work are equal.
package struct VariantWork: Sendable, Equatable {
  /// The hashes of the values that were read, by entity and property.
  var reads: [String: Set<Int>] = [:]
  /// The hashes of the objects that were read or passed on a key path, by entity.
  ///
  /// They count as reached for another variant that only walks them.
  var passed: [String: Set<Int>] = [:]
  /// The number of rows of each table, and the sum of their hashes, which include neither primary
  /// keys nor row versions.
  ///
  /// They include the primary keys to which relationships refer, so the rows of new objects that
  /// refer to each other are equal only if both variants insert these in the same order.
  var rows: [String: Rows] = [:]

  struct Rows: Sendable, Equatable {
    var count = 0
    var sum = 0
  }

  /// Returns the sentences that state what another variant doesn't do, or does differently.
  ///
  /// It may read more.
  func differences(to other: VariantWork) -> [String] {
    let read = reads.sorted { $0.key < $1.key }.compactMap { label, values -> String? in
      let missing = values.subtracting(other.reads[label] ?? [])
        .subtracting(other.passed[label] ?? []).count
      guard missing > 0 else { return nil }
      return "\(label): \(NumberText.counted(missing, of: values.count, "value")) "
        + (missing == 1 ? "is missing" : "are missing")
    }
    let tables = Set(rows.keys).union(other.rows.keys).sorted().compactMap { table -> String? in
      guard rows[table] != other.rows[table] else { return nil }
      let counts = [rows, other.rows].map { $0[table]?.count ?? 0 }
      return counts[0] == counts[1]
        ? "\(table) has different values at the end"
        : "\(table) has \(NumberText.counted(counts[1], "row")) at the end, not "
          + NumberText.grouped(counts[0])
    }
    return read + tables
  }
}

extension VariantWork {
  /// Returns a hash that is only valid in this process.
  package static func hash(_ texts: [String]) -> Int {
    var hasher = Hasher()
    for text in texts { hasher.combine(text) }
    return hasher.finalize()
  }

  /// Reads the rows of a closed store, without modifying it.
  ///
  /// - Parameters:
  ///   - reads: The hashes of the values that were read, by entity and property.
  ///   - passed: The hashes of the objects that were read or passed on a key path, by entity.
  ///   - storeURL: The store.
  /// - Throws: A `SQLiteError` if the store can't be read.
  package init(
    reads: [String: Set<Int>], passed: [String: Set<Int>] = [:], storeURL: URL
  ) throws {
    self.reads = reads
    self.passed = passed
    let connection = try Connection(path: storeURL.path, access: .inspecting)
    defer { connection.close() }
    let tables = try connection.values(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z*' ORDER BY name"
    ).compactMap { row -> String? in
      if case .text(let name) = row[0] { name } else { nil }
    }
    for table in tables where !HousekeepingTables.names.contains(table) {
      let statement = try connection.statement("SELECT * FROM \(SQLSyntax.quoted(table))")
      defer { statement.reset() }
      // Migrations can add the same columns in another order.
      let columns = (0..<statement.columnCount).map {
        (name: statement.columnName($0), index: $0)
      }.filter { !["Z_PK", "Z_OPT"].contains($0.name) }.sorted { $0.name < $1.name }
      var rows = Rows()
      while try statement.step() {
        rows.count += 1
        rows.sum &+= VariantWork.hash(columns.map { "\($0.name)=\(statement.value($0.index))" })
      }
      self.rows[table] = rows
    }
  }
}
