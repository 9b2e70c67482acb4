import Foundation
import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Checks a model for errors, and for parts that will be slow or large.
package enum ModelRules {
  private static var rules: [any ModelRule.Type] {
    [
      InvalidModelRule.self,
      IgnoredElementRule.self,
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
  /// The model doesn't need a store. If it's from one, the store is opened read-only. Cost: linear
  /// in the size of the model; with a store, also one COUNT per hierarchy and one SELECT per binary
  /// attribute.
  ///
  /// - Returns: The findings, in the order of the rules.
  /// - Throws: An `InvalidInputError` if the store is corrupt.
  package static func findings(in found: FoundModel) throws -> [ModelFinding] {
    guard found.origin == .store || found.origin == .tables else {
      return try findings(
        in: CheckedModel(
          model: found.model, problems: found.problems, schema: nil, isGuessed: false, store: nil))
    }
    do {
      let connection = try Connection(path: found.url.path, access: .looking)
      defer { connection.close() }
      return try findings(
        in: CheckedModel(
          model: found.model, problems: found.problems,
          schema: try InspectedSchema(reading: connection), isGuessed: found.origin == .tables,
          store: connection))
    } catch let error as SQLiteError {
      throw InvalidInputError(error, path: found.url.relativePath)
    }
  }

  private static func findings(in checked: CheckedModel) throws -> [ModelFinding] {
    try rules.flatMap { try $0.init().findings(in: checked) }
  }
}
