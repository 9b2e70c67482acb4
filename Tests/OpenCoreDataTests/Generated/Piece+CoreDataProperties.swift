// Written by cdprof generate from Orchestra.xcdatamodel. Changes are lost.

public import OpenCoreData

extension Piece {
  /// A request for all objects of the entity `Piece`.
  @nonobjc public class func fetchRequest() -> NSFetchRequest<Piece> {
    NSFetchRequest<Piece>(entityName: "Piece")
  }

  /// `composer`, to-one relationship to `Person`.
  public var composer: Person? {
    get { self[Slots.composer] }
    set { self[Slots.composer] = newValue }
  }

  /// `concerts`, to-many relationship to `Concert`, the inverse of `Concert.pieces`.
  ///
  /// Reading it fires the relationship fault, which costs a SELECT, and copies the collection.
  public var concerts: Set<Concert> {
    get { lazyConcerts.set }
    set { lazyConcerts.set = newValue }
  }

  /// `concerts`, loaded when it's first used.
  public var lazyConcerts: RelatedObjects<Concert> {
    RelatedObjects(of: self, "concerts")
  }

  /// `hash`, String.
  ///
  /// Named `hashProperty` because the property's name is reserved by Swift or `NSManagedObject`.
  public var hashProperty: String? {
    get { self[Slots.hashProperty] }
    set { self[Slots.hashProperty] = newValue }
  }

  /// `musicians`, to-many relationship to `Musician`, the inverse of `Musician.pieces`.
  ///
  /// Reading it fires the relationship fault, which costs a SELECT, and copies the collection.
  public var musicians: Set<Musician> {
    get { lazyMusicians.set }
    set { lazyMusicians.set = newValue }
  }

  /// `musicians`, loaded when it's first used.
  public var lazyMusicians: RelatedObjects<Musician> {
    RelatedObjects(of: self, "musicians")
  }

  /// `value`, Integer 32.
  public var value: Int32 {
    get { self[Slots.value] }
    set { self[Slots.value] = newValue }
  }
}

extension Piece {
  /// Adds an object.
  public func addToConcerts(_ value: Concert) {
    lazyConcerts.insert(value)
  }

  /// Removes an object.
  public func removeFromConcerts(_ value: Concert) {
    lazyConcerts.remove(value)
  }

  /// Adds objects.
  public func addToConcerts(_ values: Set<Concert>) {
    lazyConcerts.formUnion(values)
  }

  /// Removes objects.
  public func removeFromConcerts(_ values: Set<Concert>) {
    lazyConcerts.subtract(values)
  }
}

extension Piece {
  /// Adds an object.
  public func addToMusicians(_ value: Musician) {
    lazyMusicians.insert(value)
  }

  /// Removes an object.
  public func removeFromMusicians(_ value: Musician) {
    lazyMusicians.remove(value)
  }

  /// Adds objects.
  public func addToMusicians(_ values: Set<Musician>) {
    lazyMusicians.formUnion(values)
  }

  /// Removes objects.
  public func removeFromMusicians(_ values: Set<Musician>) {
    lazyMusicians.subtract(values)
  }
}

extension Piece {
  /// The locations of values in a row.
  ///
  /// Compared with the loaded entity once; properties that differ are accessed by name.
  enum Slots {
    static let hashProperty = PropertySlot<String?>(0, offset: 32, "hash")
    static let value = PropertySlot<Int32>(1, offset: 40, "value")
    static let composer = PropertySlot<Person?>(2, offset: 48, "composer")

    static let declarations: [SlotDeclaration] = [
      hashProperty.declaration,
      value.declaration,
      composer.declaration,
    ]
  }
}

extension Piece: Identifiable {}
