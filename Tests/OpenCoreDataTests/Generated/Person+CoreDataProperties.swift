// Written by cdprof generate from Orchestra.xcdatamodel. Changes are lost.

public import OpenCoreData

extension Person {
  /// A request for all objects of the entity `Person`.
  @nonobjc public class func fetchRequest() -> NSFetchRequest<Person> {
    NSFetchRequest<Person>(entityName: "Person")
  }

  /// `name`, String.
  public var name: String? {
    get { self[Slots.name] }
    set { self[Slots.name] = newValue }
  }

  /// `pupils`, to-many relationship to `Person`, the inverse of `Person.teacher`.
  ///
  /// Reading it fires the relationship fault, which costs a SELECT, and copies the collection.
  public var pupils: Set<Person> {
    get { lazyPupils.set }
    set { lazyPupils.set = newValue }
  }

  /// `pupils`, loaded when it's first used.
  public var lazyPupils: RelatedObjects<Person> {
    RelatedObjects(of: self, "pupils")
  }

  /// `teacher`, to-one relationship to `Person`, the inverse of `Person.pupils`.
  public var teacher: Person? {
    get { self[Slots.teacher] }
    set { self[Slots.teacher] = newValue }
  }
}

extension Person {
  /// Adds an object.
  public func addToPupils(_ value: Person) {
    lazyPupils.insert(value)
  }

  /// Removes an object.
  public func removeFromPupils(_ value: Person) {
    lazyPupils.remove(value)
  }

  /// Adds objects.
  public func addToPupils(_ values: Set<Person>) {
    lazyPupils.formUnion(values)
  }

  /// Removes objects.
  public func removeFromPupils(_ values: Set<Person>) {
    lazyPupils.subtract(values)
  }
}

extension Person {
  /// The locations of values in a row.
  ///
  /// Compared with the loaded entity once; properties that differ are accessed by name.
  enum Slots {
    static let name = PropertySlot<String?>(0, offset: 32, "name")
    static let teacher = PropertySlot<Person?>(1, offset: 40, "teacher")

    static let declarations: [SlotDeclaration] = [
      name.declaration,
      teacher.declaration,
    ]
  }
}

extension Person: Identifiable {}
