import ManagedModel
import SQLiteDriver

/// Core Data's names for tables, columns, and indexes.
package enum SQLNames {
  static let primaryKey = "Z_PK"
  static let entity = "Z_ENT"
  static let version = "Z_OPT"
  /// The columns that every table of entities has.
  static let rowColumns: Set = [primaryKey, entity, version]
  package static let primaryKeyTable = HousekeepingTables.entities
  /// The maximum number of rows of `Z_PRIMARYKEY`: entity IDs are below 16,000, and history has
  /// some above.
  package static let largestEntityList = 16_384
  package static let metadataTable = HousekeepingTables.metadata
  package static let modelCacheTable = HousekeepingTables.modelCache

  /// Returns the table of a root entity, or the column of a property: `ZMOOD`, `ZUPDATEDAT`; for an
  /// element of a composite attribute `ZADDRESS_CITY`.
  static func plain(_ name: String) -> String {
    "Z" + spelled(name)
  }

  /// Returns a name in uppercase; the periods of a path become underscores.
  private static func spelled(_ name: String) -> String {
    let capitals = name.uppercased()
    guard capitals.utf8.contains(UInt8(ascii: ".")) else { return capitals }
    return String(capitals.map { $0 == "." ? "_" : $0 })
  }

  /// Returns the column with the concrete entity of a to-one's destination: `Z3_OWNER`.
  static func concreteEntity(_ number: Int, _ name: String) -> String {
    "Z\(number)_" + name.uppercased()
  }

  /// Returns the column with the order key in an ordered one-to-many: `Z_FOK_OWNER`.
  static func order(_ name: String) -> String {
    "Z_FOK_" + name.uppercased()
  }

  /// Returns the column for a to-many without an inverse: `Z2ITEMS`, in the destination's table.
  static func hiddenInverse(_ number: Int, _ name: String) -> String {
    "Z\(number)" + name.uppercased()
  }

  /// Returns a join table, or a join table's column: `Z_1TAGS`.
  static func join(_ number: Int, _ name: String) -> String {
    "Z_\(number)" + name.uppercased()
  }

  /// Returns the column with the order key in an ordered many-to-many, from the join column:
  /// `Z_FOK_2TAGS`.
  static func joinOrder(_ joinColumn: String) -> String {
    "Z_FOK_" + joinColumn.dropFirst(2)
  }

  /// Returns a name with ASCII letters in lowercase, the only ones whose case SQLite ignores.
  static func folded(_ name: String) -> String {
    String(
      decoding: name.utf8.map {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
      },
      as: UTF8.self)
  }

  /// Claims and returns a name, or the first unused numbered one.
  static func take(_ name: String, from taken: inout Set<String>) -> String {
    let free = free(name) { taken.contains($0) }
    taken.insert(free)
    return free
  }

  /// Returns a name, or, if it's used, the first unused of `NAME1`, `NAME2` ….
  static func free(_ name: String, unless isTaken: (String) -> Bool) -> String {
    var free = name
    var suffix = 1
    while isTaken(free) {
      free = "\(name)\(suffix)"
      suffix += 1
    }
    return free
  }

  /// Returns a string as an SQL literal, where no parameter is allowed.
  package static func literal(_ text: String) -> String {
    "'" + text.replacingScalars(["'": "''"]) + "'"
  }

  /// Returns a name in SQL: quoted if it isn't a plain identifier.
  package static func quoted(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF) || byte >= 0x80
    }
    return isPlain ? name : "\"" + name.replacingScalars(["\"": "\"\""]) + "\""
  }
}

/// Assigns the columns of one table, each only once.
///
/// Without a file, the name follows the rule: the plain name, then with suffix 1, 2 …. With a file,
/// it's the existing column.
struct ColumnClaims {
  private let file: FileSchema.Table?
  /// The columns of every table belong to no property.
  private var taken: Set = [SQLNames.primaryKey, SQLNames.entity, SQLNames.version]

  /// Names that a property has without a suffix: `ZITEM1` isn't a second `ZITEM` then.
  private let reserved: Set<String>

  init(file: FileSchema.Table?, reserved: Set<String>) {
    self.file = file
    self.reserved = reserved
  }

  /// Claims a column.
  ///
  /// - Parameters:
  ///   - bases: The names to look for, best first.
  ///   - declaration: The type the column should have. Decides between columns of one name.
  /// - Returns: The column's name; `nil` if the file has none.
  mutating func claim(_ bases: [String], declaration: String) -> String? {
    for base in bases {
      guard let name = file.map({ find(base, declaration, in: $0) }) ?? invent(base) else {
        continue
      }
      taken.insert(name.uppercased())
      return name
    }
    return nil
  }

  private func invent(_ base: String) -> String? {
    guard taken.contains(base) else { return base }
    return SQLNames.free(base) { taken.contains($0) || reserved.contains($0) }
  }

  private func find(_ base: String, _ declaration: String, in table: FileSchema.Table) -> String? {
    let candidates = table.columns
      .compactMap { column -> (suffix: Int, column: FileSchema.Column)? in
        let name = column.name.uppercased()
        guard name.hasPrefix(base), !taken.contains(name) else { return nil }
        let rest = name.dropFirst(base.count)
        if rest.isEmpty { return (0, column) }
        guard !reserved.contains(name), let suffix = Int(rest), suffix > 0 else { return nil }
        return (suffix, column)
      }
      .sorted { $0.suffix < $1.suffix }
    let match = candidates.first { $0.column.type == declaration } ?? candidates.first
    return match?.column.name
  }
}
