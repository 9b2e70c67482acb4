import OpenCoreData
import PostgresFixtures
import PostgresStore
import Testing

import class ManagedModel.NSEntityDescription

@Suite("Random saves")
struct RandomSaveTests {
  /// One of two contexts that get the same changes.
  private struct Side {
    let context: NSManagedObjectContext
    var objects: [String: NSManagedObject] = [:]
  }

  /// A change of objects that are identified by name.
  private enum Change {
    case insert(String, entity: String)
    case set(String, String, Int?)
    case toOne(String, String, String?)
    case add(String, String, String)
    case remove(String, String, String)
    case list(String, String, [String])
    case delete(String)

    /// The two objects of an addition or a removal.
    var pair: Set<String>? {
      switch self {
      case .add(let first, _, let second), .remove(let first, _, let second): [first, second]
      default: nil
      }
    }
  }

  // A to-many without an inverse isn't changed: a destination in two of them has one owner in the
  // store, of which the saving context doesn't know.
  private static let toOnes = [
    ("Person", "department", "Department"), ("Person", "boss", "Person"),
    ("Person", "badge", "Badge"),
    ("Task", "department", "Department"),
  ]
  private static let toManys = [
    ("Person", "skills", "Skill"), ("Skill", "people", "Person"), ("Person", "friends", "Person"),
    ("Department", "people", "Person"), ("Task", "fans", "Person"),
    ("Person", "reports", "Person"),
  ]
  private static let lists = [
    ("Department", "tasks", "Task"), ("Person", "favorites", "Task"),
  ]

  @Test(
    "Random changes, saved in both stores, leave the same objects",
    arguments: 1...4 as ClosedRange<UInt64>)
  func sameObjects(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let model = SampleModels.company()
    // Each kind of object has a name to be identified by.
    model.entitiesByName["Badge"]?.properties.append(
      SampleModels.attribute("name", .stringAttributeType))
    let stack = try PostgresStack(model)
    let sqlite = NSPersistentStoreCoordinator(managedObjectModel: model)
    try sqlite.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: "/dev/null"))
    var sides = [Side(context: stack.context()), Side(context: stack.context(sqlite))]
    var names: [String: [String]] = [:]
    for round in 0..<25 {
      // While a relationship wasn't read, it isn't known whether an object that is removed and
      // added is in it, so each pair is changed once.
      var pairs: Set<Set<String>> = []
      let changes = (0..<12).compactMap { step in
        Self.change("\(round)-\(step)", &names, &generator)
      }.filter { $0.pair.map { pairs.insert($0).inserted } ?? true }
      for index in sides.indices {
        try sides[index].context.performAndWait {
          for change in changes { Self.apply(change, to: &sides[index]) }
          try sides[index].context.save()
        }
      }
      let (found, expected) = (
        try Self.contents(try stack.coldContext()), try Self.contents(stack.context(sqlite))
      )
      var difference = Self.difference(found, expected)
      // In every other run, the saving contexts have read the relationships that they change.
      if seed % 2 == 0 {
        for side in sides {
          difference += Self.difference(try Self.contents(side.context), expected)
        }
      }
      #expect(difference == [], "round \(round): \(changes)")
      guard difference.isEmpty else { return }
    }
  }

  /// Returns the lines that are in one of two contents.
  private static func difference(_ found: [String], _ expected: [String]) -> [String] {
    found.filter { !expected.contains($0) }.map { "found: " + $0 }
      + expected.filter { !found.contains($0) }.map { "expected: " + $0 }
  }

  private static func change(
    _ name: String, _ names: inout [String: [String]], _ generator: inout SeededGenerator
  ) -> Change? {
    func any(_ entity: String) -> String? { names[entity]?.randomElement(using: &generator) }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0, 1:
      let entities = ["Person", "Manager", "Department", "Task", "Skill", "Note", "Badge"]
      let entity = entities.randomElement(using: &generator) ?? "Person"
      names[entity == "Manager" ? "Person" : entity, default: []].append(name)
      return .insert(name, entity: entity)
    case 2: return any("Person").map { .set($0, "age", Int.random(in: 0...3, using: &generator)) }
    case 3, 4:
      guard let (entity, key, other) = toOnes.randomElement(using: &generator),
        let owner = any(entity)
      else { return nil }
      return .toOne(owner, key, Bool.random(using: &generator) ? any(other) : nil)
    case 5, 6, 7:
      guard let (entity, key, other) = toManys.randomElement(using: &generator),
        let owner = any(entity), let member = any(other)
      else { return nil }
      return Int.random(in: 0..<3, using: &generator) == 0
        ? .remove(owner, key, member) : .add(owner, key, member)
    case 8:
      guard let (entity, key, other) = lists.randomElement(using: &generator),
        let owner = any(entity)
      else { return nil }
      let members = (names[other] ?? []).shuffled(using: &generator).prefix(4)
      return .list(owner, key, Array(members))
    default:
      guard let entity = names.keys.sorted().randomElement(using: &generator),
        (names[entity]?.count ?? 0) > 3, let name = any(entity)
      else { return nil }
      names[entity]?.removeAll { $0 == name }
      return .delete(name)
    }
  }

  private static func apply(_ change: Change, to side: inout Side) {
    switch change {
    case .insert(let name, let entity):
      side.objects[name] = side.context.insert(entity, ["name": name])
    case .set(let name, let key, let value): side.objects[name]?.setValue(value, forKey: key)
    case .toOne(let name, let key, let other):
      side.objects[name]?.setValue(other.flatMap { side.objects[$0] }, forKey: key)
    case .add(let name, let key, let other):
      side.objects[other].map { _ = side.objects[name]?.mutableSetValue(forKey: key).add($0) }
    case .remove(let name, let key, let other):
      side.objects[other].map { _ = side.objects[name]?.mutableSetValue(forKey: key).remove($0) }
    case .list(let name, let key, let others):
      let list = side.objects[name]?.mutableOrderedSetValue(forKey: key)
      list?.removeAllObjects()
      for other in others { side.objects[other].map { _ = list?.add($0) } }
    case .delete(let name):
      if let object = side.objects.removeValue(forKey: name) { side.context.delete(object) }
    }
  }

  /// Returns a line for each object with all its values.
  private static func contents(_ context: NSManagedObjectContext) throws -> [String] {
    try context.performAndWait {
      var lines: [String] = []
      for entity in ["Person", "Department", "Task", "Skill", "Note", "Badge"] {
        for object in try context.all(entity) { lines.append(line(object)) }
      }
      return lines.sorted()
    }
  }

  private static func line(_ object: NSManagedObject) -> String {
    var parts = [
      object.entity.name ?? "", object.name ?? "", "\(object.value(forKey: "name") ?? "")",
    ]
    if object.entity.attributesByName["age"] != nil {
      parts.append("age \(object.value(forKey: "age") ?? "nil")")
    }
    for (key, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
      if !relationship.isToMany {
        parts.append("\(key) \((object.value(forKey: key) as? NSManagedObject)?.name ?? "nil")")
      } else if relationship.isOrdered {
        parts.append("\(key) \(object.listedNames(key))")
      } else {
        parts.append("\(key) \(object.names(key))")
      }
    }
    return parts.joined(separator: " ")
  }
}
