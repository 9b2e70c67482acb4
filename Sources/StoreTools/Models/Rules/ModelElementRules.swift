import OpenCoreData
import WorkbenchText

/// Finds what keeps a model from being used: the errors of its reader and of its own check.
struct InvalidModelRule: ModelRule {
  static let name = "invalid-model"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.problems.filter { !$0.isWarning }.map { ModelFinding(Self.name, $0) }
  }
}

/// Finds parts of a model that are not used, or otherwise than they say: the warnings of its reader
/// and of its own check.
struct IgnoredElementRule: ModelRule {
  static let name = "ignored-element"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.problems
      .filter { $0.isWarning && !DanglingDestinationRule.isAbout($0, in: checked.model) }
      .map { ModelFinding(Self.name, $0) }
  }
}

/// Finds hierarchies whose one table has many columns that are NULL in most rows.
///
/// All entities of a hierarchy share a table with the columns of all of them; a row of one leaves
/// those of its siblings empty.
struct WideHierarchyRule: ModelRule {
  static let name = "wide-hierarchy"

  /// Fewer columns are never reported.
  private static let leastColumns = 16
  /// The least share of empty values that is reported, in percent.
  private static let leastEmpty = 50

  func findings(in checked: CheckedModel) throws -> [ModelFinding] {
    try checked.hierarchies.compactMap { root, family in
      let columns = Set(family.flatMap(ownColumns)).count
      let concrete = family.filter { !$0.isAbstract }
      guard family.count > 1, columns >= Self.leastColumns, !concrete.isEmpty else { return nil }
      let rows = try checked.rows(of: root)
      let weights = concrete.map { entity in rows.map { $0[entity.name ?? ""] ?? 0 } ?? 1 }
      let total = weights.reduce(0, +)
      guard total > 0 else { return nil }
      let used = zip(concrete, weights).reduce(0) { $0 + columnCount(of: $1.0) * $1.1 }
      let empty = 100 - used * 100 / (columns * total)
      guard empty >= Self.leastEmpty else { return nil }
      let basis =
        rows == nil
        ? "if its entities have equally many rows" : "by the \(NumberText.counted(total, "row"))"
      return finding(
        "The \(family.count) entities of the hierarchy share one table of \(columns) columns, of "
          + "which \(empty) % are NULL in a row on average, \(basis).",
        "Give the subentities that share little no common parent, or move what is seldom set "
          + "to a separate entity, with a to-one relationship.", root)
    }
  }

  private func ownColumns(_ entity: NSEntityDescription) -> [ObjectIdentifier] {
    columns(entity).filter { $0.entity === entity }.map { ObjectIdentifier($0) }
  }

  private func columnCount(of entity: NSEntityDescription) -> Int { columns(entity).count }

  /// The properties of an entity with a column, inherited ones included.
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

/// Finds texts of a model that fail when they are used: predicates of fetch requests, regular
/// expressions, limits that contradict each other.
struct UnusableTextRule: ModelRule {
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
            "The predicate \"\(template.predicateFormat ?? "")\" cannot be used: \(problem).",
            "Write it as NSPredicate takes it, with keys of \(template.entityName).", entity,
            property.name))
      }
    }
    for template in checked.model.fetchRequestTemplates {
      guard let problem = problem(template, names, checked.model) else { continue }
      findings.append(
        finding(
          "The predicate \"\(template.predicateFormat ?? "")\" of the fetch request "
            + "\(template.name) cannot be used: \(problem).",
          "Write it as NSPredicate takes it, with keys of \(template.entityName).", nil))
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
          "No value is at least \(rule.minimum ?? "") and at most \(rule.maximum ?? "").",
          "Turn the limits round: until then every value fails validation.", entity,
          attribute.name))
    }
    if let pattern = rule.pattern, (try? NSRegularExpression(pattern: pattern)) == nil {
      findings.append(
        finding(
          "The regular expression \"\(pattern)\" cannot be read.",
          "Repair it: until then every value fails validation.", entity, attribute.name))
    }
    return findings
  }
}
