package import Foundation
import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Looks into a store and says what is there.
///
/// Changes no byte in its folder.
package struct StoreInspector {
  private let url: URL
  private let connection: Connection

  /// Looks into a store.
  ///
  /// Cost: some COUNTs a table and a relationship, and each page once for the room it takes.
  /// - Throws: `InputRefusal` when the file is no store; `NSError` of a store that fails to be read.
  package static func inspect(_ url: URL) throws -> StoreInspection {
    try InputRefusal.check(url)
    do {
      let connection = try Connection(path: url.path, access: .looking)
      defer { connection.close() }
      return try StoreInspector(url: url, connection: connection).inspection()
    } catch let error as SQLiteError {
      throw InputRefusal(error, path: url.relativePath)
    }
  }

  private func inspection() throws -> StoreInspection {
    let schema = try InspectedSchema(reading: connection)
    let source = try StoreModel.ofStore(at: url)
    let metadata = try InspectedMetadata(reading: connection, path: url.relativePath)
    let mapping = try? SQLModel(model: source.model, connection: connection)
    let spreads = mapping.map { SpreadReader(mapping: $0, connection: connection) }
    let entities = ModelEntities(
      model: source.model, own: try schema.ownRows(mapping, on: connection), schema: schema,
      isGuessed: source.isGuessed, spreads: spreads
    ).entities
    return StoreInspection(
      url: url, modelSource: source.isGuessed ? .schema : .cache,
      modelProblem: source.problem,
      uuid: metadata.uuid, writer: metadata.writer, frameworkVersion: metadata.frameworkVersion,
      modelIdentifiers: metadata.modelIdentifiers, hasOwnDigests: metadata.hasOwnDigests,
      entities: entities, strayRows: try strayRows(mapping), indexes: schema.indexes,
      files: try files(),
      spaces: InspectedSpace.all(on: connection), externalFiles: InspectedExternalFiles(of: url),
      history: try InspectedHistory(reading: connection, tables: schema.tables.keys),
      metadata: metadata.own,
      digests: InspectedDigest.all(source.isGuessed ? nil : source.model, metadata.hashes))
  }

  private func strayRows(_ mapping: SQLModel?) throws(SQLiteError) -> [StrayRows] {
    guard let mapping else { return [] }
    return try StrayRows.all(of: mapping, on: connection)
  }

  private func files() throws(SQLiteError) -> InspectedFiles {
    let inspection = try StoreFileInspection(path: url.path)
    let pageSize = try number("PRAGMA page_size")
    return InspectedFiles(
      bytes: inspection.database.size, logBytes: inspection.log?.size,
      // A log has a header of 32 bytes, and each of its pages one of 24.
      logFrames: inspection.log.map { max(0, Int(clamping: $0.size) - 32) / (pageSize + 24) },
      pageSize: pageSize, pages: try number("PRAGMA page_count"),
      freePages: try number("PRAGMA freelist_count"),
      reading: connection.isPrivateCopy
        ? .privateCopy : inspection.method == .writeAheadLog ? .writeAheadLog : .file)
  }

  private func number(_ sql: String) throws(SQLiteError) -> Int {
    guard case .integer(let number)? = try connection.values(sql).first?.first else { return 0 }
    return Int(number)
  }
}
