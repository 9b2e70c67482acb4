import ManagedModel

/// The model's validation rules for an entity's objects.
///
/// Created with the entity's layout; the predicates of a model document are built once.
final class ValidationRules: @unchecked Sendable {  // immutable; predicates are not changed
  /// The rule for a slot that is required or bounded, by the slot's index.
  private let slots: [SlotRule?]
  /// The limits of a slot's value, by the slot's index.
  private let limits: [[ValueLimit]]
  /// The rules for to-many relationships, by their index.
  private let toMany: [CountRule?]
  /// The composite attributes, by their index.
  private let composites: [NSCompositeAttributeDescription]
  /// The rules for transient attributes and to-one relationships, by their index.
  private let transients: [TransientRule?]
  /// Whether no to-many relationship, composite attribute, or transient property has a rule.
  let areLimitedToSlots: Bool

  private struct SlotRule {
    let kind: RowSlot.Kind
    let isRequired: Bool
    /// Whether a save computes it, so that only a new object needs a value.
    let isDerived: Bool
    let hasLimits: Bool
  }

  private struct TransientRule {
    let slot: SlotRule
    let limits: [ValueLimit]
    let composite: NSCompositeAttributeDescription?
  }

  private struct CountRule {
    let isOptional: Bool
    let least: Int
    /// 0 for no limit.
    let most: Int
  }

  init(
    slots: [RowSlot], toMany: [NSRelationshipDescription],
    composites: [NSCompositeAttributeDescription], transients: [NSPropertyDescription] = []
  ) {
    self.composites = composites
    self.transients = transients.map(Self.rule)
    let limits = slots.map { slot in
      (slot.property as? NSAttributeDescription).map(ValueLimit.limits) ?? []
    }
    self.limits = limits
    self.slots = slots.map { slot in
      let hasLimits = !limits[slot.index].isEmpty
      let isNarrow = slot.kind.narrowRange != nil
      let isDerived = (slot.property as? NSAttributeDescription)?.isDerived == true
      let isRequired = !slot.property.isOptional
      guard isRequired || hasLimits || isNarrow else { return nil }
      return SlotRule(
        kind: slot.kind, isRequired: isRequired, isDerived: isDerived, hasLimits: hasLimits)
    }
    self.toMany = toMany.map { relationship in
      let isBound =
        !relationship.isOptional || relationship.minCount > 0 || relationship.maxCount > 0
      // Without a destination entity there's no rule.
      guard isBound, relationship.destinationEntity != nil else { return nil }
      return CountRule(
        isOptional: relationship.isOptional,
        least: max(relationship.minCount, relationship.isOptional ? 0 : 1),
        most: relationship.maxCount)
    }
    areLimitedToSlots =
      self.toMany.allSatisfy { $0 == nil } && self.transients.allSatisfy { $0 == nil }
      && !composites.contains(where: \.hasRequiredElement)
  }

  /// Returns the rule for a transient property; `nil` if every value is valid.
  ///
  /// Without a destination entity there's no rule.
  private static func rule(for property: NSPropertyDescription) -> TransientRule? {
    let attribute = property as? NSAttributeDescription
    let destination = (property as? NSRelationshipDescription)?.destinationEntity
    guard attribute != nil || destination != nil else { return nil }
    let kind = attribute.map { RowSlot.Kind($0.attributeType) } ?? .toOne
    let limits = attribute.map(ValueLimit.limits) ?? []
    let composite = attribute as? NSCompositeAttributeDescription
    guard
      !property.isOptional || !limits.isEmpty || kind.integerRange != nil
        || composite?.hasRequiredElement == true
    else { return nil }
    return TransientRule(
      slot: SlotRule(
        kind: kind, isRequired: !property.isOptional, isDerived: false,
        hasLimits: !limits.isEmpty),
      limits: limits, composite: composite)
  }

  /// Whether there's a rule for any property, except transient attributes.
  var isEmpty: Bool {
    slots.allSatisfy { $0 == nil } && toMany.allSatisfy { $0 == nil }
      && composites.allSatisfy { $0.isOptional && !$0.hasRequiredElement }
  }

  /// Returns whether there's a rule for the property at a position.
  func hasRule(at position: PropertyPosition) -> Bool {
    switch position {
    case .slot(let index): slots[index] != nil
    case .toMany(let index): toMany[index] != nil
    case .composite(let index): composites[index].hasRequiredElement
    case .transient(let index): transients.indices.contains(index) && transients[index] != nil
    }
  }

  /// Returns the condition of objects with too few or too many destinations of a to-many
  /// relationship; `nil` if any number is valid.
  func invalidCounts(of index: Int, _ name: String) -> NSPredicate? {
    guard let rule = toMany[index] else { return nil }
    func count(_ type: NSComparisonPredicate.Operator, _ number: Int) -> NSPredicate {
      NSComparisonPredicate(
        leftExpression: NSExpression(forKeyPath: "\(name).@count"),
        rightExpression: NSExpression(forConstantValue: number), modifier: .direct, type: type,
        options: [])
    }
    var conditions: [NSPredicate] = []
    if rule.least > (rule.isOptional ? 1 : 0) { conditions.append(count(.lessThan, rule.least)) }
    if rule.most > 0 { conditions.append(count(.greaterThan, rule.most)) }
    guard !conditions.isEmpty else { return nil }
    let invalid = NSCompoundPredicate(orPredicateWithSubpredicates: conditions)
    guard rule.isOptional else { return invalid }
    return NSCompoundPredicate(andPredicateWithSubpredicates: [invalid, count(.greaterThan, 0)])
  }

  /// Returns whether a slot's value of a realized object is trivially valid.
  ///
  /// Returns `false` if `check` is needed: for missing values, values that are too wide, and slots
  /// with limits.
  @inline(__always)
  func isTriviallyValid(_ slot: RowSlot, of object: NSManagedObject) -> Bool {
    guard let rule = slots[slot.index] else { return true }
    guard !rule.hasLimits, !rule.isDerived else { return false }
    guard let changed = object.values?.changedValue(slot.index) else {
      let row = object.row
      if row.isNull(slot) { return !rule.isRequired }
      return rule.kind.narrowRange?.contains(row.int64(slot)) ?? true
    }
    switch changed.pointee {
    case .null, .raw(.null): return !rule.isRequired
    case .raw(.int64(let number)): return rule.kind.narrowRange?.contains(number) ?? true
    case .raw, .object: return true
    case .none, .value, .string, .transformed, .toMany: return false
    }
  }

  /// Checks one value; a key without rules passes.
  /// - Throws: 1570 for a missing value, 1580 and 1590 for numbers of destinations, 1610 to 1680
  ///   for limits; several violated limits as one 1560.
  func check(_ value: Any?, forKey key: String, of object: NSManagedObject) throws {
    switch object.layout.position(of: key) {
    case .slot(let index):
      if let rule = slots[index] { return try check(value, by: rule, limits[index], key, object) }
      let kind = object.layout.slots[index].kind
      if let value, let failure = widthFailure(value, kind, key, object) { throw failure }
    case .toMany(let index):
      if let rule = toMany[index] { try check(value, by: rule, key, object) }
    case .composite(let index): try check(value, by: composites[index], object)
    case .transient(let index):
      guard transients.indices.contains(index), let rule = transients[index] else { return }
      if let composite = rule.composite { return try check(value, by: composite, object) }
      try check(value, by: rule.slot, rule.limits, key, object)
    case nil: break
    }
  }

  /// Checks that a required composite is present, and has its required elements.
  private func check(
    _ value: Any?, by composite: NSCompositeAttributeDescription, _ object: NSManagedObject
  ) throws {
    var missing: [String] = []
    if let values = value as? [String: Any], !values.isEmpty {
      missing = composite.missingPaths(in: values)
    } else if !composite.isOptional {
      missing = [composite.name]
    }
    try NSError.throwValidation(
      missing.map { path in
        NSError.validation(
          NSValidationMissingMandatoryPropertyError, object: object, key: path, value: nil,
          message: "\(path) is a required value.")
      })
  }

  private func check(
    _ value: Any?, by rule: SlotRule, _ limits: [ValueLimit], _ key: String,
    _ object: NSManagedObject
  ) throws {
    guard let value, type(of: value) != NSNull.self else {
      guard rule.isRequired, !rule.isDerived || object.isInserted else { return }
      throw NSError.validation(
        NSValidationMissingMandatoryPropertyError, object: object, key: key, value: nil,
        message: "\(key) is a required value.")
    }
    if let failure = widthFailure(value, rule.kind, key, object) { throw failure }
    let failures = limits.filter { !$0.allows(value) }.map { limit in
      NSError.validation(
        limit.code, object: object, key: key, value: value, predicate: limit.predicate,
        message: limit.message ?? "\(key) is \(value), but it must satisfy \(limit.predicate).")
    }
    try NSError.throwValidation(failures)
  }

  /// Returns the number of destinations in a value that a to-many relationship can be set to.
  private static func count(of value: Any?) -> Int {
    guard let value else { return 0 }
    // Foundation converts a proxy, or any other subclass of `NSSet`, to an empty Swift set.
    if type(of: value) is AnyClass, let set = value as? NSSet { return set.count }
    if let set = value as? Set<NSManagedObject> { return set.count }
    return (value as? NSOrderedSet)?.count ?? (value as? [NSManagedObject])?.count ?? 0
  }

  /// Returns the error for a number that doesn't fit its integer attribute's type.
  private func widthFailure(
    _ value: Any, _ kind: RowSlot.Kind, _ key: String, _ object: NSManagedObject
  ) -> NSError? {
    let type = type(of: value)
    switch kind {
    case .int16: if type == Int16.self { return nil }
    case .int32: if type == Int32.self { return nil }
    case .int64: if type == Int64.self { return nil }
    default: return nil
    }
    guard let range = kind.integerRange else { return nil }
    let isTooLarge: Bool
    switch RowValue(value, kind: kind) {
    case .int64(let number)?:
      if range.contains(number) { return nil }
      isTooLarge = number > 0
    case nil:
      let number = PredicateValue(value)
      guard number.truncatedInteger == nil, let nearest = number.nearestDouble else { return nil }
      isTooLarge = !(nearest < 0)
    default: return nil
    }
    return NSError.validation(
      isTooLarge ? NSValidationNumberTooLargeError : NSValidationNumberTooSmallError,
      object: object, key: key, value: value,
      message:
        "\(key) is \(value), but its type's range is \(range.lowerBound) to \(range.upperBound).")
  }

  private func check(
    _ value: Any?, by rule: CountRule, _ key: String, _ object: NSManagedObject
  ) throws {
    let count = Self.count(of: value)
    if count == 0, rule.isOptional { return }
    if count < rule.least {
      throw NSError.validation(
        NSValidationRelationshipLacksMinimumCountError, object: object, key: key, value: value,
        message: "\(key) has \(PluralForm.counted(count, "object")), but needs at least "
          + "\(rule.least).")
    }
    if rule.most > 0, count > rule.most {
      throw NSError.validation(
        NSValidationRelationshipExceedsMaximumCountError, object: object, key: key, value: value,
        message:
          "\(key) has \(PluralForm.counted(count, "object")), but allows \(rule.most) at "
          + "most.")
    }
  }
}

extension RowSlot.Kind {
  /// The integers that fit a type that is narrower than a column.
  fileprivate var narrowRange: ClosedRange<Int64>? {
    switch self {
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int32: Int64(Int32.min)...Int64(Int32.max)
    default: nil
    }
  }

  /// The integers that fit an integer type.
  fileprivate var integerRange: ClosedRange<Int64>? {
    self == .int64 ? .min ... .max : narrowRange
  }
}

/// A predicate that an attribute's values must satisfy, with the message if one doesn't.
struct ValueLimit {
  let predicate: NSPredicate
  /// From 1550 to 1680: the warning if it's a number, 1550 if it's a string, otherwise derived from
  /// the predicate.
  let code: Int
  /// The model's own message; `nil` for the framework's.
  let message: String?

  /// Returns the limits of an attribute, from its model document or set in code.
  static func limits(of attribute: NSAttributeDescription) -> [ValueLimit] {
    let warnings = attribute.validationWarnings
    return attribute.validationPredicates.enumerated().map { index, predicate in
      let warning = warnings.indices.contains(index) ? warnings[index] : nil
      let code = (warning as? Int) ?? (warning as? NSNumber)?.intValue
      let message = warning as? String
      return ValueLimit(
        predicate: predicate,
        code: code
          ?? (message == nil
            ? ValueLimit.code(predicate, attribute.attributeType) : NSManagedObjectValidationError),
        message: message)
    }
  }

  /// Returns whether a value satisfies the predicate; one that can't be evaluated isn't satisfied.
  func allows(_ value: Any) -> Bool {
    (try? predicate.evaluation(of: value)) ?? false
  }

  /// Returns the code for a bound's direction and the type of the values.
  private static func code(_ predicate: NSPredicate, _ type: NSAttributeType) -> Int {
    guard let comparison = predicate as? NSComparisonPredicate else {
      return NSManagedObjectValidationError
    }
    switch comparison.predicateOperatorType {
    case .greaterThan, .greaterThanOrEqualTo:
      return bound(
        type, number: NSValidationNumberTooSmallError, date: NSValidationDateTooSoonError,
        string: NSValidationStringTooShortError)
    case .lessThan, .lessThanOrEqualTo:
      return bound(
        type, number: NSValidationNumberTooLargeError, date: NSValidationDateTooLateError,
        string: NSValidationStringTooLongError)
    case .matches: return NSValidationStringPatternMatchingError
    default: return NSManagedObjectValidationError
    }
  }

  private static func bound(_ type: NSAttributeType, number: Int, date: Int, string: Int) -> Int {
    switch type {
    case .dateAttributeType: date
    case .stringAttributeType: string
    default: number
    }
  }
}
