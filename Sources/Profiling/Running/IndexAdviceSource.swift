package import Foundation
package import OpenCoreData
import RunResults
import SQLiteDriver
package import ScenarioLanguage
package import StatementAnalysis
import WorkbenchText

/// The source of the statements that `cdprof advise` analyzes.
package enum IndexAdviceSource {
  /// Runs all variants of a scenario, and returns index advice for all their statements together.
  ///
  /// Indexes are tried on the scenario's original data, not on the variants' copies.
  ///
  /// - Parameter engine: The engine of the stores.
  ///
  /// - Throws: The same errors as `ScenarioRunner.run` and `IndexAdvisor.init`.
  package static func advice(
    for scenario: Scenario, scale: Int = 1, on engine: any StoreEngine = SQLiteEngine()
  ) throws -> IndexAdvice {
    let folder = try ScratchFolders.make()
    defer { ScratchFolders.remove(folder) }
    var advice: IndexAdvice?
    let runner = ScenarioRunner(
      scenario: scenario, scale: scale, outputDirectory: folder, engine: engine)
    _ = try runner.run(examining: { result, data in
      let statements = AdvisedStatement.all(in: result.variants.flatMap(\.statements))
      advice = try engine.advisor(at: data, model: scenario.dataModel).advice(on: statements)
    })
    guard let advice else { fatalError("a run that succeeds is examined") }
    return advice
  }

  /// Runs steps on a store, and returns index advice for their statements.
  ///
  /// The store isn't modified: steps that change data run on a copy. A store that was made with a
  /// configuration of its model is opened with this configuration. In a store without a model,
  /// the names in steps are those inferred from its tables.
  ///
  /// - Parameters:
  ///   - url: The store file.
  ///   - lines: The steps, as shell lines.
  ///   - sql: Additional SELECT statements, such as from a log.
  ///   - model: The model of the store if it was read already; `nil` to read it for the steps.
  /// - Throws: An `InvalidInputError`; a `CommandFailure` if a step can't be parsed or a statement
  ///   isn't a SELECT; a `StepFailure`; or a `SQLiteError`.
  package static func advice(
    forStore url: URL, lines: [String], sql: [String] = [], model: StoreModel? = nil
  ) throws -> IndexAdvice {
    try InvalidInputError.check(url)
    do {
      return try advice(forCheckedStore: url, lines: lines, sql: sql, model)
    } catch let error as SQLiteError {
      throw InvalidInputError(error, path: url.relativePath)
    }
  }

  private static func advice(
    forCheckedStore url: URL, lines: [String], sql: [String], _ model: StoreModel?
  ) throws -> IndexAdvice {
    var statements = sql.map { AdvisedStatement(sql: $0, count: 1) }
    for statement in statements where !statement.reads {
      throw CommandFailure(
        "`--sql` takes a SELECT statement, not: \(statement.sql)",
        nextStep: "pass the SELECT, or run a step that executes it")
    }
    if !lines.isEmpty { statements += try Self.statements(of: lines, on: url, model) }
    return try IndexAdvisor(storeURL: url).advice(on: statements)
  }

  /// Runs steps on a store, or on a copy if one of them changes data, and returns their statements.
  private static func statements(
    of lines: [String], on url: URL, _ model: StoreModel?
  ) throws -> [AdvisedStatement] {
    var steps: [Step] = []
    for (index, line) in lines.enumerated() {
      do {
        steps.append(try ShellLine.parse(line, number: index + 1))
      } catch {
        throw CommandFailure(error.problem, in: line)
      }
    }
    let source = try model ?? StoreModel.ofStore(at: url)
    guard let change = steps.firstIndex(where: { $0.verb.changesData }) else {
      return try statements(
        of: steps, lines,
        Session(
          storeURL: url, model: source.model, configuration: source.configuration, readOnly: true,
          ignoresVersions: source.isInferred))
    }
    guard !source.isInferred else {
      throw CommandFailure(
        LanguageProblem(
          "`\(steps[change].verb.rawValue)` changes data, which requires a store with its model",
          at: steps[change].ranges.verb, nextStep: "use only steps that read"),
        in: lines[change])
    }
    let folder = try ScratchFolders.make()
    defer { ScratchFolders.remove(folder) }
    let copy = folder.appendingPathComponent("data.sqlite")
    try StoreFile.copy(from: url, to: copy, isSynced: false)
    return try statements(
      of: steps, lines,
      Session(
        storeURL: copy, model: source.model, configuration: source.configuration, readOnly: false))
  }

  /// Runs steps in a session, and returns their statements.
  private static func statements(
    of steps: [Step], _ lines: [String], _ session: Session
  ) throws -> [AdvisedStatement] {
    for (step, line) in zip(steps, lines) {
      do {
        _ = try session.run(step)
      } catch let problem as LanguageProblem {
        throw CommandFailure(problem, in: line)
      }
    }
    return AdvisedStatement.all(in: session.recording.statementShapes)
  }
}
