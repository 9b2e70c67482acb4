extension NSPropertyDescription {
  /// The predicates that a value must satisfy when an object is saved; the value is `SELF`.
  ///
  /// They are those that were set, or else those that follow from the limits in the model document:
  /// least and greatest value or length, and pattern. Made at each call unless set.
  public final var validationPredicates: [NSPredicate] {
    if let explicitValidation { return explicitValidation.predicates }
    let type = (self as? NSAttributeDescription)?.attributeType ?? .undefinedAttributeType
    return valueRule.predicates(for: type)
  }

  /// What is said when the predicate at the same place in `validationPredicates` fails.
  ///
  /// Texts or error codes. Empty unless set.
  public final var validationWarnings: [Any] { explicitValidation?.warnings ?? [] }

  /// Sets the predicates that a value must satisfy and what is said when they fail.
  ///
  /// Traps when the lists differ in length or the model is in use. A compiled model and the model in
  /// a store do not keep them.
  ///
  /// - Parameters:
  ///   - predicates: Predicates about `SELF`, or nil for none.
  ///   - warnings: A text or an error code for each predicate.
  public final func setValidationPredicates(
    _ predicates: [NSPredicate]?, withValidationWarnings warnings: [Any]?
  ) {
    let predicates = predicates ?? []
    let warnings = warnings ?? []
    guard predicates.count == warnings.count else {
      preconditionFailure(
        "The property \(name) has "
          + "\(PluralForm.counted(predicates.count, "validation predicate")) and "
          + "\(PluralForm.counted(warnings.count, "warning")). Give a warning for each.")
    }
    explicitValidation = (predicates, warnings)
  }
}
