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

  /// `pupils`, to many of `Person` in no order, the inverse of `Person.teacher`.
  ///
  /// Reading it costs a SELECT while it is a fault, and a copy of the collection.
  public var pupils: Set<Person> {
    get { lazyPupils.set }
    set { lazyPupils.set = newValue }
  }

  /// `pupils`, read when something is asked of it.
  public var lazyPupils: RelatedObjects<Person> {
    RelatedObjects(of: self, "pupils")
  }

  /// `teacher`, to one `Person`, the inverse of `Person.pupils`.
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

  /// Takes an object out.
  public func removeFromPupils(_ value: Person) {
    lazyPupils.remove(value)
  }

  /// Adds objects.
  public func addToPupils(_ values: Set<Person>) {
    lazyPupils.formUnion(values)
  }

  /// Takes objects out.
  public func removeFromPupils(_ values: Set<Person>) {
    lazyPupils.subtract(values)
  }
}

extension Person {
  /// Where the values lie in a row.
  ///
  /// Compared with the loaded entity once; where they differ, the properties go by name.
  enum Slots {
    static let name = PropertySlot<String?>(0, offset: 32, "name")
    static let teacher = PropertySlot<Person?>(1, offset: 40, "teacher")

    static let declarations: [SlotDeclaration] = [
      name.declaration,
      teacher.declaration,
    ]
  }
}
