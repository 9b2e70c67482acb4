package import Foundation
import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Inspects a store without modifying any file in its folder.
package struct StoreInspector {
  private let url: URL
  private let reader: TolerantReader

  private var connection: Connection { reader.connection }

  /// Returns the description of a store.
  ///
  /// **Cost:** a few COUNTs for each table and relationship, and reading each page once to
  /// determine its space.
  ///
  /// - Throws: An `InvalidInputError` if the file isn't a store, or an `NSError` if the store can't
  ///   be read.
  package static func inspect(_ url: URL) throws -> StoreInspection {
    try InvalidInputError.check(url)
    do {
      return try Corruption.confirming(url) { isCorrupt in
        let connection = try Connection(path: url.path, access: .inspecting)
        defer { connection.close() }
        let reader = TolerantReader(connection: connection, isCorrupt: isCorrupt)
        return try StoreInspector(url: url, reader: reader).inspection()
      }
    } catch let error as SQLiteError {
      throw InvalidInputError(error, path: url.relativePath)
    }
  }

  private func inspection() throws -> StoreInspection {
    let schema = try InspectedSchema(reading: connection)
    let source = try StoreModel.ofStore(at: url)
    let metadata = try InspectedMetadata(reading: connection, path: url.relativePath)
    let mapping = try mapping(of: source)
    let spreads = mapping.map { SpreadReader(mapping: $0, reader: reader) }
    let entities = try ModelEntities(
      names: ModelNames(source.model, configuration: source.configuration),
      own: schema.ownRows(mapping, on: connection), schema: schema,
      isInferred: source.isInferred, spreads: spreads
    ).all()
    return StoreInspection(
      url: url, modelSource: source.isInferred ? .schema : .cache,
      modelProblem: source.problem, configuration: source.configuration,
      uuid: metadata.uuid, writer: metadata.writer, frameworkVersion: metadata.frameworkVersion,
      modelIdentifiers: metadata.modelIdentifiers, hasOwnDigests: metadata.hasOwnDigests,
      entities: entities, unmappableRows: try unmappableRows(mapping), indexes: schema.indexes,
      files: try files(),
      spaces: try reader.read(InspectedSpace.all),
      externalFiles: try InspectedExternalFiles(of: url),
      history: try InspectedHistory(reading: connection, tables: schema.tables.keys),
      metadata: metadata.own,
      digests: InspectedDigest.all(source.isInferred ? nil : source.model, metadata.hashes))
  }

  /// Returns the mapping of a model, or `nil` if it doesn't match the tables.
  private func mapping(of source: StoreModel) throws -> SQLModel? {
    do {
      return try reader.read {
        try SQLModel(
          model: source.model, configuration: source.configuration, connection: $0)
      }
    } catch let error as SQLiteError {
      throw error
    } catch {
      return nil
    }
  }

  private func unmappableRows(_ mapping: SQLModel?) throws(SQLiteError) -> [UnmappableRows] {
    guard let mapping else { return [] }
    return try UnmappableRows.all(of: mapping, on: connection)
  }

  private func files() throws(SQLiteError) -> InspectedFiles {
    let inspection = try StoreFileInspection(path: url.path)
    let pageSize = try number("PRAGMA page_size")
    return InspectedFiles(
      bytes: inspection.database.size, logBytes: inspection.log?.size,
      // A WAL has a header of 32 bytes, and each of its frames has one of 24 bytes.
      logFrames: inspection.log.map { max(0, Int(clamping: $0.size) - 32) / (pageSize + 24) },
      pageSize: pageSize, pages: try number("PRAGMA page_count"),
      freePages: try number("PRAGMA freelist_count"),
      reading: connection.isTemporaryCopy
        ? .temporaryCopy : inspection.method == .writeAheadLog ? .writeAheadLog : .file)
  }

  private func number(_ sql: String) throws(SQLiteError) -> Int {
    guard case .integer(let number)? = try connection.values(sql).first?.first else { return 0 }
    return Int(number)
  }
}

/// Describes the entities of a store according to its model.
struct ModelEntities {
  /// The model, and the configuration that the store was made with.
  let names: ModelNames
  /// The number of each concrete entity's own rows.
  let own: [EntityCount]
  let schema: InspectedSchema
  /// Whether the names and classes of the model are inferred.
  let isInferred: Bool
  /// The reader for numbers of destinations, or `nil` if the model doesn't match the tables.
  let spreads: SpreadReader?

  /// Returns the entities that the store can contain, depth first and in alphabetical order.
  ///
  /// **Cost:** two SELECTs for each relationship.
  /// - Throws: A `SQLiteError` if the file can't be read.
  func all() throws -> [InspectedEntity] {
    let ownRows = Dictionary(own.map { ($0.name, $0.count) }, uniquingKeysWith: +)
    let totals = EntityCount.totals(own, in: names.model)
    let tree = names.tree
    let stored = Set(tree.compactMap { $0.entity.name })
    return try tree.map { depth, entity in
      let name = entity.name ?? ""
      return InspectedEntity(
        name: name, depth: depth, count: totals[name] ?? 0, ownCount: ownRows[name] ?? 0,
        isAbstract: entity.isAbstract, superentity: entity.superentity?.name,
        subentities: entity.subentities.compactMap(\.name).filter(stored.contains).sorted(),
        table: spreads?.mapping.entity(named: name)?.table
          ?? schema.table(ofRoot: entity.root.name ?? ""),
        className: isInferred ? nil : entity.managedObjectClassName,
        attributes: entity.ownAttributes.map(InspectedAttribute.init),
        relationships: try entity.ownRelationships.map { relationship in
          InspectedRelationship(
            relationship, spread: try spreads?.spread(of: relationship.name, in: name))
        })
    }
  }
}

extension NSEntityDescription {
  /// The root entity, whose table contains the rows.
  fileprivate var root: NSEntityDescription { superentity?.root ?? self }
}

extension InspectedAttribute {
  fileprivate init(_ attribute: NSAttributeDescription) {
    self.init(
      name: attribute.name, type: attribute.attributeType.documentName,
      isOptional: attribute.isOptional, isTransient: attribute.isTransient,
      isDerived: attribute.isDerived)
  }
}

extension InspectedRelationship {
  fileprivate init(_ relationship: NSRelationshipDescription, spread: InspectedSpread?) {
    self.init(
      name: relationship.name, destination: relationship.destinationEntity?.name,
      inverse: relationship.inverseRelationship?.name, isToMany: relationship.isToMany,
      isOrdered: relationship.isOrdered, isOptional: relationship.isOptional,
      spread: spread, deleteRule: relationship.deleteRule.documentName)
  }
}

/// Reads parts of a store without which an inspection is still useful.
struct TolerantReader {
  let connection: Connection
  /// Whether it's confirmed that the file is corrupt.
  let isCorrupt: Bool

  /// Returns the result of a closure, or `nil` if its error is caused by what the store contains.
  ///
  /// - Throws: A `SQLiteError` if the file can't be read, or might be corrupt.
  func read<Result>(_ body: (Connection) throws -> Result?) throws -> Result? {
    do {
      return try body(connection)
    } catch let error as SQLiteError
      where error.isOfContent && (isCorrupt || !error.code.isOfCorruptFile)
    {
      return nil
    }
  }
}

/// Counts the destinations of relationships.
struct SpreadReader {
  let mapping: SQLModel
  let reader: TolerantReader

  /// Returns the numbers of destinations of an entity's relationship, or `nil` if it isn't stored,
  /// or the file is corrupt.
  ///
  /// **Cost:** one SELECT over the keys, and a COUNT of the owners.
  /// - Throws: A `SQLiteError` if the file can't be read.
  func spread(of name: String, in entityName: String) throws -> InspectedSpread? {
    try reader.read { _ in try counted(name, in: entityName) }
  }

  private func counted(
    _ name: String, in entityName: String
  ) throws(SQLiteError) -> InspectedSpread? {
    guard let entity = mapping.entity(named: entityName) else { return nil }
    let owners = try numbers(
      "SELECT COUNT(*) FROM \(quoted(entity.table)) WHERE Z_ENT IN \(list(entity))")
    guard let owners = owners.first, let keys = keys(name, of: entity) else { return nil }
    let found = try numbers(
      "SELECT COUNT(*), IFNULL(SUM(c), 0), IFNULL(MAX(c), 0) "
        + "FROM (SELECT COUNT(*) c FROM \(keys.from) GROUP BY \(keys.owner))")
    guard found.count == 3 else { return nil }
    return InspectedSpread(
      owners: owners, empty: max(0, owners - found[0]), links: found[1], most: found[2])
  }

  /// Returns the rows that store a relationship, and the column that identifies the owner.
  private func keys(_ name: String, of entity: SQLEntity) -> (from: String, owner: String)? {
    if let column = entity.column(named: name) {
      let condition = "\(quoted(column.name)) IS NOT NULL AND Z_ENT IN \(list(entity))"
      return ("\(quoted(entity.table)) WHERE \(condition)", "Z_PK")
    }
    guard let toMany = entity.toMany[name] else { return nil }
    switch toMany.storage {
    case .foreignKey(let column, _):
      let table = quoted(toMany.destination.table)
      return ("\(table) WHERE \(quoted(column)) IS NOT NULL", quoted(column))
    case .joinTable(let table, let source, _, _):
      return (quoted(table), quoted(source))
    }
  }

  private func list(_ entity: SQLEntity) -> String {
    "(\(entity.concreteNumbers.map(String.init).joined(separator: ", ")))"
  }

  private func quoted(_ name: String) -> String { SQLSyntax.quoted(name) }

  private func numbers(_ select: String) throws(SQLiteError) -> [Int] {
    (try reader.connection.values(select).first ?? []).map { value in
      if case .integer(let number) = value { Int(clamping: number) } else { 0 }
    }
  }
}
