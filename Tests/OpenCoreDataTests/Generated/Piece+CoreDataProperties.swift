// Written by cdprof generate from Orchestra.xcdatamodel. Changes are lost.

public import OpenCoreData

extension Piece {
  /// A request for all objects of the entity `Piece`.
  @nonobjc public class func fetchRequest() -> NSFetchRequest<Piece> {
    NSFetchRequest<Piece>(entityName: "Piece")
  }

  /// `composer`, to one `Person`.
  public var composer: Person? {
    get { self[Slots.composer] }
    set { self[Slots.composer] = newValue }
  }

  /// `concerts`, to many of `Concert` in no order, the inverse of `Concert.pieces`.
  ///
  /// Reading it costs a SELECT while it is a fault, and a copy of the collection.
  public var concerts: Set<Concert> {
    get { lazyConcerts.set }
    set { lazyConcerts.set = newValue }
  }

  /// `concerts`, read when something is asked of it.
  public var lazyConcerts: RelatedObjects<Concert> {
    RelatedObjects(of: self, "concerts")
  }

  /// `hash`, String.
  ///
  /// Called `hashProperty` because Swift or every managed object has the other name.
  public var hashProperty: String? {
    get { self[Slots.hashProperty] }
    set { self[Slots.hashProperty] = newValue }
  }

  /// `musicians`, to many of `Musician` in no order, the inverse of `Musician.pieces`.
  ///
  /// Reading it costs a SELECT while it is a fault, and a copy of the collection.
  public var musicians: Set<Musician> {
    get { lazyMusicians.set }
    set { lazyMusicians.set = newValue }
  }

  /// `musicians`, read when something is asked of it.
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

  /// Takes an object out.
  public func removeFromConcerts(_ value: Concert) {
    lazyConcerts.remove(value)
  }

  /// Adds objects.
  public func addToConcerts(_ values: Set<Concert>) {
    lazyConcerts.formUnion(values)
  }

  /// Takes objects out.
  public func removeFromConcerts(_ values: Set<Concert>) {
    lazyConcerts.subtract(values)
  }
}

extension Piece {
  /// Adds an object.
  public func addToMusicians(_ value: Musician) {
    lazyMusicians.insert(value)
  }

  /// Takes an object out.
  public func removeFromMusicians(_ value: Musician) {
    lazyMusicians.remove(value)
  }

  /// Adds objects.
  public func addToMusicians(_ values: Set<Musician>) {
    lazyMusicians.formUnion(values)
  }

  /// Takes objects out.
  public func removeFromMusicians(_ values: Set<Musician>) {
    lazyMusicians.subtract(values)
  }
}

extension Piece {
  /// Where the values lie in a row.
  ///
  /// Compared with the loaded entity once; where they differ, the properties go by name.
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
