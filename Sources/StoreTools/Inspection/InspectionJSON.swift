package import Foundation
import WorkbenchText

/// The JSON format of an inspection.
package enum InspectionJSON {
  /// Returns an inspection as one JSON object with sorted keys, followed by a newline.
  package static func data(_ inspection: StoreInspection) throws -> Data {
    try JSONOutput.lines(Document(inspection))
  }

  private struct Document: Encodable {
    let store: String
    let uuid: String
    let model: Model
    let framework: Framework
    let entities: [Entity]
    let unmappableRows: [UnmappableRows]
    let indexes: [InspectedIndex]
    let sizes: Sizes
    let spaces: [InspectedSpace]?
    let externalFiles: InspectedExternalFiles
    let history: InspectedHistory?
    let metadata: [String: String]
    let digests: [InspectedDigest]

    init(_ inspection: StoreInspection) {
      store = inspection.url.path
      uuid = inspection.uuid
      model = Model(inspection)
      framework = Framework(inspection)
      entities = inspection.entities.map { Entity($0, of: inspection) }
      unmappableRows = inspection.unmappableRows
      indexes = inspection.indexes
      sizes = Sizes(inspection.files)
      spaces = inspection.spaces
      externalFiles = inspection.externalFiles
      history = inspection.history
      metadata = Dictionary(
        inspection.metadata.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
      digests = inspection.digests
    }
  }

  private struct Model: Encodable {
    let source: String
    let problem: String?
    /// The configuration that the store was made with, or `nil` for all entities.
    let configuration: String?
    let identifiers: [String]
    /// The origin of the formula of the version hashes: `cdprof` or `apple`.
    let hashes: String

    init(_ inspection: StoreInspection) {
      source = inspection.modelSource.rawValue
      problem = inspection.modelProblem
      configuration = inspection.configuration
      identifiers = inspection.modelIdentifiers
      hashes = inspection.hasOwnDigests ? "cdprof" : "apple"
    }
  }

  private struct Framework: Encodable {
    let name: String
    let version: Int?

    init(_ inspection: StoreInspection) {
      name = inspection.writer.name
      version = inspection.frameworkVersion
    }
  }

  private struct Entity: Encodable {
    let name: String
    let count: Int
    let ownCount: Int
    let isAbstract: Bool
    let superentity: String?
    let subentities: [String]
    let table: String?
    let className: String?
    let attributes: [InspectedAttribute]
    let relationships: [InspectedRelationship]
    /// Whether the names and types of the properties are inferred.
    let guessed: Bool

    init(_ entity: InspectedEntity, of inspection: StoreInspection) {
      name = entity.name
      count = entity.count
      ownCount = entity.ownCount
      isAbstract = entity.isAbstract
      superentity = entity.superentity
      subentities = entity.subentities
      table = entity.table
      className = entity.className
      attributes = entity.attributes
      relationships = entity.relationships
      guessed = inspection.modelSource == .schema
    }
  }

  private struct Sizes: Encodable {
    let fileBytes: Int64
    let walBytes: Int64?
    let walFrames: Int?
    let pageSize: Int
    let pages: Int
    let freePages: Int
    let readFrom: String

    init(_ files: InspectedFiles) {
      fileBytes = files.bytes
      walBytes = files.logBytes
      walFrames = files.logFrames
      pageSize = files.pageSize
      pages = files.pages
      freePages = files.freePages
      readFrom = files.reading.rawValue
    }
  }
}

extension InspectedMetadata.Writer {
  /// The name of the framework.
  var name: String {
    switch self {
    case .apple: "Core Data"
    case .other(let name): name
    }
  }
}
