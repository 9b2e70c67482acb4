import ManagedModel

/// Swift's own predicate, `#Predicate<Mood> { … }`, as an `NSPredicate`.
///
/// In memory Swift evaluates it. A fetch translates it for its entity.
final class SwiftPredicate: NSPredicate, @unchecked Sendable {  // all state is constant
  private let evaluation: @Sendable (Any?) -> Bool
  private let translation: @Sendable (NSEntityDescription) throws -> NSPredicate
  private let text: String

  init<Object: NSManagedObject>(_ predicate: Foundation.Predicate<Object>) {
    text = "\(predicate)"
    evaluation = { object in
      guard let object = object as? Object else { return false }
      do {
        return try predicate.evaluate(object)
      } catch {
        preconditionFailure("\(predicate) has no answer for \(object): \(error)")
      }
    }
    translation = { entity in
      var translation = SwiftPredicateTranslation(SwiftKeyNames(entity))
      return try translation.translate(predicate)
    }
    super.init()
  }

  required init?(coder: NSCoder) { nil }

  override var predicateFormat: String { text }

  override func evaluate(
    with object: Any?, substitutionVariables bindings: [String: Any]?
  ) -> Bool {
    evaluation(object)
  }

  override func withSubstitutionVariables(_ variables: [String: Any]) -> Self { self }

  /// The same with key paths by name, for objects of an entity.
  func translated(for entity: NSEntityDescription) throws -> NSPredicate {
    try translation(entity)
  }
}

extension PredicateFormatInitializable {
  /// Takes Swift's own predicate, for a fetch or for memory.
  ///
  /// A fetch translates it when it is executed; a part that has no counterpart is then an error that
  /// names the operator. What `!=` finds in SQL differs for nil, as with any predicate. Traps when
  /// made as a subclass of `NSPredicate`. Apple counterpart: the same, which gives nil for what it
  /// cannot translate.
  public init<Object: NSManagedObject>(_ predicate: Foundation.Predicate<Object>) {
    guard let made = SwiftPredicate(predicate) as? Self else {
      preconditionFailure("a Swift predicate is no \(Self.self): make an NSPredicate of it")
    }
    self = made
  }
}

extension NSPredicate {
  /// The predicate with Swift's own predicates in it translated for an entity.
  ///
  /// Itself where there is none.
  func withoutSwiftPredicates(for entity: NSEntityDescription) throws -> NSPredicate {
    switch form {
    case .unknown: return try (self as? SwiftPredicate)?.translated(for: entity) ?? self
    case .compound(let type, let parts):
      let translated = try parts.map { try $0.withoutSwiftPredicates(for: entity) }
      return zip(parts, translated).allSatisfy { $0 === $1 }
        ? self : NSCompoundPredicate(type: type, subpredicates: translated)
    case .comparison, .constant, .block: return self
    }
  }
}
