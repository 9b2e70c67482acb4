package import Foundation
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
      EditedVersionRule.self,
      TransformerChangeRule.self,
      ExternalStorageChangeRule.self,
    ]
  }

  /// The names of the rules, in the order in which they are applied.
  ///
  /// - Parameter comparing: Whether to include the rules for the change from an earlier version.
  package static func ruleNames(comparing: Bool) -> [String] {
    (comparing ? rules + versionRules : rules).map { $0.name }
  }

  /// Applies all rules.
  ///
  /// The model doesn't need a store. If it's from one, the store is opened read-only. **Cost:**
  /// linear in the size of the model; with a store, also one COUNT per hierarchy and one SELECT per
  /// binary attribute; with an earlier version, also reading the versions of both.
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
      return change == nil ? findings : try positioned(findings, in: found)
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

  /// Adds the positions in a document to the findings of changes.
  private static func positioned(
    _ findings: [ModelFinding], in found: FoundModel
  ) throws -> [ModelFinding] {
    let names = Set(versionRules.map { $0.name })
    guard found.origin == .document, findings.contains(where: { names.contains($0.rule) }) else {
      return findings
    }
    let file = try NSManagedObjectModel.file(of: found.url, version: found.version)
    let positions = try ModelPositions(of: file)
    return findings.map { finding in
      guard names.contains(finding.rule), let entity = finding.error.entity,
        let position = positions.position(entity: entity, member: finding.error.property)
      else { return finding }
      var finding = finding
      finding.error.file = position.file
      finding.error.line = position.line
      finding.error.column = position.column
      finding.error.isWarning = true
      return finding
    }
  }
}

/// A problem of a model: an error, or something that costs more than it needs to.
package struct ModelFinding: Sendable, Hashable {
  /// The name of the rule, such as `missing-inverse`.
  package var rule: String
  /// The problem and the next step, with the entity, the property, and the location in the file.
  package var error: ModelError

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

/// The text and JSON formats of findings about a model.
package enum ModelFindingText {
  /// Returns one line for each finding, and the number of findings.
  ///
  /// - Parameter comparing: Whether the rules for the change from an earlier version were applied.
  package static func lines(
    _ findings: [ModelFinding], in found: FoundModel, comparing: Bool = false
  ) -> [String] {
    let entities = NumberText.counted(found.model.entities.count, "entity", "entities")
    guard !findings.isEmpty else {
      return [
        "No findings: \(entities), \(ModelRules.ruleNames(comparing: comparing).count) rules."
      ]
    }
    return findings.map { "\($0.error) [\($0.rule)]" }
      + ["", "\(NumberText.counted(findings.count, "finding")) in \(entities)."]
  }

  /// Returns one JSON object:
  /// `{"findings": [{"rule", "entity", "property", "message", "nextStep", …}]}`.
  package static func json(_ findings: [ModelFinding]) throws -> Data {
    try JSONOutput.lines(Document(findings: findings.map(Finding.init)))
  }

  private struct Document: Encodable {
    let findings: [Finding]
  }

  private struct Finding: Encodable {
    let rule: String
    let entity: String?
    let property: String?
    let message: String
    let nextStep: String?
    let file: String?
    let line: Int?
    let column: Int?

    init(_ finding: ModelFinding) {
      rule = finding.rule
      entity = finding.error.entity
      property = finding.error.property
      message = finding.error.message
      nextStep = finding.error.nextStep
      file = finding.error.file
      line = finding.error.line
      column = finding.error.column
    }
  }
}

/// The format of a model as a graph in the DOT language of Graphviz.
package enum ModelGraph {
  /// Returns the lines of the graph.
  ///
  /// The graph has a node for each entity with its attributes, an edge for each relationship and
  /// its inverse with their cardinalities, and an edge with a hollow arrowhead from each subentity
  /// to its parent.
  package static func lines(_ model: NSManagedObjectModel) -> [String] {
    let entities = model.entityTree.map(\.entity)
    return [
      "digraph model {",
      "  graph [rankdir=LR];",
      "  node [shape=record, fontname=\"Helvetica\"];",
      "  edge [fontname=\"Helvetica\", fontsize=10];",
    ]
      + entities.map(node)
      + entities.compactMap { entity in
        entity.superentity.map {
          "  \(quoted(entity.name)) -> \(quoted($0.name)) [arrowhead=empty];"
        }
      }
      + entities.flatMap(\.ownRelationships).compactMap(edge) + ["}"]
  }

  private static func node(_ entity: NSEntityDescription) -> String {
    let attributes = entity.ownAttributes.map { attribute in
      escaped("\(attribute.name): \(attribute.attributeType.documentName)")
        + (attribute.isOptional ? "?" : "") + "\\l"
    }
    let name = escaped(entity.name ?? "") + (entity.isAbstract ? " (abstract)" : "")
    return "  \(quoted(entity.name)) [label=\"{\(name)|\(attributes.joined())}\"];"
  }

  /// Returns the edge of a relationship, or `nil` if its inverse, which comes first by entity and
  /// name, has the edge.
  private static func edge(_ relationship: NSRelationshipDescription) -> String? {
    guard let source = relationship.entity, let destination = relationship.destinationEntity else {
      return nil
    }
    let head = count(relationship)
    guard let inverse = relationship.inverseRelationship else {
      return "  \(quoted(source.name)) -> \(quoted(destination.name)) "
        + "[label=\"\(escaped(relationship.name))\", headlabel=\"\(head)\"];"
    }
    guard "\(relationship)" <= "\(inverse)" else { return nil }
    let label =
      inverse === relationship ? relationship.name : "\(relationship.name) / \(inverse.name)"
    return "  \(quoted(source.name)) -> \(quoted(destination.name)) [dir=both, "
      + "label=\"\(escaped(label))\", headlabel=\"\(head)\", taillabel=\"\(count(inverse))\"];"
  }

  private static func count(_ relationship: NSRelationshipDescription) -> String {
    let least = max(relationship.minCount, relationship.isOptional ? 0 : 1)
    guard relationship.isToMany else { return least == 0 ? "0..1" : "1" }
    let most = relationship.maxCount == 0 ? "*" : "\(relationship.maxCount)"
    return least == 0 && most == "*" ? "*" : "\(least)..\(most)"
  }

  private static func quoted(_ name: String?) -> String { "\"\(escaped(name ?? ""))\"" }

  /// Returns a string escaped for use in quotes and in a record's label.
  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      if "\\\"{}|<>".contains(character) { result.append("\\") }
      result.append(character == "\n" ? " " : character)
    }
  }
}

/// The change from an earlier version of a checked model.
struct VersionChange {
  /// A version that exists both earlier and now.
  struct Edit {
    /// The name of the version.
    let version: String
    /// The entities whose version hashes differ, by name.
    let entities: [String]
  }

  let comparison: ModelComparison
  /// The versions of the checked model that differ from those of the same name in an earlier build,
  /// or from that of the store.
  let edits: [Edit]

  /// Compares a model with an earlier version.
  ///
  /// **Cost:** reads the versions of the model that the earlier file also has, or all of them if
  /// it's a store.
  /// - Throws: The errors of a version that can't be read.
  init(from earlier: FoundModel, to found: FoundModel) throws {
    comparison = ModelComparison(from: earlier.model, to: found.model)
    let isFolder = ["xcdatamodeld", "momd"].contains(found.url.pathExtension)
    guard isFolder, earlier.url.standardizedFileURL != found.url.standardizedFileURL else {
      edits = []
      return
    }
    edits =
      earlier.origin == .store
      ? try Self.editedVersion(of: earlier.model, in: found).map { [$0] } ?? []
      : try Self.edits(from: earlier, to: found)
  }

  private static func edits(from earlier: FoundModel, to found: FoundModel) throws -> [Edit] {
    try earlier.versions.filter(found.versions.contains).compactMap { version in
      let before = try NSManagedObjectModel.read(contentsOf: earlier.url, version: version)
      let after = try NSManagedObjectModel.read(contentsOf: found.url, version: version)
      let entities = differing(before, after)
      return entities.isEmpty ? nil : Edit(version: version, entities: entities)
    }
  }

  /// Returns the version that a store most likely has; `nil` if it has one of them unchanged.
  private static func editedVersion(
    of model: NSManagedObjectModel, in found: FoundModel
  ) throws -> Edit? {
    let edits = try found.versions.map { version in
      let candidate = try NSManagedObjectModel.read(contentsOf: found.url, version: version)
      let isNamed = !model.versionIdentifiers.isDisjoint(with: candidate.versionIdentifiers)
      return (
        edit: Edit(version: version, entities: differing(model, candidate)), isNamed: isNamed
      )
    }
    guard !edits.contains(where: { $0.edit.entities.isEmpty }) else { return nil }
    let named = edits.filter(\.isNamed)
    return (named.isEmpty ? edits : named)
      .min { $0.edit.entities.count < $1.edit.entities.count }?.edit
  }

  /// Returns the names of the entities that only one of two models has, or that differ in stored
  /// data.
  private static func differing(
    _ before: NSManagedObjectModel, _ after: NSManagedObjectModel
  ) -> [String] {
    let digests = [before, after].map { model in
      Dictionary(
        model.entities.map { ($0.name ?? "", $0.digest) }, uniquingKeysWith: { first, _ in first })
    }
    return Set(digests[0].keys).union(digests[1].keys)
      .filter { digests[0][$0] != digests[1][$0] }.sorted()
  }
}
