import Foundation
import OpenCoreData
import SQLiteDriver

/// Looks for what is wrong with a model, and for what will be slow or large.
package enum ModelRules {
  private static var rules: [any ModelRule.Type] {
    [
      UnsoundModelRule.self,
      DoubtfulPartRule.self,
      UnusableTextRule.self,
      DanglingDestinationRule.self,
      MissingInverseRule.self,
      PrefixIndexRule.self,
      OneWayJoinTableRule.self,
      WideHierarchyRule.self,
      LargeInlineBinaryRule.self,
    ]
  }

  /// The names of the rules, in the order in which they are applied.
  package static var ruleNames: [String] { rules.map { $0.name } }

  /// Applies all rules.
  ///
  /// Cost: for a model alone, its tables are made in memory; with a store one COUNT a hierarchy and
  /// one SELECT for each attribute of bytes. The store is only looked at.
  /// - Returns: What was found, rule by rule.
  /// - Throws: `InputRefusal` for a store that is damaged.
  package static func findings(in found: FoundModel) throws -> [ModelFinding] {
    let connection: Connection
    let isStore = found.origin == .store || found.origin == .tables
    var schema: InspectedSchema?
    do {
      connection = try Connection(
        path: isStore ? found.url.path : ":memory:", access: isStore ? .looking : .writing)
      if isStore {
        schema = try InspectedSchema(reading: connection)
      } else if let statements = try? found.model.creationStatements() {
        for statement in statements { try connection.execute(statement) }
        schema = try InspectedSchema(reading: connection)
      }
    } catch {
      throw InputRefusal(error, path: found.url.relativePath)
    }
    defer { connection.close() }
    let checked = CheckedModel(
      model: found.model, problems: found.problems, schema: schema,
      isGuessed: found.origin == .tables, store: isStore ? connection : nil)
    do {
      return try rules.flatMap { try $0.init().findings(in: checked) }
    } catch let error as SQLiteError {
      throw InputRefusal(error, path: found.url.relativePath)
    }
  }
}
