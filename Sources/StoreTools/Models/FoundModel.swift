package import Foundation
package import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// A model as it was found: in a document, compiled, in a store, or read off a store's tables.
package struct FoundModel {
  /// Where a model was found.
  package enum Origin: String, Sendable {
    case document
    case compiled
    /// The copy that a store carries.
    case store
    /// A store's tables alone: names and kinds of properties are guesses.
    case tables
  }

  package let model: NSManagedObjectModel
  package let url: URL
  package let origin: Origin
  /// The name of the version that was read; nil for a store.
  package let version: String?
  /// The names of all versions; empty for a store.
  package let versions: [String]
  /// What is wrong with the model, of which the rest was read all the same; errors only if asked for.
  package let problems: [ModelError]
  /// Why the model that the store carries was not used; nil when it was, or when there is none.
  package let storeProblem: String?

  /// Reads a model of any form.
  ///
  /// - Parameters:
  ///   - path: A `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`, a document's `contents`, or a
  ///     store, which is opened read-only.
  ///   - version: The version of a model that has several; nil for the current one.
  ///   - keepsGoing: Whether a document with mistakes is read as far as it goes.
  /// - Throws: `InvalidInputError` for what is missing or no store, `ModelErrors` of a model.
  package init(path: String, version: String? = nil, keepsGoing: Bool = false) throws {
    let url = URL(fileURLWithPath: path)
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw InvalidInputError(
        kind: .missing, message: "there's no file or folder \(path)", nextStep: "check the path")
    }
    guard FileManager.default.isReadableFile(atPath: url.path) else {
      throw InvalidInputError(
        kind: .missing, message: "\(path) cannot be read",
        nextStep: "ask for permission to read it")
    }
    try InvalidInputError.checkExists(path)
    self.url = url
    guard !ModelFile.isStore(url) else {
      if let version {
        throw InvalidInputError(
          kind: .unusable, message: "\(path) is a store and has no version \(version)",
          nextStep: "leave --version out, or name the model's document")
      }
      try InvalidInputError.check(url)
      let read = try StoreModel.ofStore(at: url)
      model = read.model
      origin = read.isGuessed ? .tables : .store
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
}

/// What the rules look at: a model with its tables, and the rows where it came with a store.
struct CheckedModel {
  let model: NSManagedObjectModel
  /// What its reader and its own check found wrong with it.
  let problems: [ModelError]
  /// The tables of the store; nil for a model alone.
  let schema: InspectedSchema?
  /// Whether the model was inferred from the tables, which don't contain inverses and delete rules.
  let isGuessed: Bool
  /// The store, opened read-only; nil for a model.
  let store: Connection?

  /// The roots of the model's hierarchies by name, each before what is below it.
  var hierarchies: [(root: NSEntityDescription, family: [NSEntityDescription])] {
    model.entityTree.filter { $0.depth == 0 }.map { root in
      func family(_ entity: NSEntityDescription) -> [NSEntityDescription] {
        [entity]
          + entity.subentities.sorted { ($0.name ?? "") < ($1.name ?? "") }.flatMap(family)
      }
      return (root.entity, family(root.entity))
    }
  }

  /// Rows of each entity itself in a hierarchy, by name; nil without a store.
  ///
  /// One COUNT.
  func rows(of root: NSEntityDescription) throws(SQLiteError) -> [String: Int]? {
    guard let store, let schema, let table = schema.table(ofRoot: root.name ?? "") else {
      return nil
    }
    let names = Dictionary(
      schema.entities.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
    var rows: [String: Int] = [:]
    for row in try store.values("SELECT Z_ENT, COUNT(*) FROM \(Self.quoted(table)) GROUP BY Z_ENT")
    {
      if case .integer(let number) = row[0], case .integer(let count) = row[1],
        let name = names[number]
      {
        rows[name] = Int(count)
      }
    }
    return rows
  }

  /// A name as SQL spells it.
  static func quoted(_ name: String) -> String {
    "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }
}
