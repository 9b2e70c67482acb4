// Written by cdprof generate from Orchestra.xcdatamodel. Changes are lost.

public import OpenCoreData

extension Musician {
  /// A request for all objects of the entity `Musician`.
  @nonobjc public class func fetchRequest() -> NSFetchRequest<Musician> {
    NSFetchRequest<Musician>(entityName: "Musician")
  }

  /// `desk`, Integer 16.
  public var desk: Int16 {
    get { self[Slots.desk] }
    set { self[Slots.desk] = newValue }
  }

  /// `pieces`, to-many relationship to `Piece`, the inverse of `Piece.musicians`.
  ///
  /// Reading it fires the relationship fault, which costs a SELECT, and copies the collection.
  public var pieces: Set<Piece> {
    get { lazyPieces.set }
    set { lazyPieces.set = newValue }
  }

  /// `pieces`, loaded when it's first used.
  public var lazyPieces: RelatedObjects<Piece> {
    RelatedObjects(of: self, "pieces")
  }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// `plays_since`, Integer 64.
  public var plays_since: Int64? {
    get { self[Slots.plays_since] }
    set { self[Slots.plays_since] = newValue }
  }
}

extension Musician {
  /// Adds an object.
  public func addToPieces(_ value: Piece) {
    lazyPieces.insert(value)
  }

  /// Removes an object.
  public func removeFromPieces(_ value: Piece) {
    lazyPieces.remove(value)
  }

  /// Adds objects.
  public func addToPieces(_ values: Set<Piece>) {
    lazyPieces.formUnion(values)
  }

  /// Removes objects.
  public func removeFromPieces(_ values: Set<Piece>) {
    lazyPieces.subtract(values)
  }
}

extension Musician {
  /// The locations of values in a row.
  ///
  /// Compared with the loaded entity once; properties that differ are accessed by name.
  enum Slots {
    static let desk = PropertySlot<Int16>(2, offset: 56, "desk")
    // swift-format-ignore: AlwaysUseLowerCamelCase
    static let plays_since = PropertySlot<Int64?>(3, offset: 64, "plays_since")

    static let declarations: [SlotDeclaration] = [
      desk.declaration,
      plays_since.declaration,
    ]
  }
}
