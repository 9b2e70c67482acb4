import Foundation
import OpenCoreData
import ProfileEvents
import RunResults
import SQLiteDriver
import ScenarioLanguage
import StatementAnalysis

/// The plans of the SELECTs that a variant's steps ran.
///
/// A plan is read right after its step, because later steps can create or drop indexes. Reading
/// plans bypasses the framework and doesn't add to the step's cost.
struct StepPlans {
  /// A SELECT and its plan.
  struct Explained {
    var sql: String
    var plan: QueryPlan
  }

  private var bySteps: [(step: RecordedStep, statements: [Explained])] = []

  /// Adds the plans of the SELECTs that a step ran.
  ///
  /// - Parameters:
  ///   - outcome: The step that ran.
  ///   - slice: The events of the step.
  ///   - storeURL: The store that it ran on.
  /// - Throws: A `SQLiteError` if the file can't be opened.
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

  /// Returns the SELECTs of the steps with a name, or of all steps for `nil`.
  func statements(of name: String?) -> [Explained] {
    bySteps.filter { name == nil || $0.step.name == name }.flatMap(\.statements)
  }

  /// Returns the SELECTs of one step.
  func statements(of step: RecordedStep) -> [Explained] {
    bySteps.first { $0.step == step }?.statements ?? []
  }
}

extension PlanRequirement {
  /// Returns whether plans meet the requirement, and a short description of the actual plans.
  ///
  /// - Parameters:
  ///   - statements: The statements with their plans.
  ///   - entities: The names of the model's entities, which are part of an index's name.
  func evaluate(
    _ statements: [StepPlans.Explained], entities: [String]
  ) -> (isMet: Bool, actual: String) {
    guard !statements.isEmpty else { return (false, "no SELECT") }
    let plans = statements.map(\.plan)
    let used = PlanRequirement.distinct(plans.flatMap(\.ways))
    let actual = used.isEmpty ? "no index" : "uses \(used.joined(separator: ", "))"
    switch self {
    case .uses(let name):
      let stored =
        [name] + entities.map { NSManagedObjectModel.storeIndexName(name, ofEntity: $0) }
      return (plans.flatMap(\.indexes).contains { stored.contains($0) }, actual)
    case .usesPrimaryKey: return (plans.contains(where: \.searchesPrimaryKey), actual)
    case .usesAutomaticIndex: return (plans.contains(where: \.usesAutomaticIndex), actual)
    case .avoidsScan:
      let scans = PlanRequirement.distinct(
        statements.flatMap { $0.plan.needlessScans(of: $0.sql) }.map(\.detail))
      return (scans.isEmpty, scans.isEmpty ? "no scan" : scans.joined(separator: ", "))
    case .avoidsTempBTree:
      let trees = PlanRequirement.distinct(plans.flatMap(\.tempBTrees))
      return (
        trees.isEmpty,
        trees.isEmpty ? "no temp B-tree" : "temp B-tree for \(trees.joined(separator: ", "))"
      )
    }
  }

  private static func distinct(_ words: [String]) -> [String] {
    words.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}

extension QueryPlan {
  /// The ways in which the plan accesses tables: names of indexes, `primary key`, and
  /// `automatic index`.
  fileprivate var ways: [String] {
    indexes + (searchesPrimaryKey ? ["primary key"] : [])
      + (usesAutomaticIndex ? ["automatic index"] : [])
  }
}
