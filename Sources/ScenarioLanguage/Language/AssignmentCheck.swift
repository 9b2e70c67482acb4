import OpenCoreData
import WorkbenchText

/// Holds a property and its value, as a step gives them, against the model.
struct AssignmentCheck {
  let names: ModelNames
  let entity: NSEntityDescription
  let held: [String: HeldShape]
  let verb: Verb

  /// - Throws: a problem at the key when it cannot be set, at the value when it does not fit.
  func check(
    _ assignment: Assignment, keyAt keyPlace: SourcePlace, valueAt valuePlace: SourcePlace
  ) throws(LanguageProblem) {
    let property = try names.property(assignment.key, of: entity, at: keyPlace)
    guard verb != .relate || (property as? NSRelationshipDescription)?.isToMany == true else {
      throw LanguageProblem(
        "`\(assignment.key)` is no to-many relationship", at: keyPlace,
        nextStep: "write `set` for attributes and to-one relationships")
    }
    if let attribute = property as? NSAttributeDescription {
      try check(assignment, attribute, keyPlace, valuePlace)
    } else if let relationship = property as? NSRelationshipDescription {
      try check(assignment, relationship, keyPlace, valuePlace)
    }
  }

  private func check(
    _ assignment: Assignment, _ attribute: NSAttributeDescription, _ keyPlace: SourcePlace,
    _ valuePlace: SourcePlace
  ) throws(LanguageProblem) {
    guard !attribute.isDerived else {
      throw LanguageProblem(
        "`\(assignment.key)` is derived and cannot be set", at: keyPlace,
        nextStep: "set what it is derived from")
    }
    let literal = AttributeLiteral(attribute.attributeType)
    guard literal.accepts(assignment.value) else {
      throw LanguageProblem(
        "`\(assignment.value)` is no \(literal.typeName), which `\(assignment.key)` is",
        at: valuePlace, nextStep: "write for example `\(assignment.key) \(literal.example)`")
    }
  }

  private func check(
    _ assignment: Assignment, _ relationship: NSRelationshipDescription, _ keyPlace: SourcePlace,
    _ valuePlace: SourcePlace
  ) throws(LanguageProblem) {
    guard verb != .batchInsert, verb != .batchUpdate else {
      throw LanguageProblem(
        "`\(assignment.key)` is a relationship, and a batch request sets attributes alone",
        at: keyPlace, nextStep: "leave it out, or use `insert`, `set` and `save`")
    }
    guard verb == .relate || !relationship.isToMany else {
      throw LanguageProblem(
        "`\(assignment.key)` is a to-many relationship", at: keyPlace,
        nextStep: "use `relate`, or set its inverse on the other side")
    }
    guard verb == .relate || !AttributeLiteral.isNil(assignment.value) else { return }
    guard let shape = held[assignment.value], shape.hasObjects else {
      throw LanguageProblem(
        "no result of objects is named `\(assignment.value)`", at: valuePlace,
        didYouMean: NearestName.of(assignment.value, among: held.keys.sorted()),
        nextStep: "fetch or insert them first, with `as \(assignment.value)`, or write nil")
    }
    guard let destination = relationship.destinationEntity,
      let entity = names.model.entitiesByName[shape.entity], entity.isKind(of: destination)
    else {
      throw LanguageProblem(
        "`\(assignment.key)` points to \(relationship.destinationEntity?.name ?? "nothing"), and "
          + "`\(assignment.value)` holds \(shape.entity)",
        at: valuePlace, nextStep: "give it a result of the right entity")
    }
  }
}
