import OpenCoreData
import ProfileEvents
import SQLiteDriver
import ScenarioLanguage
import StatementAnalysis

/// The plans of the SELECTs that a variant's steps ran, asked for right after each step.
///
/// Asking goes past the framework and costs the step nothing. A plan is that of the store as it was then:
/// a later step may make an index or drop one.
struct StepPlans {
  /// A SELECT and its plan.
  struct Explained {
    var sql: String
    var plan: QueryPlan
  }

  private var bySteps: [(step: RecordedStep, statements: [Explained])] = []

  /// Asks for the plans of what a step has run.
  ///
  /// - Throws: `SQLiteError` when the file cannot be opened.
  mutating func add(_ outcome: StepOutcome, of slice: Recording, at storeURL: URL) throws {
    let reader = try PlanReader(storeURL: storeURL, isOpenElsewhere: true)
    let selects = slice.statementShapes.filter { $0.kind == .select }
    bySteps.append(
      (
        outcome.recorded,
        selects.map {
          Explained(
            sql: $0.sql, plan: QueryPlan(lines: reader.lines(of: $0.sql, binds: $0.binds)))
        }
      ))
  }

  /// The SELECTs of the steps of a name; all of them for nil.
  func statements(of name: String?) -> [Explained] {
    bySteps.filter { name == nil || $0.step.name == name }.flatMap(\.statements)
  }

  /// The SELECTs of one step.
  func statements(of step: RecordedStep) -> [Explained] {
    bySteps.first { $0.step == step }?.statements ?? []
  }
}

extension PlanDemand {
  /// Whether plans obey, and what was found in them, in a few words.
  ///
  /// - Parameter entities: the names of the model's entities, which are part of an index's name.
  func judge(
    _ statements: [StepPlans.Explained], entities: [String]
  ) -> (holds: Bool, found: String) {
    guard !statements.isEmpty else { return (false, "no SELECT") }
    let plans = statements.map(\.plan)
    let used = PlanDemand.distinct(plans.flatMap(\.ways))
    let found = used.isEmpty ? "no index" : "uses \(used.joined(separator: ", "))"
    switch self {
    case .uses(let name):
      let stored =
        [name] + entities.map { NSManagedObjectModel.storeIndexName(name, ofEntity: $0) }
      return (plans.flatMap(\.indexes).contains { stored.contains($0) }, found)
    case .usesPrimaryKey: return (plans.contains(where: \.searchesPrimaryKey), found)
    case .usesAutomaticIndex: return (plans.contains(where: \.usesAutomaticIndex), found)
    case .avoidsScan:
      let scans = PlanDemand.distinct(
        statements.flatMap { $0.plan.needlessScans(of: $0.sql) }.map(\.detail))
      return (scans.isEmpty, scans.isEmpty ? "no scan" : scans.joined(separator: ", "))
    case .avoidsTempBTree:
      let trees = PlanDemand.distinct(plans.flatMap(\.tempBTrees))
      return (
        trees.isEmpty,
        trees.isEmpty ? "no temp b-tree" : "temp b-tree for \(trees.joined(separator: ", "))"
      )
    }
  }

  private static func distinct(_ words: [String]) -> [String] {
    words.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}

extension QueryPlan {
  /// How its tables are gone into: the indexes, and the primary key and automatic ones by these words.
  fileprivate var ways: [String] {
    indexes + (searchesPrimaryKey ? ["primary key"] : [])
      + (usesAutomaticIndex ? ["automatic index"] : [])
  }
}
