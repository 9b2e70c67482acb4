import OpenCoreData
import WorkbenchText

/// The shape of a model's JSON; its property names are the file's keys.
struct ModelDocumentJSON: Encodable {
  struct Configuration: Encodable {
    let name: String
    let entities: [String]
  }

  struct Request: Encodable {
    let name: String
    let entity: String
    let predicate: String?
    let fetchLimit: Int
    let fetchBatchSize: Int

    init(_ request: FetchRequestTemplate) {
      name = request.name
      entity = request.entityName
      predicate = request.predicateFormat
      fetchLimit = request.fetchLimit
      fetchBatchSize = request.fetchBatchSize
    }
  }

  let file: String
  let source: String
  /// Whether names and kinds of properties are guesses.
  let guessed: Bool
  let problem: String?
  let version: String?
  let versions: [String]
  let identifiers: [String]
  let entities: [EntityJSON]
  let configurations: [Configuration]
  let fetchRequests: [Request]

  init(_ found: FoundModel) {
    let model = found.model
    file = found.url.path
    source = found.origin.rawValue
    guessed = found.origin == .tables
    problem = found.storeProblem
    version = found.version
    versions = found.versions
    identifiers = model.versionIdentifiers.map { "\($0)" }.sorted()
    entities = model.entityTree.map { EntityJSON($0.entity) }
    configurations = model.configurations.map { name in
      let members = model.entities(forConfigurationName: name) ?? []
      return Configuration(name: name, entities: members.compactMap(\.name).sorted())
    }
    fetchRequests = model.fetchRequestTemplates.map(Request.init)
  }
}
