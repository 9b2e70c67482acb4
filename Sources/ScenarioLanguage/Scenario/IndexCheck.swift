import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Finds names of indexes that no store of a scenario can have.
///
/// Known are the indexes of the model and those that SQLite makes for it, those of a copied store, and
/// those that any step makes, of whatever variant.
struct IndexCheck {
  private let scenario: Scenario
  /// Names of fetch indexes and of stored ones.
  private let known: Set<String>
  /// The same, as one would write them: the stored name of a fetch index is left out.
  private let offered: [String]

  init(_ scenario: Scenario) {
    self.scenario = scenario
    let entities = scenario.model.entitiesByName
    var fetchIndexes = entities.flatMap { name, entity in entity.indexes.map { (name, $0.name) } }
    var stored = scenario.model.storeIndexNames
    for step in IndexCheck.steps(of: scenario) {
      if step.verb == .index, let name = step.name { fetchIndexes.append((step.subject, name)) }
      if step.verb == .sql { stored += IndexCheck.made(by: step.subject) }
    }
    if case .copied(let store) = scenario.data.source { stored += IndexCheck.indexes(of: store) }
    let long = fetchIndexes.map { NSManagedObjectModel.storeIndexName($1, ofEntity: $0) }
    known = Set(fetchIndexes.map(\.1) + long + stored)
    offered = Set(fetchIndexes.map(\.1) + Set(stored).subtracting(long)).sorted()
  }

  /// A demand on plans, or a step that drops an index, with a name that is not known.
  var problems: [(keyPath: String, problem: LanguageProblem)] {
    let steps = IndexCheck.steps(of: scenario)
    let blocks = scenario.variants.map(\.expect) + steps.compactMap(\.expect)
    let demands = blocks.flatMap(\.plans).compactMap { plan in
      if case .uses(let name) = plan.demand, let place = plan.place {
        (plan.text, name, place.part(at: place.length - name.count, length: name.count))
      } else {
        nil
      }
    }
    let removals = steps.compactMap { step in
      if case .remove(let name)? = step.option(.remove) {
        ("steps", name, step.places.place(of: .remove))
      } else {
        nil
      }
    }
    return (demands + removals).filter { !isKnown($0.1) }.map { keyPath, name, place in
      (
        keyPath,
        LanguageProblem(
          "no index is named `\(name)`, neither in the model nor by a step", at: place,
          didYouMean: NearestName.of(name, among: offered),
          nextStep: "the indexes are: \(ModelNames.list(offered))")
      )
    }
  }

  /// SQLite names the indexes of constraints itself.
  private func isKnown(_ name: String) -> Bool {
    known.contains(name) || name.hasPrefix("sqlite_autoindex_")
  }

  private static func steps(of scenario: Scenario) -> [Step] {
    scenario.steps + scenario.variants.flatMap { $0.first + $0.then }
  }

  /// The index that a statement makes.
  private static func made(by sql: String) -> [String] {
    let pattern =
      #/(?i)^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:main\.)?["`\[]?([^\s"`\]]+)/#
    return sql.firstMatch(of: pattern).map { [String($0.1)] } ?? []
  }

  /// The indexes of a store, which is only looked at; none when it cannot be read, which is told elsewhere.
  private static func indexes(of store: URL) -> [String] {
    guard let connection = try? StoreConnection.open(path: store.path, access: .looking) else {
      return []
    }
    defer { connection.close() }
    let rows = try? connection.values("SELECT name FROM sqlite_master WHERE type = 'index'")
    return (rows ?? []).compactMap { row in
      if case .text(let name)? = row.first { name } else { nil }
    }
  }
}
