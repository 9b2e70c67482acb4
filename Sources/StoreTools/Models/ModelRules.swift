import Foundation
package import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Checks a model for errors, and for parts that will be slow or large.
package enum ModelRules {
  private static var rules: [any ModelRule.Type] {
    [
      InvalidModelRule.self,
      IgnoredElementRule.self,
      InvalidExpressionRule.self,
      DanglingDestinationRule.self,
      MissingInverseRule.self,
      MissingColumnRule.self,
      PrefixIndexRule.self,
      OneWayJoinTableRule.self,
      WideHierarchyRule.self,
      LargeInlineBinaryRule.self,
    ]
  }

  /// The rules for the change from an earlier version.
  private static var versionRules: [any ModelRule.Type] {
    [
      MissingRenamingIdentifierRule.self,
      RequiredWithoutDefaultRule.self,
      RequiredRelationshipRule.self,
      NewConstraintRule.self,
      UnmigratedIndexRule.self,
      UnmigratedDerivationRule.self,
      EditedVersionRule.self,
      TransformerChangeRule.self,
      ExternalStorageChangeRule.self,
    ]
  }

  /// Returns the names of the rules, in the order in which they are applied.
  ///
  /// - Parameter comparing: Whether to include the rules for the change from an earlier version.
  package static func ruleNames(comparing: Bool) -> [String] {
    (comparing ? rules + versionRules : rules).map { $0.name }
  }

  /// Applies all rules.
  ///
  /// The model doesn't need a store. If it's from one, the store is opened read-only. **Cost:**
  /// linear in the size of the model; with a store, also one COUNT per hierarchy and one SELECT per
  /// binary attribute; with an earlier version, also reading the versions of both; for a document
  /// with findings, also another read of it.
  ///
  /// - Parameters:
  ///   - found: The model.
  ///   - earlier: An earlier version, whose change to the model is checked too; `nil` for none.
  /// - Returns: The findings, in the order of the rules.
  /// - Throws: An `InvalidInputError` if the store is corrupt; the errors of a version that can't
  ///   be read.
  package static func findings(
    in found: FoundModel, from earlier: FoundModel? = nil
  ) throws -> [ModelFinding] {
    let change = try earlier.map { try VersionChange(from: $0, to: found) }
    guard found.origin == .store || found.origin == .tables else {
      let findings = try findings(
        in: CheckedModel(
          model: found.model, problems: found.problems, schema: nil, isInferred: false, store: nil,
          change: change))
      return try positioned(findings, in: found)
    }
    do {
      let connection = try Connection(path: found.url.path, access: .inspecting)
      defer { connection.close() }
      return try findings(
        in: CheckedModel(
          model: found.model, problems: found.problems,
          schema: try InspectedSchema(reading: connection), isInferred: found.origin == .tables,
          store: connection, change: change))
    } catch let error as SQLiteError {
      throw InvalidInputError(error, path: found.url.relativePath)
    }
  }

  private static func findings(in checked: CheckedModel) throws -> [ModelFinding] {
    try (checked.change == nil ? rules : rules + versionRules)
      .flatMap { try $0.init().findings(in: checked) }
  }

  /// Adds the positions in a document to the findings that have none.
  private static func positioned(
    _ findings: [ModelFinding], in found: FoundModel
  ) throws -> [ModelFinding] {
    guard found.origin == .document, findings.contains(where: { $0.error.line == nil }) else {
      return findings
    }
    let file = try NSManagedObjectModel.file(of: found.url, version: found.version)
    let positions = try ModelPositions(of: file)
    return findings.map { finding in
      guard finding.error.line == nil, let found = Self.position(of: finding, positions) else {
        return finding
      }
      var finding = finding
      finding.error.file = found.file
      finding.error.line = found.line
      finding.error.column = found.column
      finding.error.isWarning = finding.rule != InvalidModelRule.name
      return finding
    }
  }

  private static func position(
    of finding: ModelFinding, _ positions: ModelPositions
  ) -> (file: String, line: Int, column: Int)? {
    if let request = finding.fetchRequest { return positions.position(fetchRequest: request) }
    return finding.error.entity.flatMap { entity in
      positions.position(entity: entity, member: finding.error.property)
    }
  }
}

/// A problem of a model: an error, or something that costs more than it needs to.
package struct ModelFinding: Sendable, Hashable {
  /// The name of the rule, such as `missing-inverse`.
  package var rule: String
  /// The problem and the next step, with the entity, the property, and the location in the file.
  package var error: ModelError
  /// The affected fetch request of the model.
  var fetchRequest: String?

  /// Creates a finding.
  ///
  /// - Parameters:
  ///   - rule: The name of the rule.
  ///   - message: The description of the problem, as one sentence.
  ///   - nextStep: The next step for the user, as one sentence.
  ///   - entity: The affected entity.
  ///   - property: The affected property.
  init(
    _ rule: String, _ message: String, _ nextStep: String, entity: NSEntityDescription?,
    property: String? = nil
  ) {
    self.rule = rule
    error = ModelError(message, nextStep: nextStep, entity: entity?.name, property: property)
  }

  /// Creates a finding for a problem that the model's reader or its validation reported.
  init(_ rule: String, _ error: ModelError) {
    self.rule = rule
    self.error = error
  }
}

/// A rule of `cdprof model --check`.
protocol ModelRule {
  /// The name of the rule, in lowercase with hyphens.
  static var name: String { get }

  init()

  /// Returns the findings of the rule, sorted by the names of the entities.
  func findings(in checked: CheckedModel) throws -> [ModelFinding]
}

extension ModelRule {
  /// Returns a finding of this rule.
  func finding(
    _ message: String, _ nextStep: String, _ entity: NSEntityDescription?,
    _ property: String? = nil
  ) -> ModelFinding {
    ModelFinding(Self.name, message, nextStep, entity: entity, property: property)
  }
}
