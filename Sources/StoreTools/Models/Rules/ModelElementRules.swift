import OpenCoreData
import WorkbenchText

/// Finds errors that prevent a model from being used, which its reader and its validation reported.
struct InvalidModelRule: ModelRule {
  static let name = "invalid-model"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.problems.filter { !$0.isWarning }.map { ModelFinding(Self.name, $0) }
  }
}

/// Finds parts of a model that are ignored or interpreted differently, which are the warnings of
/// its reader and its validation.
struct IgnoredElementRule: ModelRule {
  static let name = "ignored-element"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.problems
      .filter { $0.isWarning && !DanglingDestinationRule.isAbout($0, in: checked.model) }
      .map { ModelFinding(Self.name, $0) }
  }
}

/// Finds hierarchies whose table has many columns that are NULL in most rows.
///
/// All entities of a hierarchy share one table, which has the columns of all of them. In a row of
/// one entity, the columns of its siblings are NULL.
struct WideHierarchyRule: ModelRule {
  static let name = "wide-hierarchy"

  /// The minimum number of columns.
  private static let minimumColumns = 16
  /// The minimum percentage of NULL values.
  private static let minimumEmptyPercentage = 50

  func findings(in checked: CheckedModel) throws -> [ModelFinding] {
    try checked.hierarchies.compactMap { root, family in
      let columns = Set(family.flatMap(ownColumns)).count
      let concrete = family.filter { !$0.isAbstract }
      guard family.count > 1, columns >= Self.minimumColumns, !concrete.isEmpty else { return nil }
      let rows = try checked.rows(of: root)
      let weights = concrete.map { entity in rows.map { $0[entity.name ?? ""] ?? 0 } ?? 1 }
      let total = weights.reduce(0, +)
      guard total > 0 else { return nil }
      let used = zip(concrete, weights).reduce(0) { $0 + columnCount(of: $1.0) * $1.1 }
      let empty = 100 - used * 100 / (columns * total)
      guard empty >= Self.minimumEmptyPercentage else { return nil }
      let basis =
        rows == nil
        ? "assuming equal row counts" : "based on \(NumberText.counted(total, "row"))"
      return finding(
        "The \(family.count) entities of the hierarchy share one table with \(columns) columns, of "
          + "which \(empty)% are NULL in an average row, \(basis).",
        "Remove the common parent of subentities that share few properties, or move properties that "
          + "are rarely set to a separate entity with a to-one relationship.", root)
    }
  }

  private func ownColumns(_ entity: NSEntityDescription) -> [ObjectIdentifier] {
    columns(entity).filter { $0.entity === entity }.map { ObjectIdentifier($0) }
  }

  private func columnCount(of entity: NSEntityDescription) -> Int { columns(entity).count }

  /// Returns the properties of an entity that have a column, including inherited ones.
  private func columns(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
    entity.properties.filter { property in
      guard !property.isTransient else { return false }
      if let relationship = property as? NSRelationshipDescription {
        return !relationship.isToMany
      }
      return property is NSAttributeDescription
    }
  }
}

/// Finds expressions that fail when they're used: predicates of fetch requests, regular
/// expressions, and contradictory limits.
struct InvalidExpressionRule: ModelRule {
  static let name = "invalid-expression"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    let names = ModelNames(checked.model)
    var findings: [ModelFinding] = []
    for (_, entity) in checked.model.entityTree {
      for attribute in entity.ownAttributes {
        findings += self.findings(attribute, of: entity)
      }
      for case let property as NSFetchedPropertyDescription in entity.properties
      where property.entity === entity {
        guard let template = property.template,
          let problem = problem(template, names, checked.model)
        else { continue }
        findings.append(
          finding(
            "The predicate \"\(template.predicateFormat ?? "")\" can't be used: \(problem).",
            "Use a valid NSPredicate format with keys of \(template.entityName).", entity,
            property.name))
      }
    }
    for template in checked.model.fetchRequestTemplates {
      guard let problem = problem(template, names, checked.model) else { continue }
      var found = finding(
        "The predicate \"\(template.predicateFormat ?? "")\" of the fetch request "
          + "\(template.name) can't be used: \(problem).",
        "Use a valid NSPredicate format with keys of \(template.entityName).", nil)
      found.fetchRequest = template.name
      findings.append(found)
    }
    return findings
  }

  private func problem(
    _ template: FetchRequestTemplate, _ names: ModelNames, _ model: NSManagedObjectModel
  ) -> String? {
    guard let format = template.predicateFormat,
      let entity = model.entitiesByName[template.entityName]
    else { return nil }
    do {
      try PredicateCheck(names: names, entity: entity, givesVariables: true)
        .check(format, at: nil)
      return nil
    } catch {
      return error.message
    }
  }

  private func findings(
    _ attribute: NSAttributeDescription, of entity: NSEntityDescription
  ) -> [ModelFinding] {
    var findings: [ModelFinding] = []
    let rule = attribute.valueRule
    if let least = rule.minimum.flatMap(Double.init), let most = rule.maximum.flatMap(Double.init),
      least > most
    {
      findings.append(
        finding(
          "The minimum, \(rule.minimum ?? ""), is greater than the maximum, \(rule.maximum ?? "").",
          "Swap the limits; until then, every value fails validation.", entity,
          attribute.name))
    }
    if attribute.attributeType == .stringAttributeType, let pattern = rule.pattern,
      (try? NSRegularExpression(pattern: pattern)) == nil
    {
      findings.append(
        finding(
          "The regular expression \"\(pattern)\" is invalid.",
          "Correct it; until then, every value fails validation.", entity, attribute.name))
    }
    return findings
  }
}
