// Written by cdprof generate from Orchestra.xcdatamodel. Changes are lost.

public import OpenCoreData

extension Concert {
  /// A request for all objects of the entity `Concert`.
  @nonobjc public class func fetchRequest() -> NSFetchRequest<Concert> {
    NSFetchRequest<Concert>(entityName: "Concert")
  }

  /// `cancelled`, Boolean.
  public var cancelled: Bool {
    get { self[Slots.cancelled] }
    set { self[Slots.cancelled] = newValue }
  }

  /// `default`, String.
  public var `default`: String? {
    get { self[Slots.`default`] }
    set { self[Slots.`default`] = newValue }
  }

  /// `doors`, Date.
  public var doors: Date? {
    get { self[Slots.doors] }
    set { self[Slots.doors] = newValue }
  }

  /// `identifier`, UUID.
  public var identifier: UUID? {
    get { self[Slots.identifier] }
    set { self[Slots.identifier] = newValue }
  }

  /// `page`, URI.
  public var page: URL? {
    get { self[Slots.page] }
    set { self[Slots.page] = newValue }
  }

  /// `picture`, Binary.
  public var picture: Data? {
    get { self[Slots.picture] }
    set { self[Slots.picture] = newValue }
  }

  /// `pieces`, ordered to-many relationship to `Piece`, the inverse of `Piece.concerts`.
  ///
  /// Reading it fires the relationship fault, which costs a SELECT, and copies the collection.
  public var pieces: [Piece] {
    get { lazyPieces.array }
    set { lazyPieces.array = newValue }
  }

  /// `pieces`, loaded when it's first used.
  public var lazyPieces: RelatedObjects<Piece> {
    RelatedObjects(of: self, "pieces")
  }

  /// `price`, Decimal.
  public var price: Decimal? {
    get { self[Slots.price] }
    set { self[Slots.price] = newValue }
  }

  /// `rating`, Float.
  public var rating: Float {
    get { self[Slots.rating] }
    set { self[Slots.rating] = newValue }
  }

  /// `seats`, Integer 32, not stored.
  public var seats: Int32 {
    get { value(forKey: "seats") as? Int32 ?? 0 }
    set { setValue(newValue, forKey: "seats") }
  }

  /// `setList`, Transformable.
  public var setList: Data? {
    get { value(forKey: "setList") as? Data }
    set { setValue(newValue, forKey: "setList") }
  }

  /// `temperature`, Double.
  public var temperature: Double? {
    get { self[Slots.temperature] }
    set { self[Slots.temperature] = newValue }
  }
}

extension Concert {
  /// Adds an object at the end.
  public func addToPieces(_ value: Piece) {
    lazyPieces.insert(value)
  }

  /// Removes an object.
  public func removeFromPieces(_ value: Piece) {
    lazyPieces.remove(value)
  }

  /// Adds objects.
  public func addToPieces(_ values: [Piece]) {
    lazyPieces.formUnion(values)
  }

  /// Removes objects.
  public func removeFromPieces(_ values: [Piece]) {
    lazyPieces.subtract(values)
  }

  /// Inserts an object at an index.
  public func insertIntoPieces(_ value: Piece, at index: Int) {
    lazyPieces.insert(value, at: index)
  }

  /// Removes the object at an index.
  public func removeFromPieces(at index: Int) {
    lazyPieces.remove(at: index)
  }

  /// Replaces the object at an index.
  public func replacePieces(at index: Int, with value: Piece) {
    lazyPieces.replace(at: index, with: value)
  }

  /// Inserts objects at indexes.
  public func insertIntoPieces(_ values: [Piece], at indexes: IndexSet) {
    lazyPieces.insert(values, at: indexes)
  }

  /// Removes the objects at indexes.
  public func removeFromPieces(at indexes: IndexSet) {
    lazyPieces.remove(at: indexes)
  }

  /// Replaces the objects at indexes.
  public func replacePieces(at indexes: IndexSet, with values: [Piece]) {
    lazyPieces.replace(at: indexes, with: values)
  }
}

extension Concert {
  /// The locations of values in a row.
  ///
  /// Compared with the loaded entity once; properties that differ are accessed by name.
  enum Slots {
    static let cancelled = PropertySlot<Bool>(0, offset: 32, "cancelled")
    static let `default` = PropertySlot<String?>(1, offset: 40, "default")
    static let doors = PropertySlot<Date?>(2, offset: 48, "doors")
    static let identifier = PropertySlot<UUID?>(3, offset: 56, "identifier")
    static let page = PropertySlot<URL?>(4, offset: 64, "page")
    static let picture = PropertySlot<Data?>(5, offset: 72, "picture")
    static let price = PropertySlot<Decimal?>(6, offset: 80, "price")
    static let rating = PropertySlot<Float>(7, offset: 88, "rating")
    static let temperature = PropertySlot<Double?>(9, offset: 104, "temperature")

    static let declarations: [SlotDeclaration] = [
      cancelled.declaration,
      `default`.declaration,
      doors.declaration,
      identifier.declaration,
      page.declaration,
      picture.declaration,
      price.declaration,
      rating.declaration,
      temperature.declaration,
    ]
  }
}

extension Concert: Identifiable {}
