package import Foundation
import OpenCoreData
import SQLiteDriver

/// Looks into a store and says what is there.
///
/// Changes no byte in its folder.
package struct StoreInspector {
  private let url: URL
  private let connection: Connection

  /// Looks into a store.
  ///
  /// Cost: one COUNT an entity, and the schema.
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
    var model: NSManagedObjectModel?
    var problem: String?
    if schema.hasModelCache {
      do {
        model = try NSManagedObjectModel.inStore(at: url)
      } catch {
        problem = ErrorText.of(error)
      }
    }
    let metadata = try InspectedMetadata(reading: connection, path: url.relativePath)
    let entities: [InspectedEntity]
    if let model {
      let own = try ScenarioData.counts(in: url, model: model)
      entities = ModelEntities(model: model, own: own, schema: schema).entities
    } else {
      entities = try SchemaEntities(schema: schema, connection: connection).entities()
    }
    return StoreInspection(
      url: url, modelSource: model == nil ? .schema : .cache, modelProblem: problem,
      uuid: metadata.uuid, writer: metadata.writer, frameworkVersion: metadata.frameworkVersion,
      modelIdentifiers: metadata.modelIdentifiers, hasOwnDigests: metadata.hasOwnDigests,
      entities: entities, indexes: schema.indexes, files: try files())
  }

  private func files() throws(SQLiteError) -> InspectedFiles {
    let inspection = try StoreFileInspection(path: url.path)
    return InspectedFiles(
      bytes: inspection.database.size, logBytes: inspection.log?.size,
      pageSize: try number("PRAGMA page_size"), pages: try number("PRAGMA page_count"),
      freePages: try number("PRAGMA freelist_count"),
      reading: connection.isPrivateCopy
        ? .privateCopy : inspection.method == .writeAheadLog ? .writeAheadLog : .file)
  }

  private func number(_ sql: String) throws(SQLiteError) -> Int {
    guard case .integer(let number)? = try connection.values(sql).first?.first else { return 0 }
    return Int(number)
  }
}
