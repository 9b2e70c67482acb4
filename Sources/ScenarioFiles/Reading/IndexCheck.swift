import OpenCoreData
import SQLiteDriver
import ScenarioLanguage
import WorkbenchText

/// Finds index names that can't exist in any store of a scenario.
///
/// Known names are the indexes of the model and those that SQLite creates for it, the indexes of a
/// copied store, and the indexes that the steps of any variant create.
struct IndexCheck {
  private let scenario: Scenario
  /// The names of fetch indexes and of stored indexes.
  private let known: Set<String>
  /// The names to suggest.
  ///
  /// Stored names of fetch indexes are omitted.
  private let offered: [String]

  init(_ scenario: Scenario) {
    self.scenario = scenario
    let models = [scenario.model] + (scenario.versions?.versions.map(\.model) ?? [])
    var fetchIndexes = models.flatMap(\.entities).flatMap { entity in
      entity.indexes.map { (entity.name ?? "", $0.name) }
    }
    var stored = models.flatMap(\.storeIndexNames)
    for step in IndexCheck.steps(of: scenario) {
      if step.verb == .index, let name = step.name { fetchIndexes.append((step.subject, name)) }
      if step.verb == .sql { stored += IndexCheck.made(by: step.subject) }
    }
    if case .copied(let store) = scenario.data.source { stored += IndexCheck.indexes(of: store) }
    let long = fetchIndexes.map { NSManagedObjectModel.storeIndexName($1, ofEntity: $0) }
    known = Set(fetchIndexes.map(\.1) + long + stored)
    offered = Set(fetchIndexes.map(\.1) + Set(stored).subtracting(long)).sorted()
  }

  /// The plan requirements and the steps that drop an index, with a problem for each unknown name.
  var problems: [(keyPath: String, problem: LanguageProblem)] {
    let steps = IndexCheck.steps(of: scenario)
    let blocks = scenario.variants.map(\.expect) + steps.compactMap(\.expect)
    let demands = blocks.flatMap(\.plans).compactMap { plan in
      if case .uses(let name) = plan.requirement, let range = plan.range {
        (plan.text, name, range.part(at: range.length - name.count, length: name.count))
      } else {
        nil
      }
    }
    let removals = steps.compactMap { step in
      if let name = step.name(of: .remove) {
        ("steps", name, step.ranges.range(of: .remove))
      } else {
        nil
      }
    }
    return (demands + removals).filter { !isKnown($0.1) }.map { keyPath, name, range in
      (
        keyPath,
        LanguageProblem(
          "there's no index `\(name)` in the model, the store, or the steps", at: range,
          didYouMean: NearestName.of(name, among: offered),
          nextStep: "use one of: \(ModelNames.list(offered))")
      )
    }
  }

  /// Returns whether an index name is known or assigned by SQLite.
  private func isKnown(_ name: String) -> Bool {
    known.contains(name) || name.hasPrefix("sqlite_autoindex_")
  }

  private static func steps(of scenario: Scenario) -> [Step] {
    scenario.steps + scenario.variants.flatMap { $0.first + $0.then }
  }

  /// Returns the name of the index that a statement creates.
  private static func made(by sql: String) -> [String] {
    let pattern =
      #/(?i)^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:main\.)?["`\[]?([^\s"`\]]+)/#
    return sql.firstMatch(of: pattern).map { [String($0.1)] } ?? []
  }

  /// Returns the indexes of a store, which is opened read-only.
  ///
  /// Returns an empty array if the store can't be read; that error is reported elsewhere.
  private static func indexes(of store: URL) -> [String] {
    guard let connection = try? StoreConnection.open(path: store.path, access: .inspecting) else {
      return []
    }
    defer { connection.close() }
    let rows = try? connection.values("SELECT name FROM sqlite_master WHERE type = 'index'")
    return (rows ?? []).compactMap { row in
      if case .text(let name)? = row.first { name } else { nil }
    }
  }
}
