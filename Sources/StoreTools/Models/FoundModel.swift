package import Foundation
package import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// A model that was read from a document, a compiled model, or a store, or inferred from a store's
/// tables.
package struct FoundModel {
  /// The origin of a model.
  package enum Origin: String, Sendable {
    case document
    case compiled
    /// The model that a store contains.
    case store
    /// A store's tables, from which names and types of properties are inferred.
    case tables
  }

  package let model: NSManagedObjectModel
  package let url: URL
  package let origin: Origin
  /// The name of the version that was read, or `nil` for a store.
  package let version: String?
  /// The names of all versions; empty for a store.
  package let versions: [String]
  /// The problems of the model: warnings and, if requested, errors.
  package let problems: [ModelError]
  /// The reason why the store's model couldn't be used, or `nil` if it was used or doesn't exist.
  package let storeProblem: String?

  /// Reads a model in any format.
  ///
  /// - Parameters:
  ///   - path: A `.xcdatamodeld`, `.xcdatamodel`, `.momd`, or `.mom`, a document's `contents`, or a
  ///     store, which is opened read-only.
  ///   - version: The version of a model with several versions, or `nil` for the current one.
  ///   - keepsGoing: Whether to read the valid parts of a document with errors.
  /// - Throws: An `InvalidInputError` if the file doesn't exist or isn't a store, or the model's
  ///   `ModelErrors`.
  package init(path: String, version: String? = nil, keepsGoing: Bool = false) throws {
    let url = URL(fileURLWithPath: path)
    try InvalidInputError.checkExists(path)
    guard FileManager.default.isReadableFile(atPath: url.path) else {
      throw InvalidInputError(
        kind: .missing, message: "\(path) can't be read",
        nextStep: "ask for permission to read it")
    }
    self.url = url
    guard !ModelFile.isStore(url) else {
      if let version {
        throw InvalidInputError(
          kind: .unusable, message: "\(path) is a store, which has no version \(version)",
          nextStep: "omit --version, or specify the model's document")
      }
      try InvalidInputError.check(url)
      let read = try StoreModel.ofStore(at: url)
      model = read.model
      origin = read.isInferred ? .tables : .store
      storeProblem = read.problem
      (self.version, versions) = (nil, [])
      problems = model.problems
      return
    }
    storeProblem = nil
    versions = try NSManagedObjectModel.versions(of: url)
    self.version =
      try version.map { ($0 as NSString).deletingPathExtension }
      ?? NSManagedObjectModel.currentVersion(of: url)
    let file = try NSManagedObjectModel.file(of: url, version: version)
    let isDocument = file.lastPathComponent == "contents"
    origin = isDocument ? .document : .compiled
    if keepsGoing, isDocument {
      (model, problems) = try ModelDocument.readWithProblems(url: file)
    } else {
      model = try NSManagedObjectModel.read(contentsOf: file)
      problems = model.problems
    }
  }

  /// Checks that the model has a configuration.
  ///
  /// - Throws: `InvalidInputError`, with the configurations that the model has.
  package func checkConfiguration(_ name: String) throws {
    guard !model.configurations.contains(name) else { return }
    let names = model.configurations.map { "`\($0)`" }.joined(separator: ", ")
    throw InvalidInputError(
      kind: .unusable, message: "\(url.relativePath) has no configuration `\(name)`",
      nextStep: names.isEmpty ? "omit --configuration" : "its configurations are: \(names)")
  }
}

/// A model to check, with the tables and rows of its store if it's from one.
struct CheckedModel {
  let model: NSManagedObjectModel
  /// The problems that the model's reader and its validation reported.
  let problems: [ModelError]
  /// The schema of the store, or `nil` if the model isn't from a store.
  let schema: InspectedSchema?
  /// Whether the model was inferred from the tables, which don't contain inverses and delete rules.
  let isInferred: Bool
  /// The store, opened read-only, or `nil` if the model isn't from a store.
  let store: Connection?
  /// The change from an earlier version, or `nil` if the model isn't compared with one.
  let change: VersionChange?

  /// The root entities, sorted by name, each with all entities of its hierarchy, parents first.
  var hierarchies: [(root: NSEntityDescription, family: [NSEntityDescription])] {
    model.entityTree.filter { $0.depth == 0 }.map { root in
      func family(_ entity: NSEntityDescription) -> [NSEntityDescription] {
        [entity]
          + entity.subentities.sortedByName().flatMap(family)
      }
      return (root.entity, family(root.entity))
    }
  }

  /// Returns the number of own rows of each entity in a hierarchy, by name, or `nil` without a
  /// store.
  ///
  /// **Cost:** one COUNT.
  func rows(of root: NSEntityDescription) throws(SQLiteError) -> [String: Int]? {
    guard let store, let schema, let table = schema.table(ofRoot: root.name ?? "") else {
      return nil
    }
    let names = Dictionary(
      schema.entities.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
    var rows: [String: Int] = [:]
    let name = SQLSyntax.quoted(table)
    for row in try store.values("SELECT Z_ENT, COUNT(*) FROM \(name) GROUP BY Z_ENT") {
      if case .integer(let number) = row[0], case .integer(let count) = row[1],
        let name = names[number]
      {
        rows[name] = Int(count)
      }
    }
    return rows
  }
}
