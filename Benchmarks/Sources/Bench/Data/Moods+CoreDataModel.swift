// Written by cdprof generate from Moods.xcdatamodel. Changes are lost.

public import OpenCoreData

/// The classes of the model Moods.xcdatamodel.
public enum MoodsModel {
  /// Registers the model's classes, and the locations of their values in a row.
  ///
  /// Call it before the model is first used. Calling it again has no effect.
  public static func registerClasses() {
    GeneratedMood.registerClass(named: "GeneratedMood", slots: GeneratedMood.Slots.declarations)
  }
}

/// An object of the entity `Mood`.
public class GeneratedMood: NSManagedObject {}

extension GeneratedMood {
  /// A request for all objects of the entity `Mood`.
  @nonobjc public class func fetchRequest() -> NSFetchRequest<GeneratedMood> {
    NSFetchRequest<GeneratedMood>(entityName: "Mood")
  }

  /// `country`, to-one relationship to `Country`, the inverse of `Country.moods`.
  public var country: Country? {
    get { self[Slots.country] }
    set { self[Slots.country] = newValue }
  }

  /// `flags`, Integer 32.
  public var flags: Int32 {
    get { self[Slots.flags] }
    set { self[Slots.flags] = newValue }
  }

  /// `kind`, Integer 16.
  public var kind: Int16 {
    get { self[Slots.kind] }
    set { self[Slots.kind] = newValue }
  }

  /// `latitude`, Double.
  public var latitude: Double {
    get { self[Slots.latitude] }
    set { self[Slots.latitude] = newValue }
  }

  /// `longitude`, Double.
  public var longitude: Double {
    get { self[Slots.longitude] }
    set { self[Slots.longitude] = newValue }
  }

  /// `name`, String.
  public var name: String? {
    get { self[Slots.name] }
    set { self[Slots.name] = newValue }
  }

  /// `note`, String.
  public var note: String? {
    get { self[Slots.note] }
    set { self[Slots.note] = newValue }
  }

  /// `rank`, Integer 64.
  public var rank: Int64 {
    get { self[Slots.rank] }
    set { self[Slots.rank] = newValue }
  }

  /// `stamp`, Integer 64.
  public var stamp: Int64 {
    get { self[Slots.stamp] }
    set { self[Slots.stamp] = newValue }
  }

  /// `votes`, Integer 32.
  public var votes: Int32 {
    get { self[Slots.votes] }
    set { self[Slots.votes] = newValue }
  }
}

extension GeneratedMood {
  /// The locations of values in a row.
  ///
  /// Compared with the loaded entity once; properties that differ are accessed by name.
  enum Slots {
    static let flags = PropertySlot<Int32>(0, offset: 32, "flags")
    static let kind = PropertySlot<Int16>(1, offset: 40, "kind")
    static let latitude = PropertySlot<Double>(2, offset: 48, "latitude")
    static let longitude = PropertySlot<Double>(3, offset: 56, "longitude")
    static let name = PropertySlot<String?>(4, offset: 64, "name")
    static let note = PropertySlot<String?>(5, offset: 72, "note")
    static let rank = PropertySlot<Int64>(6, offset: 80, "rank")
    static let stamp = PropertySlot<Int64>(7, offset: 88, "stamp")
    static let votes = PropertySlot<Int32>(8, offset: 96, "votes")
    static let country = PropertySlot<Country?>(9, offset: 104, "country")

    static let declarations: [SlotDeclaration] = [
      flags.declaration,
      kind.declaration,
      latitude.declaration,
      longitude.declaration,
      name.declaration,
      note.declaration,
      rank.declaration,
      stamp.declaration,
      votes.declaration,
      country.declaration,
    ]
  }
}

extension GeneratedMood: Identifiable {}
