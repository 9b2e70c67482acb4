package import Foundation
import OpenCoreData
import SQLiteDriver
package import WorkbenchText

/// A description of a store: its entities with their rows, relationships, indexes, writer, and
/// sizes.
///
/// `StoreInspector` creates an inspection, and `InspectionText` and `InspectionJSON` print it.
package struct StoreInspection: Sendable {
  /// The source of the names and types of properties.
  package enum ModelSource: String, Sendable {
    /// The model that the store contains.
    case cache
    /// Only the tables; property names are inferred because column names are uppercase.
    case schema
  }

  package var url: URL
  package var modelSource: ModelSource
  /// The reason why the store's model couldn't be used, or `nil` if it was used or doesn't exist.
  package var modelProblem: String?
  /// The configuration of the model that the store was made with; `nil` for all entities.
  package var configuration: String?
  package var uuid: String
  package var writer: InspectedMetadata.Writer
  /// The `NSPersistenceFrameworkVersion` of the writer.
  package var frameworkVersion: Int?
  /// The identifiers of the model that created the store.
  package var modelIdentifiers: [String]
  /// Whether the version hashes are OpenCoreData's digests, which differ from Apple's because
  /// Apple's formula isn't public.
  package var hasOwnDigests: Bool
  /// The entities, depth first and in alphabetical order.
  package var entities: [InspectedEntity]
  /// The unmappable rows, which aren't counted and are skipped when the store is read.
  package var unmappableRows: [UnmappableRows]
  package var indexes: [InspectedIndex]
  package var files: InspectedFiles
  /// The space of tables and indexes, largest first, or `nil` if SQLite was built without `dbstat`,
  /// or the file is corrupt.
  package var spaces: [InspectedSpace]?
  package var externalFiles: InspectedExternalFiles
  /// The persistent history, or `nil` if the store doesn't track it.
  package var history: InspectedHistory?
  /// The app's own metadata, with values as strings.
  package var metadata: [(key: String, value: String)]
  /// The digests and version hashes of the entities.
  package var digests: [InspectedDigest]

  /// The number of rows of all entities.
  package var rowCount: Int { entities.reduce(0) { $0 + $1.ownCount } }
}

/// An attribute of an entity.
package struct InspectedAttribute: Sendable, Equatable, Encodable {
  package var name: String
  /// The name of the attribute's type in Xcode, such as `Integer 64`.
  package var type: String
  package var isOptional: Bool
  package var isTransient: Bool
  package var isDerived: Bool
}

/// The version hash of an entity in a store's metadata, and OpenCoreData's digest of the entity.
package struct InspectedDigest: Sendable, Equatable, Encodable {
  package var entity: String
  /// OpenCoreData's digest in hexadecimal digits, or `nil` if the store has no readable model, or a
  /// model without the entity.
  package var digest: String?
  /// The version hash in the metadata in hexadecimal digits, which is Apple's or OpenCoreData's, or
  /// `nil` if there's none.
  package var hash: String?

  /// Returns the digests and hashes of all entities, sorted by name.
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

/// An entity of a store.
package struct InspectedEntity: Sendable, Equatable {
  package var name: String
  /// The depth in the hierarchy; 0 for a root entity.
  package var depth: Int
  /// The number of rows, including those of subentities.
  package var count: Int
  /// The number of rows, excluding those of subentities.
  package var ownCount: Int
  /// Whether the entity is abstract; `false` if the store has no model.
  package var isAbstract: Bool
  package var superentity: String?
  /// The names of the direct subentities.
  package var subentities: [String]
  /// The table of the root entity, or `nil` if it doesn't exist.
  package var table: String?
  package var className: String?
  /// The attributes that the entity declares itself, in alphabetical order.
  package var attributes: [InspectedAttribute]
  /// The relationships that the entity declares itself, in alphabetical order.
  package var relationships: [InspectedRelationship]
}

/// The number and size of a store's external data files.
package struct InspectedExternalFiles: Sendable, Equatable, Encodable {
  package var count: Int
  package var bytes: Int

  /// Reads the store's external data folder, if it exists.
  ///
  /// - Throws: An `NSError` if it can't be read.
  init(of store: URL) throws {
    let files = try ExternalStorage(storeURL: store).files()
    count = files.count
    bytes = files.values.reduce(0) { $0.addingReportingOverflow($1).partialValue }
  }
}

/// The sizes of a store's files.
package struct InspectedFiles: Sendable, Equatable {
  /// The way in which the file was read without modifying any file.
  package enum Reading: String, Sendable {
    case file
    case writeAheadLog
    case temporaryCopy = "privateCopy"
  }

  /// The size of the database file, in bytes.
  package var bytes: Int64
  /// The size of the `-wal` file, in bytes, or `nil` if there's none.
  package var logBytes: Int64?
  /// The number of frames in the WAL, including those that a later frame replaces, or `nil` if
  /// there's none.
  package var logFrames: Int?
  /// The size of a page, in bytes.
  package var pageSize: Int
  /// The number of pages, including those in the WAL.
  package var pages: Int
  /// The number of unused pages.
  package var freePages: Int
  package var reading: Reading
}

/// The extent of a store's persistent history.
package struct InspectedHistory: Sendable, Equatable, Encodable {
  package var transactions: Int
  package var changes: Int
  /// The time of the first transaction, in seconds since 2001-01-01 UTC, or `nil` if there's none.
  package var first: Double?
  /// The time of the last transaction, in seconds since 2001-01-01 UTC, or `nil` if there's none.
  package var last: Double?

  /// Reads the history, or returns `nil` if the store doesn't track it.
  ///
  /// **Cost:** two SELECTs.
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

  /// Returns a time; `nil` for an infinite one, which JSON can't contain.
  private static func seconds(_ value: SQLiteValue?) -> Double? {
    switch value {
    case .real(let number): number.isFinite ? number : nil
    case .integer(let number): Double(number)
    default: nil
    }
  }
}

/// An index of a store file.
package struct InspectedIndex: Sendable, Equatable, Encodable {
  package var name: String
  package var table: String
  /// The columns in the order of the index; an expression is represented as `(expression)`.
  package var columns: [String]
  package var isUnique: Bool
  /// Whether it's a partial index.
  package var isPartial: Bool
}

/// A relationship of an entity.
package struct InspectedRelationship: Sendable, Equatable, Encodable {
  package var name: String
  /// The name of the destination entity, or `nil` if it isn't known.
  package var destination: String?
  package var inverse: String?
  package var isToMany: Bool
  package var isOrdered: Bool
  package var isOptional: Bool
  /// The numbers of destinations, or `nil` if they're unknown.
  package var spread: InspectedSpread?
  /// The name of the delete rule in Xcode, such as `Nullify`.
  package var deleteRule: String?
}

/// The space that a table or an index takes in the file.
package struct InspectedSpace: Sendable, Equatable, Encodable {
  package var name: String
  /// The size of the pages, in bytes.
  package var bytes: Int
  package var pages: Int
  /// The number of unused bytes in the pages.
  package var unused: Int

  /// Returns the space of all tables and indexes, largest first.
  ///
  /// **Cost:** reads every page.
  /// - Throws: A `SQLiteError` if SQLite was built without `dbstat`, or the file can't be read or
  ///   is corrupt.
  static func all(on connection: Connection) throws(SQLiteError) -> [InspectedSpace] {
    let rows = try connection.values(
      "SELECT name, pgsize, pageno, unused FROM dbstat WHERE aggregate = 1 "
        + "ORDER BY pgsize DESC, name")
    return rows.compactMap { row in
      guard case .text(let name) = row[0], case .integer(let bytes) = row[1],
        case .integer(let pages) = row[2], case .integer(let unused) = row[3]
      else { return nil }
      return InspectedSpace(
        name: name, bytes: Int(clamping: bytes), pages: Int(clamping: pages),
        unused: Int(clamping: unused))
    }
  }
}

/// The numbers of destinations that a relationship's owners have.
package struct InspectedSpread: Sendable, Equatable, Encodable {
  /// The number of objects that have the relationship, including those of subentities.
  package var owners: Int
  /// The number of owners without a destination.
  package var empty: Int
  /// The number of destinations of all owners.
  package var links: Int
  /// The greatest number of destinations of one owner.
  package var most: Int

  /// The average number of destinations per owner, or 0 if there are no owners.
  package var mean: Double {
    owners == 0 ? 0 : Double(links) / Double(owners)
  }
}

/// The unmappable rows of a table, which have an unknown entity ID or a primary key below 1.
package struct UnmappableRows: Encodable, Sendable {
  package let table: String
  package let count: Int
  /// The primary keys of the first rows.
  package let keys: [Int64]

  private static let most = 5

  /// Returns the unmappable rows in the tables of all root entities.
  ///
  /// **Cost:** one SELECT per table, and another one if the table has unmappable rows.
  static func all(
    of mapping: SQLModel, on connection: Connection
  ) throws(SQLiteError) -> [UnmappableRows] {
    var found: [UnmappableRows] = []
    for root in mapping.roots {
      let rows =
        "FROM \(SQLSyntax.quoted(root.table)) "
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

  /// A description of the rows, on one line.
  package var line: String {
    let others = count > keys.count ? " …" : ""
    return
      "\(NumberText.counted(count, "row")) of \(table) \(PluralForm.of(count, "has", "have")) an unknown "
      + "entity ID or a primary key below 1: Z_PK "
      + keys.map { "\($0)" }.joined(separator: ", ") + others
  }
}
