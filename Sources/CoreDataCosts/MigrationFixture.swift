public import OpenCoreData

/// The expected content of a migrated store, in the values of the app instead of primary keys.
///
/// Objects are recognized by their key: the values of the properties in `keys`. Only the entities
/// in `objects` are compared, and only the properties that an object lists.
///
///     let fixture = MigrationFixture(
///       keys: ["Country": ["code"]],
///       objects: [
///         "Country": [["code": "de", "population": 83], ["code": "fr", "moods": ["m1", "m2"]]]
///       ])
///
/// `init(contentsOf:model:configuration:keys:)` reads one from a store that's known to be correct.
/// As JSON, it's `{"keys": {…}, "objects": {…}}` with the same structure.
public struct MigrationFixture: Codable, Equatable, Sendable {
  /// The values of an object by property.
  public typealias Object = [String: Value]

  /// The value of a property.
  ///
  /// Numbers and Booleans are decimal numbers, dates the seconds since 2001, and data Base64. A
  /// composite attribute lists its elements by name: `{city: Kyiv; street: Khreshchatyk}`. A to-one
  /// relationship has the key of its destination, and a to-many relationship a list of them.
  public enum Value: Hashable, Sendable {
    /// No value.
    case none
    /// The value of an attribute or of a to-one relationship.
    case text(String)
    /// The keys of the destinations; their order counts only in an ordered relationship.
    case list([String])
  }

  /// The properties by whose values an object is recognized, by the name of its entity or of a
  /// parent entity.
  ///
  /// An entity without a key has the properties of its first uniqueness constraint; without one,
  /// all attributes.
  public var keys: [String: [String]]
  /// All objects of each entity, without those of subentities.
  public var objects: [String: [Object]]

  /// Creates a fixture.
  public init(keys: [String: [String]] = [:], objects: [String: [Object]]) {
    (self.keys, self.objects) = (keys, objects)
  }

  /// Reads the content of a store.
  ///
  /// The store isn't modified. **Cost:** one fetch for each entity, and the faults of its
  /// relationships.
  /// - Parameters:
  ///   - url: The SQLite store.
  ///   - model: The model of the store.
  ///   - configuration: The configuration that the store contains; `nil` for all entities.
  ///   - keys: The properties by whose values an object is recognized.
  /// - Throws: The errors of opening and reading a store.
  public init(
    contentsOf url: URL, model: NSManagedObjectModel, configuration: String? = nil,
    keys: [String: [String]] = [:]
  ) throws {
    self.init(keys: keys, objects: [:])
    objects = try Self.reading(url, with: model, configuration) { context in
      var objects: [String: [Object]] = [:]
      let stored = model.entities(forConfigurationName: configuration) ?? []
      for entity in stored where !entity.isAbstract {
        let names = entity.propertiesByName.values.filter(isCompared).map(\.name)
        objects[entity.name ?? ""] = try read(entity, names, in: context).map(\.values)
      }
      return objects
    }
  }

  /// Opens a store read-only while a closure runs.
  static func reading<Result>(
    _ store: URL, with model: NSManagedObjectModel, _ configuration: String?,
    _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      type: .sqlite, configuration: configuration, at: store,
      options: [NSReadOnlyPersistentStoreOption: true])
    defer { try? coordinator.remove(opened) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try body(context)
  }

  /// Returns the objects of an entity, with their keys.
  func read(
    _ entity: NSEntityDescription, _ names: [String], in context: NSManagedObjectContext
  ) throws -> [(key: String, values: Object)] {
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      return try context.fetch(request).map { object in
        var values: Object = [:]
        for name in names { values[name] = value(name, of: object) }
        return (key(of: object), values)
      }
      .sorted { $0.key < $1.key }
    }
  }

  /// Returns the key of an object of the fixture.
  func key(of values: Object, _ entity: NSEntityDescription) -> String {
    keyNames(of: entity).map { name in
      guard case .list(let keys) = values[name], entity.relationshipsByName[name]?.isOrdered != true
      else { return (values[name] ?? .none).description }
      return Value.list(keys.sorted()).description
    }
    .joined(separator: ", ")
  }

  private func key(of object: NSManagedObject, depth: Int = 0) -> String {
    keyNames(of: object.entity).map { name in
      value(name, of: object, depth: depth + 1).description
    }
    .joined(separator: ", ")
  }

  private func keyNames(of entity: NSEntityDescription) -> [String] {
    var candidate: NSEntityDescription? = entity
    while let current = candidate {
      if let names = keys[current.name ?? ""] { return names }
      let constraint = current.uniquenessConstraints.first?.compactMap { element in
        (element as? String) ?? (element as? NSPropertyDescription)?.name
      }
      if let constraint, !constraint.isEmpty { return constraint }
      candidate = current.superentity
    }
    return entity.attributesByName.values.filter(isCompared).map(\.name).sorted()
  }

  private func value(_ name: String, of object: NSManagedObject, depth: Int = 0) -> Value {
    // A key can contain relationships, which can form a cycle.
    guard depth < 8 else { return .none }
    switch object.entity.propertiesByName[name] {
    case let relationship as NSRelationshipDescription:
      let found = object.value(forKey: name)
      guard relationship.isToMany else {
        return (found as? NSManagedObject).map { .text(key(of: $0, depth: depth)) } ?? .none
      }
      if relationship.isOrdered {
        let members = (found as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
        return .list(members.map { key(of: $0, depth: depth) })
      }
      let members = found as? Set<NSManagedObject> ?? []
      return .list(members.map { key(of: $0, depth: depth) }.sorted())
    case is NSAttributeDescription:
      return Value(object.value(forKey: name))
    default: return .none
    }
  }

  /// Returns whether a property has values in the store.
  func isCompared(_ property: NSPropertyDescription) -> Bool {
    !property.isTransient && !(property is NSFetchedPropertyDescription)
  }
}

extension MigrationFixture {
  /// Returns the objects of a fixture and of a store with the same key, in order, without pairs
  /// that have equal values.
  ///
  /// Objects that list more properties are matched first, because fewer objects are equal to them.
  /// **Cost:** in proportion to the number of objects, for each set of properties.
  static func unequal(
    _ expected: [Object], _ actual: [Object], of entity: NSEntityDescription
  ) -> (expected: [Object], actual: [Object]) {
    var isMatched = [Bool](repeating: false, count: expected.count)
    var isTaken = [Bool](repeating: false, count: actual.count)
    let groups = Dictionary(grouping: expected.indices) { expected[$0].keys.sorted() }
      .sorted { one, other in
        one.key.count == other.key.count
          ? one.key.lexicographicallyPrecedes(other.key) : one.key.count > other.key.count
      }
    for (names, positions) in groups {
      // The last one of each array is the first one of the store.
      var free = Dictionary(grouping: actual.indices.reversed().filter { !isTaken[$0] }) {
        comparable(actual[$0], names, of: entity)
      }
      for position in positions {
        let object = comparable(expected[position], names, of: entity)
        guard let match = free[object]?.popLast() else { continue }
        isMatched[position] = true
        isTaken[match] = true
      }
    }
    return (
      expected.indices.filter { !isMatched[$0] }.map { expected[$0] },
      actual.indices.filter { !isTaken[$0] }.map { actual[$0] }
    )
  }

  /// Returns the values of some properties; lists whose order doesn't count are sorted.
  private static func comparable(
    _ object: Object, _ names: [String], of entity: NSEntityDescription
  ) -> Object {
    var values: Object = [:]
    for name in names {
      let value: Value = object[name] ?? Value.none
      if case .list(let texts) = value, entity.relationshipsByName[name]?.isOrdered != true {
        values[name] = .list(texts.sorted())
      } else {
        values[name] = value
      }
    }
    return values
  }
}

extension MigrationFixture.Value: CustomStringConvertible {
  /// Creates the value of an attribute.
  init(_ value: Any?) {
    switch value {
    case nil: self = .none
    case let text as String: self = .text(text)
    case let date as Date: self.init(number: date.timeIntervalSinceReferenceDate)
    case let data as Data: self = .text(data.base64EncodedString())
    case let identifier as UUID: self = .text(identifier.uuidString)
    case let url as URL: self = .text(url.absoluteString)
    case let number as NSDecimalNumber: self = .text(number.stringValue)
    case let number as NSNumber: self.init(number)
    case let isTrue as Bool: self = .text(isTrue ? "1" : "0")
    case let number as any BinaryInteger: self = .text("\(number)")
    case let number as Double: self.init(number: number)
    // Dictionaries and sets have a different order in each process.
    case let elements as [AnyHashable: Any]:
      self.init(elements: elements.map { "\($0): \(Self($1))" })
    case let elements as Set<AnyHashable>:
      self.init(elements: elements.map { Self($0.base).description })
    case .some(let other): self = .text("\(other)")
    }
  }

  /// Creates the value of a collection without an order.
  private init(elements: [String]) {
    self = .text("{\(elements.sorted().joined(separator: "; "))}")
  }

  /// Creates the value of a number, whose own type determines its digits.
  private init(_ number: NSNumber) {
    switch String(cString: number.objCType) {
    case "f": self.init(number: number.floatValue)
    case "d": self.init(number: number.doubleValue)
    default: self = .text(number.stringValue)
    }
  }

  /// Creates the value of a floating-point number, with the fewest digits that identify it, and
  /// without an exponent, so that it's equal to an integer or a decimal number.
  private init(number: some BinaryFloatingPoint & LosslessStringConvertible) {
    let text = "\(number)"
    guard number.isFinite, number != 0 else {
      self = .text(number == 0 ? "0" : text)
      return
    }
    // Decimal numbers end at 10 to the power of about 127.
    let isDecimal = abs(number.exponent) < 400
    self = .text(isDecimal ? Decimal(string: text)?.description ?? text : text)
  }

  /// The text; the texts of a list are in brackets, separated by semicolons.
  public var description: String {
    switch self {
    case .none: "nil"
    case .text(let text): text
    case .list(let texts): "[\(texts.joined(separator: "; "))]"
    }
  }
}

extension MigrationFixture.Value: Codable {
  /// Reads null, a string, a number, a Boolean, or an array of strings.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .none
    } else if let texts = try? container.decode([String].self) {
      self = .list(texts)
    } else if let isTrue = try? container.decode(Bool.self) {
      self.init(isTrue)
    } else if let number = try? container.decode(Int64.self) {
      self.init(number)
    } else if let number = try? container.decode(Double.self) {
      self.init(number)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  /// Writes null, a string, or an array of strings.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .none: try container.encodeNil()
    case .text(let text): try container.encode(text)
    case .list(let texts): try container.encode(texts)
    }
  }
}

extension MigrationFixture.Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByNilLiteral
{
  /// Creates the value of a string.
  public init(stringLiteral value: String) { self = .text(value) }
  /// Creates the value of an integer.
  public init(integerLiteral value: Int64) { self.init(value) }
  /// Creates the value of a floating-point number.
  public init(floatLiteral value: Double) { self.init(value) }
  /// Creates the value of a Boolean.
  public init(booleanLiteral value: Bool) { self.init(value) }
  /// Creates the value of a to-many relationship.
  public init(arrayLiteral elements: String...) { self = .list(elements) }
  /// Creates the value of a property without a value.
  public init(nilLiteral: ()) { self = .none }
}
