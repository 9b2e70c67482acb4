import ArgumentParser
import Foundation
import OpenCoreData
import Profiling
import SQLiteDriver
import StatementAnalysis
import StoreTools
import WorkbenchText

/// `cdprof predicate`: explains a predicate and prints the SQL it's translated to.
struct Predicate: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Explain a predicate: canonical form, tree, SQL, bound values, and query plan.",
    discussion: """
      The argument is an NSPredicate format; `%@` and other placeholders aren't substituted. \
      SQL requires an entity and a model, from --model or from the store of --plan. The store \
      isn't modified.

      Exit status: 65 if the predicate can't be parsed, names an unknown property, or can't be \
      translated to SQL, or if the store of --plan lacks a table or column of the model.
      """)

  @Argument(help: ArgumentHelp("The predicate, in NSPredicate's format.", valueName: "format"))
  var format: String

  @Option(
    help: ArgumentHelp(
      "A model (.xcdatamodel, .xcdatamodeld, .mom, .momd), or a store that contains one.",
      valueName: "model"), completion: .models)
  var model: String?

  @Option(
    help: ArgumentHelp("The entity to fetch.", valueName: "entity"), completion: .entities)
  var entity: String?

  @ArgumentParser.Flag(help: "Print only the SQL and its bound values.")
  var sql = false

  @ArgumentParser.Flag(help: "Print only the tree.")
  var tree = false

  @Option(
    help: ArgumentHelp(
      "A store; prints the query plan that SQLite would use in it.", valueName: "store"),
    completion: .stores)
  var plan: String?

  func validate() throws {
    if entity == nil, model != nil || plan != nil || sql {
      throw ValidationError("SQL requires an entity: add --entity.")
    }
    if entity != nil, model == nil, plan == nil {
      throw ValidationError("--entity requires a model: add --model, or --plan with a store.")
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let explanation = try explanation(console)
    let plan = try planLines(of: explanation)
    var parts: PredicateText.Parts = []
    if sql { parts.formUnion([.sql, .binds]) }
    if tree { parts.insert(.tree) }
    console.write(PredicateText.lines(explanation, parts.isEmpty ? .all : parts))
    console.write(plan)
    return .success
  }

  /// Returns the SELECT's plan and its assessment; nothing without a SELECT or without `--plan`.
  private func planLines(of explanation: PredicateExplanation) throws -> [String] {
    guard let plan, let statement = explanation.statement else { return [] }
    let reader = try PlanReader(storeURL: URL(fileURLWithPath: plan))
    let lines: [String]
    do {
      lines = try reader.plan(of: statement.sql).lines
    } catch {
      guard error.code.primary == .error else { throw InvalidInputError(error, path: plan) }
      throw InvalidInputError(
        kind: .unusable, message: "\(plan) isn't a store of this model: \(error.message)",
        nextStep: "specify a store and its own model, or check the store with `cdprof doctor`")
    }
    return PredicateText.lines(plan: lines, of: explanation, present: reader.present)
  }

  private func explanation(_ console: Console) throws -> PredicateExplanation {
    guard let entity else { return try PredicateExplanation(format) }
    // An error in the format is reported before one in a file.
    _ = try PredicateExplanation(format)
    if let plan { try InvalidInputError.check(URL(fileURLWithPath: plan)) }
    let path = model ?? plan ?? ""
    let found = try FoundModel(path: path)
    console.warn(of: found.model, path: path)
    console.warnOfGuesses(in: found)
    return try PredicateExplanation(
      format, entity: entity, model: found.model, mapping: mapping(of: found.model))
  }

  /// Returns a model mapped to the tables of the store of `--plan`; `nil` if it doesn't match them,
  /// or there's no store.
  private func mapping(of model: NSManagedObjectModel) throws -> SQLModel? {
    guard let plan else { return nil }
    let url = URL(fileURLWithPath: plan)
    let configuration = try? model.configuration(ofStoreAt: url)
    do {
      let connection = try StoreConnection.open(path: url.path, access: .inspecting)
      defer { connection.close() }
      return try SQLModel(model: model, configuration: configuration, connection: connection)
    } catch let error as SQLiteError {
      throw InvalidInputError(error, path: plan)
    } catch {
      // The query plan names what the store lacks.
      return nil
    }
  }
}
