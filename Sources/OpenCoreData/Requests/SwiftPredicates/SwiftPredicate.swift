import ManagedModel

/// A Swift predicate, `#Predicate<Mood> { … }`, as an `NSPredicate`.
///
/// In memory, Swift evaluates it. A fetch translates it for its entity.
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

  /// Returns the predicate with key paths by name, for objects of an entity.
  func translated(for entity: NSEntityDescription) throws -> NSPredicate {
    try translation(entity)
  }
}

extension PredicateFormatInitializable {
  /// Creates a predicate from a Swift predicate, for fetches and evaluation in memory.
  ///
  /// A fetch translates it when it's executed; a part without a counterpart is then an error that
  /// names the operator. In SQL, `!=` differs for nil, as with any predicate. It's a programmer error
  /// to call it for a subclass of `NSPredicate`. Apple counterpart: the same, which returns nil if it
  /// can't translate the predicate.
  public init<Object: NSManagedObject>(_ predicate: Foundation.Predicate<Object>) {
    guard let made = SwiftPredicate(predicate) as? Self else {
      preconditionFailure("a Swift predicate isn't a \(Self.self): make an NSPredicate of it")
    }
    self = made
  }
}

extension NSPredicate {
  /// Returns the predicate with its Swift predicates translated for an entity.
  ///
  /// Returns itself if it contains none.
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

extension NSFetchRequest where ResultType: NSManagedObject {
  /// Sets Swift sort descriptors: `[SortDescriptor(\Mood.date, order: .reverse)]`.
  ///
  /// Their key paths become names when the request is executed; one that isn't a property of the
  /// entity is then an error. Strings are compared bytewise. Replaces `sortDescriptors`.
  public func setSortDescriptors(_ descriptors: [SortDescriptor<ResultType>]) {
    swiftSort = { entity in
      let names = SwiftKeyNames(entity)
      return try descriptors.map { descriptor in
        guard let keyPath = descriptor.keyPath else {
          throw NSError.fetch("A SortDescriptor without a key path cannot order a fetch.")
        }
        let name = try names.name(of: keyPath, in: ResultType.self)
        return NSSortDescriptor(key: name, ascending: descriptor.order == .forward)
      }
    }
  }

  /// Sets a Swift predicate: `request.setPredicate(#Predicate<Mood> { … })`.
  ///
  /// The same as setting `predicate` to an `NSPredicate` created from it.
  public func setPredicate(_ predicate: Foundation.Predicate<ResultType>) {
    self.predicate = NSPredicate(predicate)
  }
}

extension NSSortDescriptor {
  /// Creates a sort descriptor with a Swift key path, such as `\Car.maker` or `\Car.maker?.name`.
  ///
  /// For a managed object class whose model is in use, `key` is the name of the property, or the key
  /// path across up to two to-one relationships. Without a model in use, the name is looked up when
  /// the descriptor is used in a fetch. Other values are sorted in memory, by the key path itself.
  /// Cost: some dozens of objects without a context, the first time for a key path.
  public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(
      key: Self.name(of: keyPath), keyPath: keyPath, ascending: ascending, comparison: .binary)
  }

  /// Creates a sort descriptor from a `SortDescriptor`, whose key path becomes the key as in
  /// `init(keyPath:ascending:)`.
  ///
  /// Strings are compared bytewise, as by the only comparator that Foundation has on Linux. It's a
  /// programmer error to pass a descriptor without a key path.
  public convenience init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
    guard let keyPath = sortDescriptor.keyPath else {
      preconditionFailure("a SortDescriptor without a key path can't become an NSSortDescriptor")
    }
    self.init(
      key: Self.name(of: keyPath), keyPath: keyPath, ascending: sortDescriptor.order == .forward,
      comparison: .binary)
  }

  private static func name<Root>(of keyPath: PartialKeyPath<Root>) -> String? {
    guard let type = Root.self as? NSManagedObject.Type else { return nil }
    let entities = ManagedObjectClasses.entities(of: type)
    guard entities.count == 1 else { return nil }
    return try? SwiftKeyNames(entities[0]).name(of: keyPath, in: Root.self)
  }

  /// Returns the descriptor with the name of its Swift key path in an entity; itself if it has a key.
  /// - Throws: 134060 for a key path that isn't a property of the entity.
  func named(in entity: NSEntityDescription) throws -> NSSortDescriptor {
    guard key == nil, let swiftKeyPath else { return self }
    let owner = type(of: swiftKeyPath).rootType
    return NSSortDescriptor(
      key: try SwiftKeyNames(entity).name(ofAny: swiftKeyPath, in: owner), ascending: ascending,
      selector: comparison)
  }
}
