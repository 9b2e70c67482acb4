package import Foundation
import OpenCoreData
import SQLiteDriver
package import WorkbenchText

/// What is in a store: entities with their rows, relationships, indexes, who wrote it, sizes.
///
/// Values only; made by `StoreInspector`, printed by `InspectionText` and `InspectionJSON`.
package struct StoreInspection: Sendable {
  /// Where names and types of properties come from.
  package enum ModelSource: String, Sendable {
    /// The model that the store carries.
    case cache
    /// The tables alone: a store keeps property names in capitals, so those are guesses.
    case schema
  }

  package var url: URL
  package var modelSource: ModelSource
  /// Why the store's model could not be used; nil when it was, or when there is none.
  package var modelProblem: String?
  package var uuid: String
  package var writer: InspectedMetadata.Writer
  /// `NSPersistenceFrameworkVersion`, Apple's or the other writer's.
  package var frameworkVersion: Int?
  /// The identifiers of the model that created the store.
  package var modelIdentifiers: [String]
  /// Whether the version hashes are this framework's digests; Apple's formula is not public.
  package var hasOwnDigests: Bool
  /// The root entities and their subentities, depth first, alphabetically.
  package var entities: [InspectedEntity]
  /// Rows that are none of them; nothing counts them, and reading passes them over.
  package var strayRows: [UnmappableRows]
  package var indexes: [InspectedIndex]
  package var files: InspectedFiles
  /// The room of tables and indexes, the largest first; nil if SQLite was built without `dbstat`.
  package var spaces: [InspectedSpace]?
  package var externalFiles: InspectedExternalFiles
  /// Nil for a store that tracks no history.
  package var history: InspectedHistory?
  /// The app's own metadata, values as texts.
  package var metadata: [(key: String, value: String)]
  /// By entity.
  package var digests: [InspectedDigest]

  /// Rows of all entities together.
  package var rowCount: Int { entities.reduce(0) { $0 + $1.ownCount } }
}

/// One attribute of an entity.
package struct InspectedAttribute: Sendable, Equatable {
  package var name: String
  /// As Xcode calls it, `Integer 64`; a column's declared type when only the tables were read.
  package var type: String
  package var isOptional: Bool
  package var isTransient: Bool
  package var isDerived: Bool
}

/// What a store says of the version of one entity, and our digest of that entity.
package struct InspectedDigest: Sendable, Equatable, Encodable {
  package var entity: String
  /// Our digest in hexadecimal digits; nil when the store carries no model that can be read, or a
  /// model without the entity.
  package var digest: String?
  /// The hash in the metadata in hexadecimal digits: Apple's, or ours; nil when there is none.
  package var hash: String?

  /// Both of each entity, by name.
  static func all(_ model: NSManagedObjectModel?, _ hashes: [String: Data]) -> [InspectedDigest] {
    let digests = model?.entityDigestsByName ?? [:]
    return Set(digests.keys).union(hashes.keys).sorted().map { name in
      InspectedDigest(
        entity: name, digest: digests[name].map(hexadecimal), hash: hashes[name].map(hexadecimal))
    }
  }

  private static func hexadecimal(_ data: Data) -> String {
    data.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}

/// One entity of a store.
package struct InspectedEntity: Sendable, Equatable {
  package var name: String
  /// 0 for a root.
  package var depth: Int
  /// Rows, those of subentities included.
  package var count: Int
  /// Rows of this very entity.
  package var ownCount: Int
  /// False also when only the tables were read.
  package var isAbstract: Bool
  package var superentity: String?
  /// The direct ones.
  package var subentities: [String]
  /// The table its rows are in, which is its root's; nil when the file has none.
  package var table: String?
  package var className: String?
  /// Its own, without the inherited ones, alphabetically.
  package var attributes: [InspectedAttribute]
  /// Its own, without the inherited ones, alphabetically.
  package var relationships: [InspectedRelationship]
}

/// The externally stored values of a store.
package struct InspectedExternalFiles: Sendable, Equatable, Encodable {
  package var count: Int
  package var bytes: Int

  /// Reads the store's external data folder, which need not exist.
  init(of store: URL) {
    let files = ExternalStorage(storeURL: store).files()
    count = files.count
    bytes = files.values.reduce(0) { $0.addingReportingOverflow($1).partialValue }
  }
}

/// How large a store is.
package struct InspectedFiles: Sendable, Equatable {
  /// How the file was read so that no file next to it changed.
  package enum Reading: String, Sendable {
    case file
    case writeAheadLog
    case privateCopy
  }

  /// Bytes of the database file.
  package var bytes: Int64
  /// Bytes of the `-wal` file; nil when there is none.
  package var logBytes: Int64?
  /// Pages in the log, those that a later frame replaces counted too; nil when there is none.
  package var logFrames: Int?
  /// Bytes of a page.
  package var pageSize: Int
  /// Pages, those of the log included.
  package var pages: Int
  /// Pages that hold nothing.
  package var freePages: Int
  package var reading: Reading
}

/// How much persistent history a store keeps.
package struct InspectedHistory: Sendable, Equatable, Encodable {
  package var transactions: Int
  package var changes: Int
  /// Seconds since 2001-01-01 UTC of the first and the last transaction; nil without any.
  package var first: Double?
  package var last: Double?

  /// Nil for a store that tracks no history.
  ///
  /// Two statements.
  init?(reading connection: Connection, tables: some Collection<String>) throws {
    let names = Set(tables.map { $0.uppercased() })
    guard names.contains("ACHANGE"), names.contains("ATRANSACTION") else { return nil }
    changes = Self.integer(try connection.values("SELECT COUNT(*) FROM ACHANGE").first?[0])
    let row = try connection.values(
      "SELECT COUNT(*), MIN(ZTIMESTAMP), MAX(ZTIMESTAMP) FROM ATRANSACTION"
    ).first
    transactions = Self.integer(row?[0])
    first = Self.seconds(row?[1])
    last = Self.seconds(row?[2])
  }

  private static func integer(_ value: SQLiteValue?) -> Int {
    if case .integer(let number)? = value { Int(clamping: number) } else { 0 }
  }

  private static func seconds(_ value: SQLiteValue?) -> Double? {
    switch value {
    case .real(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }
}

/// One index of a store's file.
package struct InspectedIndex: Sendable, Equatable {
  package var name: String
  package var table: String
  /// In the order of the index; an expression is shown as `(expression)`.
  package var columns: [String]
  package var isUnique: Bool
  /// Whether it contains only some of the rows.
  package var isPartial: Bool
}

/// One relationship of an entity.
package struct InspectedRelationship: Sendable, Equatable {
  package var name: String
  /// Nil when only the tables were read.
  package var destination: String?
  package var inverse: String?
  package var isToMany: Bool
  package var isOrdered: Bool
  package var isOptional: Bool
  /// How many destinations it has; nil if that's unknown.
  package var spread: InspectedSpread?
  /// As Xcode calls it: `Nullify`.
  package var deleteRule: String?
}

/// The room that a table or an index takes in the file.
package struct InspectedSpace: Sendable, Equatable, Encodable {
  package var name: String
  /// Bytes of its pages.
  package var bytes: Int
  package var pages: Int
  /// Bytes of its pages that hold nothing.
  package var unused: Int

  /// The room of everything in a file, the largest first; nil if SQLite was built without `dbstat`.
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

/// How many destinations a relationship has, over all its owners.
package struct InspectedSpread: Sendable, Equatable, Encodable {
  /// Objects that have the relationship, those of subentities included.
  package var owners: Int
  /// Owners that it leads from to nothing.
  package var empty: Int
  /// Destinations of all owners together.
  package var links: Int
  /// Destinations of the owner with the most.
  package var most: Int

  /// Destinations per owner on average; 0 without owners.
  package var mean: Double {
    owners == 0 ? 0 : Double(links) / Double(owners)
  }
}

/// Rows of a table that no object can be of: of an unknown entity, or with a key below 1.
package struct UnmappableRows: Encodable, Sendable {
  package let table: String
  package let count: Int
  /// `Z_PK` of some of them.
  package let keys: [Int64]

  private static let most = 5

  /// Looks through the table of each root entity; two SELECTs for a table that has some, else one.
  static func all(
    of mapping: SQLModel, on connection: Connection
  ) throws(SQLiteError) -> [UnmappableRows] {
    var found: [UnmappableRows] = []
    for root in mapping.entities where root.superentity == nil {
      let rows =
        "FROM \(SQLNames.quoted(root.table)) "
        + "WHERE Z_PK < 1 OR Z_ENT IS NULL OR Z_ENT NOT IN \(root.numberList)"
      guard case .integer(let count)? = try connection.values("SELECT COUNT(*) \(rows)").first?[0],
        count > 0
      else { continue }
      let keys = try connection.values("SELECT Z_PK \(rows) ORDER BY Z_PK LIMIT \(most)")
      found.append(
        UnmappableRows(
          table: root.table, count: Int(clamping: count),
          keys: keys.compactMap { if case .integer(let key) = $0[0] { key } else { nil } }))
    }
    return found
  }

  /// What is wrong, on one line.
  package var line: String {
    let others = count > keys.count ? " …" : ""
    return
      "\(NumberText.counted(count, "row")) of \(table) \(PluralForm.of(count, "is", "are")) of an unknown "
      + "entity or \(PluralForm.of(count, "has", "have")) a key below 1: Z_PK "
      + keys.map { "\($0)" }.joined(separator: ", ") + others
  }
}
