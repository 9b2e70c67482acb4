/// Describes an index of an entity.
///
/// Counterpart: `NSFetchIndexDescription`.
///
/// Unchecked sendable because one thread builds a description, which is immutable once its model is
/// in use: every setter traps.
public final class NSFetchIndexDescription: NSObject, @unchecked Sendable {
  /// Whether the model is in use, so that the description can't be changed.
  package private(set) var isFrozen = false

  /// The name of the index, unique in its entity.
  public var name: String { willSet { requireMutable() } }

  /// The elements of the index, beginning with the most significant one.
  public var elements: [NSFetchIndexElementDescription] {
    willSet { requireMutable() }
    didSet { adoptElements() }
  }

  /// The entity that the index belongs to.
  public package(set) weak var entity: NSEntityDescription?

  /// The predicate that limits the index to some rows, or `nil` for all rows.
  public var partialIndexPredicate: NSPredicate? { willSet { requireMutable() } }

  /// The values of the document's tag that couldn't be read, by attribute.
  package var unreadTexts: [String: String] = [:] { willSet { requireMutable() } }

  /// Creates an index.
  ///
  /// - Parameters:
  ///   - name: A name that's unique in the entity.
  ///   - elements: The elements, beginning with the most significant one.
  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
    adoptElements()
  }

  /// Returns whether another object is an index with the same name, elements, and predicate.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexDescription else { return false }
    return self === other || outline == other.outline
  }

  /// The hash of the name.
  public override var hash: Int { name.hashValue }

  private func adoptElements() {
    for element in elements { element.indexDescription = self }
  }

  private func requireMutable() {
    if isFrozen {
      fatalError(
        "The index \(name) belongs to a model that is in use. Change a copy of the model.")
    }
  }

  /// Makes every later change trap.
  func freeze() {
    isFrozen = true
  }
}

/// An element of an index: a property and its sort order.
///
/// Counterpart: `NSFetchIndexElementDescription`.
///
/// Unchecked sendable because one thread builds a description, which is immutable once its model is
/// in use: every setter traps.
public final class NSFetchIndexElementDescription: NSObject, @unchecked Sendable {
  /// The property that is indexed.
  public let property: NSPropertyDescription?

  /// How the element is stored.
  public var collationType: NSFetchIndexElementType { willSet { requireMutable() } }

  /// Whether smaller values come first.
  ///
  /// The default is true.
  public var isAscending = true { willSet { requireMutable() } }

  /// The index that the element belongs to.
  public package(set) weak var indexDescription: NSFetchIndexDescription?

  /// The name of the property that is indexed.
  public var propertyName: String? { property?.name }

  /// Creates an element of an index.
  ///
  /// - Parameters:
  ///   - property: The property to index.
  ///   - collationType: How the element is stored.
  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    self.property = property
    self.collationType = collationType
    super.init()
  }

  /// Returns whether another object is an element over an equal property with the same order and
  /// collation type.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexElementDescription else { return false }
    return self === other
      || (property == other.property && isAscending == other.isAscending
        && collationType == other.collationType)
  }

  /// The hash of the property's name.
  public override var hash: Int { propertyName.hashValue }

  private func requireMutable() {
    if indexDescription?.isFrozen == true {
      fatalError(
        "The index element \(propertyName ?? "?") belongs to a model that is in use. "
          + "Change a copy of the model.")
    }
  }
}

/// How an element of an index is stored.
///
/// Counterpart: `NSFetchIndexElementType`, with its raw values.
public enum NSFetchIndexElementType: UInt, Sendable, CaseIterable {
  /// A B-tree index.
  case binary = 0
  /// An R-tree index of numeric ranges.
  case rTree = 1
}
