import SQLiteDriver

/// The room that a table or an index takes in the file.
package struct InspectedSpace: Sendable, Equatable, Encodable {
  package var name: String
  /// Bytes of its pages.
  package var bytes: Int
  package var pages: Int
  /// Bytes of its pages that hold nothing.
  package var unused: Int

  /// The room of everything in a file, the largest first; nil where SQLite cannot tell.
  ///
  /// Reads every page. The module `dbstat` may have been left out of the library.
  static func all(on connection: Connection) -> [InspectedSpace]? {
    let rows = try? connection.values(
      "SELECT name, pgsize, pageno, unused FROM dbstat WHERE aggregate = 1 "
        + "ORDER BY pgsize DESC, name")
    return rows?.compactMap { row in
      guard case .text(let name) = row[0], case .integer(let bytes) = row[1],
        case .integer(let pages) = row[2], case .integer(let unused) = row[3]
      else { return nil }
      return InspectedSpace(
        name: name, bytes: Int(clamping: bytes), pages: Int(clamping: pages),
        unused: Int(clamping: unused))
    }
  }
}
