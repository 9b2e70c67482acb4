import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// What the rules look at: a model with its tables, and the rows where it came with a store.
struct CheckedModel {
  let model: NSManagedObjectModel
  /// What its reader and its own check found wrong with it.
  let problems: [ModelError]
  /// The tables of the store; nil for a model alone.
  let schema: InspectedSchema?
  /// Whether the model was read off the tables, which do not tell of inverses and delete rules.
  let isGuessed: Bool
  /// The store, opened to be looked at; nil for a model alone.
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
