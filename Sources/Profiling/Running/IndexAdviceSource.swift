package import Foundation
import OpenCoreData
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

  /// Runs steps on a read-only store, and returns index advice for their statements.
  ///
  /// - Parameters:
  ///   - url: The store file.
  ///   - lines: The steps, as shell lines.
  ///   - sql: Additional SELECT statements, such as from a log.
  /// - Throws: An `InvalidInputError`; a `CommandFailure` if a step can't be parsed or a statement
  ///   isn't a SELECT; a `StepFailure`; or a `SQLiteError`.
  package static func advice(
    forStore url: URL, lines: [String], sql: [String] = []
  ) throws -> IndexAdvice {
    try InvalidInputError.check(url)
    do {
      return try advice(forCheckedStore: url, lines: lines, sql: sql)
    } catch let error as SQLiteError {
      throw InvalidInputError(error, path: url.relativePath)
    }
  }

  private static func advice(
    forCheckedStore url: URL, lines: [String], sql: [String]
  ) throws -> IndexAdvice {
    var statements = sql.map { AdvisedStatement(sql: $0, count: 1) }
    for statement in statements where !statement.reads {
      throw CommandFailure(
        "indexes are tried only for SELECT statements, not for: \(statement.sql)",
        nextStep: "pass the SELECT, or run a step that executes it")
    }
    if !lines.isEmpty {
      let session = try Session(storeURL: url, model: nil, readOnly: true)
      for (index, line) in lines.enumerated() {
        do {
          _ = try session.run(try ShellLine.parse(line, number: index + 1))
        } catch let problem as LanguageProblem {
          throw CommandFailure(problem, in: line)
        } catch let error as LineError {
          throw CommandFailure(error.problem, in: line)
        }
      }
      statements += AdvisedStatement.all(in: session.recording.statementShapes)
    }
    return try IndexAdvisor(storeURL: url).advice(on: statements)
  }
}
