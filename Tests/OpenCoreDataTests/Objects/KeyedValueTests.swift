import ManagedModel
import OpenCoreData
import Testing

@testable import OpenCoreData

/// A person with computed properties that are accessible by key.
private final class KeyedPerson: NSManagedObject {
  static let defaults = ["color": "red"]
  nonisolated(unsafe) static var changes: [String] = []
  nonisolated(unsafe) static var undefined: [String: String] = [:]

  @Managed("first") var first: String?
  @Managed("age") var age: Int16

  var fullName: String {
    "\(first ?? "") \(primitiveValue(forKey: "last") as? String ?? "")"
  }

  var nickname: String? {
    get { first.map { $0 + "y" } }
    set { first = newValue.map { String($0.dropLast()) } }
  }

  var luckyNumber: Int { 7 }

  var birthYear: Int {
    get { 2000 - Int(age) }
    set { age = Int16(2000 - newValue) }
  }

  override class var keyedAccessors: [KeyedAccessor] {
    super.keyedAccessors + [
      KeyedAccessor("fullName", \KeyedPerson.fullName),
      KeyedAccessor("nickname", \KeyedPerson.nickname),
      KeyedAccessor("luckyNumber", \KeyedPerson.luckyNumber),
      KeyedAccessor("birthYear", \KeyedPerson.birthYear),
    ]
  }

  override func value(forUndefinedKey key: String) -> Any? {
    KeyedPerson.defaults[key] ?? super.value(forUndefinedKey: key)
  }

  override func setValue(_ value: Any?, forUndefinedKey key: String) {
    KeyedPerson.undefined[key] = value as? String
  }

  override func setNilValueForKey(_ key: String) {
    if key == "birthYear" { birthYear = 2000 } else { super.setNilValueForKey(key) }
  }

  override func didChangeValue(forKey key: String) {
    super.didChangeValue(forKey: key)
    KeyedPerson.changes.append(key)
  }
}

/// An object whose transient numbers are declared properties.
private final class DeclaredNumber: NSManagedObject {
  @Managed("transientint16") var int16: Int16
  @Managed("transientdouble") var double: Double
  @Managed("transientfloat") var float: Float
  @Managed("transientbool") var bool: Bool
  @Managed("transientdecimal") var decimal: Decimal
}

@Suite("Key-value coding", .serialized)
struct KeyedValueTests {
  private static let numbers: [(String, NSAttributeType, any Sendable)] = [
    ("int16", .integer16AttributeType, Int16(1)), ("int32", .integer32AttributeType, Int32(1)),
    ("int64", .integer64AttributeType, Int64(1)), ("double", .doubleAttributeType, 1.0),
    ("float", .floatAttributeType, Float(1)), ("bool", .booleanAttributeType, true),
  ]

  private func attribute(
    _ name: String, _ type: NSAttributeType, transient: Bool = false
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType) = (name, type)
    (attribute.isOptional, attribute.isTransient) = (true, transient)
    return attribute
  }

  private func numbers(_ kind: StoreKind) throws -> GraphStack {
    let entity = NSEntityDescription()
    entity.name = "Number"
    entity.properties =
      KeyedValueTests.numbers.flatMap { name, type, _ in
        [attribute(name, type), attribute("transient" + name, type, transient: true)]
      } + [
        attribute("decimal", .decimalAttributeType),
        attribute("transientdecimal", .decimalAttributeType, transient: true),
        attribute("name", .stringAttributeType),
      ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return try GraphStack(kind, model: model)
  }

  private func castsToEveryType(_ value: Any?) -> Bool {
    value as? Int == 1 && value as? Int16 == 1 && value as? Int32 == 1 && value as? Int64 == 1
      && value as? Double == 1 && value as? Float == 1 && value as? Bool == true
      && value as? NSNumber == NSNumber(value: 1)
  }

  @Test(
    "A number casts to Int, Int32, Double, Bool, and NSNumber, however it's read",
    arguments: StoreKind.allCases)
  func numbersCastToEveryNumericType(kind: StoreKind) throws {
    let stack = try numbers(kind)
    let names = KeyedValueTests.numbers.map(\.0)
    let context = try stack.context()
    try context.performAndWait {
      let values = Dictionary(
        uniqueKeysWithValues: KeyedValueTests.numbers.map { ($0.0, $0.2 as Any) })
      let object = context.make("Number", values)
      for (name, _, value) in KeyedValueTests.numbers {
        object.setValue(value, forKey: "transient" + name)
        #expect(castsToEveryType(object.value(forKey: "transient" + name)), "\(name)")
        #expect(castsToEveryType(object.changedValues()[name]), "\(name)")
      }
      try context.save()
    }
    let cold = try stack.context()
    try cold.performAndWait {
      let object = try #require(try cold.all("Number").first)
      let all = object.dictionaryWithValues(forKeys: names)
      let committed = object.committedValues(forKeys: nil)
      for name in names {
        #expect(castsToEveryType(object.value(forKey: name)), "\(name)")
        #expect(castsToEveryType(object.value(forKeyPath: name)), "\(name)")
        #expect(castsToEveryType(object.primitiveValue(forKey: name)), "\(name)")
        #expect(castsToEveryType(all[name]) && castsToEveryType(committed[name]), "\(name)")
        object.setValue(NSNumber(value: 0), forKey: name)
        cold.processPendingChanges()
        object.setValue(nil, forKey: name)
        #expect(object.changedValuesForCurrentEvent()[name] as? Int == 0, "\(name)")
        object.setValue(NSNumber(value: 1), forKey: name)
        #expect(castsToEveryType(object.value(forKey: name)), "\(name)")
        #expect(object.changedValues()[name] == nil, "\(name)")
      }
      object.setValue(NSNumber(value: 70_000), forKey: "int64")
      #expect(object.value(forKey: "int64") as? Int == 70_000)
      object.setValue(NSNumber(value: 1.5), forKey: "decimal")
      #expect(object.value(forKey: "decimal") as? Decimal == Decimal(string: "1.5"))
      #expect((object.value(forKey: "decimal") as? NSDecimalNumber)?.doubleValue == 1.5)
      #expect(object.value(forKey: "decimal") as? Double == 1.5)
    }
  }

  @Test("Predicates compare numbers as they're stored")
  func predicatesCompareStoredNumbers() throws {
    let context = try numbers(.sqlite).context()
    try context.performAndWait {
      let object = context.make("Number", ["int16": Int16(3), "bool": true, "name": "a"])
      #expect(object.storedValue(forKey: "int16") as? Int16 == 3)
      let predicate = NSPredicate(format: "int16 == 3 AND bool == TRUE AND name == 'a'")
      #expect(predicate.evaluate(with: object))
      _ = context.make("Number", ["int16": Int16(4), "bool": false, "name": "a"])
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Number")
      request.predicate = predicate
      #expect(try context.fetch(request) == [object])
      #expect(try context.all("Number").filter { predicate.evaluate(with: $0) } == [object])
    }
  }

  private func people(_ kind: StoreKind) throws -> NSManagedObjectContext {
    KeyedPerson.registerClass()
    KeyedPerson.changes = []
    let entity = NSEntityDescription()
    entity.name = "Person"
    entity.managedObjectClassName = "KeyedPerson"
    entity.properties = [
      attribute("first", .stringAttributeType), attribute("last", .stringAttributeType),
      attribute("age", .integer16AttributeType),
      attribute("fullName", .stringAttributeType, transient: true),
    ]
    let friends = NSRelationshipDescription()
    (friends.name, friends.isOptional, friends.maxCount) = ("friends", true, 0)
    friends.destinationEntity = entity
    entity.properties += [friends]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return try GraphStack(kind, model: model).context()
  }

  @Test("A class's computed property is accessible by key", arguments: StoreKind.allCases)
  func computedPropertyIsAccessibleByKey(kind: StoreKind) throws {
    let context = try people(kind)
    try context.performAndWait {
      let ann = context.make("Person", ["first": "Ann", "last": "Lee"])
      let bob = context.make("Person", ["first": "Bob", "last": "Lee", "friends": Set([ann])])
      try context.save()
      context.refresh(ann, mergeChanges: false)
      #expect(ann.value(forKey: "fullName") as? String == "Ann Lee")
      #expect(bob.value(forKeyPath: "friends.fullName") as? Set<String> == ["Ann Lee"])
      #expect(ann.value(forKey: "luckyNumber") as? Int32 == 7)
      ann.setValue("Pamy", forKey: "nickname")
      #expect(ann.value(forKey: "first") as? String == "Pam")
      ann.setValue(nil, forKey: "nickname")
      #expect(ann.value(forKey: "first") == nil && ann.value(forKey: "nickname") == nil)
      ann.setValue("Ann", forKey: "first")
      let predicate = NSPredicate(format: "fullName == 'Ann Lee'")
      #expect(predicate.evaluate(with: ann) && !predicate.evaluate(with: bob))
      let sorted = [bob, ann].sorted(
        using: [NSSortDescriptor(key: "fullName", ascending: true)])
      #expect(sorted == [ann, bob])
    }
  }

  @Test("Setting a property that isn't optional to nil calls setNilValueForKey")
  func nilForANonoptionalPropertyIsPassedToTheOverride() throws {
    let context = try people(.memory)
    try context.performAndWait {
      let ann = try #require(context.make("Person", ["birthYear": 1990]) as? KeyedPerson)
      #expect(ann.age == 10)
      ann.setValue(nil, forKey: "birthYear")
      #expect(ann.birthYear == 2000 && ann.age == 0)
      ann.setValue(nil, forKey: "age")
      #expect(ann.value(forKey: "age") == nil && ann.age == 0)
    }
  }

  @Test(
    "A key path over a relationship returns a set, or an ordered set, of distinct non-nil values",
    arguments: StoreKind.allCases)
  func keyPathOverRelationshipReturnsDistinctValuesWithoutNils(kind: StoreKind) throws {
    let context = try GraphStack(kind, model: KinshipModel.make()).context()
    try context.performAndWait {
      let people = ["a", "b", nil].map { context.make("Person", ["name": $0 ?? NSNull()]) }
      let songs = ["x", "y", "x", nil].map { context.make("Song", ["name": $0 ?? NSNull()]) }
      people[0].setValue(Set(people), forKey: "children")
      for (ranking, friend) in [(7, 1), (7, 2)] {
        _ = context.make(
          "FriendInfo",
          ["source": people[0], "friend": people[friend], "ranking": ranking])
      }
      let list = context.make("List", ["songs": NSOrderedSet(array: songs)])
      try context.save()
      let names = people[0].value(forKeyPath: "children.name")
      #expect(names as? Set<String> == ["a", "b"] && (names as? NSSet)?.contains("a") == true)
      #expect(people[0].value(forKeyPath: "friends.ranking") as? Set<Int> == [7])
      let friends = people[0].value(forKeyPath: "friends.friend")
      #expect(friends as? Set<NSManagedObject> == [people[1], people[2]])
      let sets = people[0].value(forKeyPath: "children.friends") as? Set<NSSet>
      #expect(Set(sets?.map(\.count) ?? []) == [0, 2])
      let infos = people[0].value(forKeyPath: "children.@distinctUnionOfSets.friends")
      #expect((infos as? Set<NSManagedObject>)?.count == 2)
      let titles = list.value(forKeyPath: "songs.name") as? NSOrderedSet
      #expect(titles?.array as? [String] == ["x", "y"])
    }
  }

  @Test("Unknown keys and changed keys are passed to overrides", arguments: StoreKind.allCases)
  func unknownAndChangedKeysArePassedToOverrides(kind: StoreKind) throws {
    let context = try people(kind)
    try context.performAndWait {
      let person = try #require(context.make("Person") as? KeyedPerson)
      #expect(person.value(forKey: "color") as? String == "red")
      #expect(person.value(forKeyPath: "color") as? String == "red")
      person.setValue("blue", forKey: "paint")
      #expect(KeyedPerson.undefined["paint"] == "blue")
      KeyedPerson.changes = []
      person.setValue("a", forKey: "last")
      person.first = "b"
      person.age = 4
      person.setValue(Set<NSManagedObject>(), forKey: "friends")
      person.mutableSetValue(forKey: "friends").add(person)
      #expect(KeyedPerson.changes == ["last", "first", "age", "friends", "friends"])
      KeyedPerson.changes = []
      person.setPrimitiveValue("c", forKey: "last")
      #expect(KeyedPerson.changes == [])
      try context.save()
      context.refresh(person, mergeChanges: false)
      person.age = 5
      #expect(KeyedPerson.changes == ["age"])
    }
  }

  @Test("A decimal is set to an integer of any width without rounding")
  func decimalIsSetToIntegersWithoutRounding() throws {
    let context = try numbers(.sqlite).context()
    try context.performAndWait {
      let object = context.make("Number", ["name": "a"])
      let values: [Any] = [
        UInt64.max, NSNumber(value: UInt64.max), Int64.max, NSNumber(value: Int64.max),
        Int64.min, NSNumber(value: Int64.min), NSDecimalNumber(string: "0.1"), true,
      ]
      let expected = [
        "18446744073709551615", "18446744073709551615", "9223372036854775807",
        "9223372036854775807", "-9223372036854775808", "-9223372036854775808", "0.1", "1",
      ]
      for (value, text) in zip(values, expected) {
        object.setValue(value, forKey: "decimal")
        try context.save()
        context.refresh(object, mergeChanges: false)
        #expect(object.value(forKey: "decimal") as? Decimal == Decimal(string: text), "\(value)")
      }
    }
  }

  @Test("A decimal and a double are set to each other by their digits, and to nil out of range")
  func decimalsAndDoublesAreSetByTheirDigits() throws {
    let context = try numbers(.sqlite).context()
    try context.performAndWait {
      let object = context.make("Number", ["name": "a"])
      for text in ["3.24", "0.30000000000000004", "1e-10", "1.1e-20", "99.9"] {
        let (double, decimal) = (try #require(Double(text)), try #require(Decimal(string: text)))
        for value in [decimal, NSDecimalNumber(decimal: decimal)] as [Any] {
          object.setValue(value, forKey: "double")
          #expect(object.value(forKey: "double") as? Double == double)
        }
        for value in [double, NSNumber(value: double)] as [Any] {
          object.setValue(value, forKey: "decimal")
          #expect(object.value(forKey: "decimal") as? Decimal == decimal)
        }
      }
      for value in [Double.infinity, -.infinity, .nan, 1e300] {
        object.setValue(value, forKey: "decimal")
        #expect(object.value(forKey: "decimal") == nil)
      }
      try context.save()
    }
  }

  @Test("A Boolean is set to whether a number isn't 0")
  func booleansAreSetToNumbers() throws {
    let context = try numbers(.sqlite).context()
    try context.performAndWait {
      let object = context.make("Number", ["name": "a"])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Number")
      request.predicate = NSPredicate(format: "bool == TRUE")
      let values: [(Any, Bool)] = [
        (5, true), (NSNumber(value: 0.5), true), (-0.25, true), (Decimal(7), true),
        (UInt64.max, true), (0.0, false), (NSNumber(value: 0), false),
        (NSDecimalNumber.zero, false),
      ]
      for (value, expected) in values {
        object.setValue(value, forKey: "bool")
        #expect(object.value(forKey: "bool") as? Bool == expected, "\(value)")
        try context.save()
        #expect(try context.count(for: request) == (expected ? 1 : 0), "\(value)")
      }
    }
  }

  @Test("An integer is set to the whole part of a number", arguments: StoreKind.allCases)
  func integersAreSetToTheWholePart(kind: StoreKind) throws {
    let context = try numbers(kind).context()
    try context.performAndWait {
      let object = context.make("Number", ["name": "a", "transientint16": 2.9])
      let values: [(Any, Int)] = [
        (3.7, 3), (-3.7, -3), (Float(2.5), 2), (CGFloat(0.9), 0), (NSNumber(value: 3.7), 3),
      ]
      for (value, expected) in values {
        for key in ["int16", "int32", "int64"] {
          var given: Any? = value
          try object.validateValue(&given, forKey: key)
          object.setValue(value, forKey: key)
          #expect(object.value(forKey: key) as? Int == expected, "\(value)")
        }
      }
      #expect(object.value(forKey: "transientint16") as? Int == 2)
      try context.save()
    }
  }

  @Test(
    "A float attribute that's set to a double has a float's precision, as if set to that float",
    arguments: StoreKind.allCases)
  func floatsAreRoundedWhenTheyAreSet(kind: StoreKind) throws {
    let context = try numbers(kind).context()
    try context.performAndWait {
      let object = context.make("Number", ["name": "a", "float": 0.1])
      try context.save()
      object.setValue(Float(0.1), forKey: "float")
      #expect(object.changedValues().isEmpty && !object.hasPersistentChangedValues)
      object.setPrimitiveValue(NSNumber(value: 0.2), forKey: "float")
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Number")
      request.predicate = NSPredicate(format: "float == %@", NSNumber(value: Float(0.2)))
      #expect(try context.fetch(request) == [object])
    }
  }

  @Test(
    "A transient number has the type of its attribute, whatever number it's set to",
    arguments: StoreKind.allCases)
  func transientNumbersHaveTheirAttributesType(kind: StoreKind) throws {
    let context = try numbers(kind).context()
    try context.performAndWait {
      let entity = try #require(NSEntityDescription.entity(forEntityName: "Number", in: context))
      let object = DeclaredNumber(entity: entity, insertInto: context)
      object.setValuesForKeys([
        "transientint16": NSNumber(value: 2.9), "transientdouble": 3, "transientfloat": 0.1,
        "transientbool": 2, "transientdecimal": 0.1,
      ])
      #expect(object.int16 == 2 && object.double == 3 && object.float == 0.1 && object.bool)
      #expect(object.decimal == Decimal(string: "0.1"))
      #expect(object.value(forKey: "transientfloat") as? Float == 0.1)
      object.setPrimitiveValue(Int32(4), forKey: "transientdouble")
      #expect(object.double == 4)
      object.setValue(NSNumber(value: 70_000), forKey: "transientint16")
      #expect(context.saveError()?.code == NSValidationNumberTooLargeError)
      object.setValue(Double.infinity, forKey: "transientdecimal")
      #expect(object.value(forKey: "transientdecimal") == nil)
    }
  }

  @Test(
    "A key path over a to-many relationship sets the property of each of its objects",
    arguments: StoreKind.allCases)
  func keyPathOverRelationshipSetsEachObject(kind: StoreKind) throws {
    let context = try GraphStack(kind, model: KinshipModel.make()).context()
    try context.performAndWait {
      let people = ["a", "b", "c"].map { context.make("Person", ["name": $0]) }
      let songs = ["x", "y"].map { context.make("Song", ["name": $0]) }
      let list = context.make("List", ["name": "l", "songs": NSOrderedSet(array: songs)])
      people[0].setValue(Set(people[1...]), forKey: "children")
      try context.save()
      context.refreshAllObjects()
      people[0].setValue("d", forKeyPath: "children.name")
      #expect(people.map { $0.value(forKey: "name") as? String } == ["a", "d", "d"])
      people[0].setValue("e", forKeyPath: "children.parent.name")
      #expect(people[0].value(forKey: "name") as? String == "e")
      list.setValue("z", forKeyPath: "songs.name")
      #expect(songs.map { $0.value(forKey: "name") as? String } == ["z", "z"])
      people[0].setValue(nil, forKeyPath: "children.parent")
      #expect(people[0].set("children").isEmpty && people[1].value(forKey: "parent") == nil)
      people[0].setValue("f", forKeyPath: "children.name")
      #expect(people[1].value(forKey: "name") as? String == "d")
    }
  }

  @Test(
    "The mutable set at the end of a key path is that of the object along the path",
    arguments: StoreKind.allCases)
  func mutableSetsAreFoundByKeyPath(kind: StoreKind) throws {
    let context = try GraphStack(kind, model: KinshipModel.make()).context()
    context.performAndWait {
      let people = ["a", "b", "c"].map { context.make("Person", ["name": $0]) }
      people[1].setValue(people[0], forKey: "parent")
      people[1].mutableSetValue(forKeyPath: "parent.children").add(people[2])
      #expect(people[0].set("children") == [people[1], people[2]])
      people[0].mutableSetValue(forKeyPath: "children").remove(people[1])
      #expect(people[1].one("parent") == nil)
      let empty = people[1].mutableSetValue(forKeyPath: "parent.children")
      empty.add(people[1])
      #expect(people[0].set("children") == [people[2]])
      let songs = ["x", "y"].map { context.make("Song", ["name": $0]) }
      let list = context.make("List", ["songs": NSOrderedSet(object: songs[0])])
      songs[0].mutableOrderedSetValue(forKeyPath: "list.songs").insert(songs[1], at: 0)
      #expect(list.names("songs") == "yx" && songs[1].one("list") == list)
      #expect(people[0].mutableOrderedSetValue(forKeyPath: "parent.visited").count == 0)
    }
  }

  @Test(
    "An object's own properties are accessible by key, also in predicates, and fire nothing",
    arguments: StoreKind.allCases)
  func ownPropertiesAreAccessibleByKey(kind: StoreKind) throws {
    let context = try numbers(kind).context()
    try context.performAndWait {
      let (kept, gone) = (context.make("Number"), context.make("Number"))
      #expect(kept.value(forKey: "isInserted") as? Bool == true)
      #expect(kept.value(forKey: "inserted") as? Int == 1)
      try context.save()
      context.refreshAllObjects()
      #expect(kept.value(forKey: "isFault") as? Bool == true)
      #expect(kept.value(forKey: "hasChanges") as? Bool == false)
      #expect(kept.value(forKey: "managedObjectContext") as? NSManagedObjectContext === context)
      #expect(kept.value(forKeyPath: "entity") as? NSEntityDescription === kept.entity)
      #expect(kept.value(forKey: "self") as? NSManagedObject === kept && kept.isFault)
      context.delete(gone)
      for format in ["deleted == NO", "NOT isDeleted == YES"] {
        let predicate = NSPredicate(format: format)
        #expect([kept, gone].filter { predicate.evaluate(with: $0) } == [kept], "\(format)")
      }
      kept.setValue("b", forKey: "name")
      #expect(kept.value(forKey: "updated") as? Bool == true)
      #expect(kept.value(forKey: "hasPersistentChangedValues") as? Bool == true)
    }
  }
}
