import Foundation
import OpenCoreData
import WorkbenchText

/// Finds texts of a model that fail when they are used: predicates of fetch requests, regular
/// expressions, limits that contradict each other.
struct UnusableTextRule: ModelRule {
  static let name = "unusable-text"

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
