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

  /// `pieces`, to many of `Piece` in no order, the inverse of `Piece.musicians`.
  ///
  /// Reading it costs a SELECT while it is a fault, and a copy of the collection.
  public var pieces: Set<Piece> {
    get { lazyPieces.set }
    set { lazyPieces.set = newValue }
  }

  /// `pieces`, read when something is asked of it.
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

  /// Takes an object out.
  public func removeFromPieces(_ value: Piece) {
    lazyPieces.remove(value)
  }

  /// Adds objects.
  public func addToPieces(_ values: Set<Piece>) {
    lazyPieces.formUnion(values)
  }

  /// Takes objects out.
  public func removeFromPieces(_ values: Set<Piece>) {
    lazyPieces.subtract(values)
  }
}

extension Musician {
  /// Where the values lie in a row.
  ///
  /// Compared with the loaded entity once; where they differ, the properties go by name.
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
