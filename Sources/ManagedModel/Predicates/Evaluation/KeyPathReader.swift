internal import Foundation

/// Reads key paths from objects, dictionaries, collections, and Swift values.
enum KeyPathReader {
  /// Returns the value of the path.
  ///
  /// If a value along the path is `nil`, the result is `nil`. A collection along the path maps to
  /// the values of its elements: an array to all of them in order, including `nil`, a set to the
  /// distinct ones without `nil`.
  static func value(
    of path: PredicateKeyPath, from object: Any?
  ) throws(PredicateEvaluationError) -> PredicateValue {
    PredicateValue(try read(path.components[...], from: object))
  }

  /// Returns the value of a path that begins at a record.
  ///
  /// To-one relationships are followed from record to record, without casts.
  static func value(
    of path: PredicateKeyPath, from record: any PredicateRecord
  ) throws(PredicateEvaluationError) -> PredicateValue {
    try value(of: path.components[...], from: record)
  }

  private static func value(
    of components: ArraySlice<PredicateKeyPath.Component>, from record: any PredicateRecord
  ) throws(PredicateEvaluationError) -> PredicateValue {
    var record = record
    var rest = components
    while case .key(let key)? = rest.first, let position = record.position(ofKey: key) {
      let value = record.predicateValue(at: position)
      rest = rest.dropFirst()
      if rest.isEmpty || value.isNull { return value }
      guard case .object(let object) = value, let next = object.record else {
        return PredicateValue(try read(rest, from: value.carried))
      }
      record = next
    }
    return PredicateValue(try read(rest, from: record))
  }

  /// Returns whether an object in a collection along the path has no value for the rest of it.
  static func lacksValue(
    _ path: PredicateKeyPath, from object: PredicateValue
  ) throws(PredicateEvaluationError) -> Bool {
    try lacksValue(path.components[...], from: object, isElement: false)
  }

  private static func lacksValue(
    _ components: ArraySlice<PredicateKeyPath.Component>, from object: PredicateValue,
    isElement: Bool
  ) throws(PredicateEvaluationError) -> Bool {
    var value = object.nilIfNotANumber
    var rest = components
    while !value.isNull {
      guard case .key? = rest.first else { return false }
      if case .collection(let collection) = value {
        for element in collection.elements
        where try lacksValue(rest, from: element, isElement: true) {
          return true
        }
        return false
      }
      value = PredicateValue(try read(rest.prefix(1), from: value.carried)).nilIfNotANumber
      rest = rest.dropFirst()
    }
    return isElement
  }

  /// Returns the value of the path for the public API, which returns values unchanged.
  static func plainValue(
    of path: PredicateKeyPath, from object: Any?
  ) throws(PredicateEvaluationError) -> Any? {
    let value = try read(path.components[...], from: object)
    if let collection = value as? PredicateCollection { return collection.boxed }
    return path.collectionOperator == nil ? value : PredicateValue(value).boxed
  }

  private static func read(
    _ components: ArraySlice<PredicateKeyPath.Component>, from object: Any?
  ) throws(PredicateEvaluationError) -> Any? {
    var object = object
    var rest = components
    while let component = rest.first {
      guard let current = object else { return nil }
      switch component {
      case .placeholder: throw .missingArgument("%K")
      case .key("self"), .key("SELF"): rest = rest.dropFirst()
      case .key(let key):
        if let record = current as? any PredicateRecord {
          object = record.storedValue(forKey: key)
          rest = rest.dropFirst()
        } else if let readable = current as? any KeyValueReadable {
          object = readable.value(forKey: key)
          rest = rest.dropFirst()
        } else if let dictionary = current as? [String: Any] {
          object = dictionary[key]
          rest = rest.dropFirst()
        } else if let optional = current as? any OptionalValue {
          object = optional.anyValue
        } else if case .collection(let collection) = PredicateValue(current) {
          return try valuesOfKeys(rest, of: collection)
        } else {
          object = try property(key, of: current)
          rest = rest.dropFirst()
        }
      case .operator(let found):
        return try apply(found, rest.dropFirst(), to: current)
      }
    }
    return object
  }

  /// Returns the values of a collection's elements, to which an operator later in the path applies.
  ///
  /// A set, ordered or not, maps to a set without `nil`, as documented for `value(forKey:)` of
  /// `NSSet` and `NSOrderedSet`; an array preserves duplicates and `nil`.
  private static func valuesOfKeys(
    _ components: ArraySlice<PredicateKeyPath.Component>, of collection: PredicateCollection
  ) throws(PredicateEvaluationError) -> Any? {
    let keys = components.prefix { if case .key = $0 { true } else { false } }
    var found = try values(keys, of: collection)
    if collection.isSet { found = distinct(found.filter { !$0.isNull }) }
    let mapped = PredicateValue.collection(
      PredicateCollection(found, isOrdered: collection.isOrdered, isSet: collection.isSet))
    return try read(components.dropFirst(keys.count), from: mapped.carried)
  }

  /// Returns the value that each element has for a path, including `nil`.
  private static func values(
    _ components: ArraySlice<PredicateKeyPath.Component>, of collection: PredicateCollection
  ) throws(PredicateEvaluationError) -> [PredicateValue] {
    var values: [PredicateValue] = []
    values.reserveCapacity(collection.elements.count)
    for element in collection.elements {
      if case .object(let object) = element, let record = object.record {
        values.append(try value(of: components, from: record).nilIfNotANumber)
      } else {
        values.append(PredicateValue(try read(components, from: element.carried)))
      }
    }
    return values
  }

  private static func apply(
    _ operation: CollectionOperator, _ rest: ArraySlice<PredicateKeyPath.Component>,
    to object: Any
  ) throws(PredicateEvaluationError) -> Any? {
    let value = PredicateValue(object)
    if case .dictionary(let entries, _) = value, operation == .count {
      return try read(rest, from: PredicateValue.integer(Int64(entries.count)).original)
    }
    guard case .collection(let collection) = value else {
      throw .wrongOperand(value.kindText, operator: operation.rawValue)
    }
    if operation == .count {
      let count = PredicateValue.integer(Int64(collection.elements.count))
      return try read(rest, from: count.original)
    }
    let all = try values(rest, of: collection)
    let values = all.filter { !$0.isNull }
    switch operation {
    case .count: return values.count
    case .sum: return try FunctionEvaluator.value(of: .sum, [list(values)]).original
    case .average:
      // A `nil` counts as zero here, as Apple documents it; SQL's AVG ignores NULL.
      if all.isEmpty { return 0 }
      let zeros = all.map { $0.isNull ? .integer(0) : $0 }
      return try FunctionEvaluator.value(of: .average, [list(zeros)]).original
    case .min: return try FunctionEvaluator.value(of: .min, [list(values)]).original
    case .max: return try FunctionEvaluator.value(of: .max, [list(values)]).original
    case .unionOfObjects: return list(values).carried
    case .distinctUnionOfObjects: return list(distinct(values)).carried
    case .unionOfArrays, .unionOfSets: return list(opened(values)).carried
    case .distinctUnionOfArrays: return list(distinct(opened(values))).carried
    case .distinctUnionOfSets:
      let members = distinct(opened(values))
      return PredicateValue.collection(PredicateCollection(members, isOrdered: false)).carried
    }
  }

  private static func list(_ values: [PredicateValue]) -> PredicateValue {
    .collection(PredicateCollection(values))
  }

  private static func distinct(_ values: [PredicateValue]) -> [PredicateValue] {
    var seen: Set<PredicateValue> = []
    return values.filter { seen.insert($0).inserted }
  }

  private static func opened(_ values: [PredicateValue]) -> [PredicateValue] {
    values.flatMap { value in
      if case .collection(let inner) = value { inner.elements } else { [value] }
    }
  }

  /// Returns the value of a key for an object that isn't `KeyValueReadable`: an entry of an
  /// `NSDictionary`, a property of Foundation's class for the value, or a stored property.
  private static func property(
    _ key: String, of object: Any
  ) throws(PredicateEvaluationError) -> Any? {
    switch object {
    case let dictionary as NSDictionary: return dictionary[NSString(string: key)]
    default:
      if let value = PredicateMethod.property(key, of: PredicateValue(object)) {
        return value.original
      }
      var mirror: Mirror? = Mirror(reflecting: object)
      while let current = mirror {
        if let child = current.children.first(where: { $0.label == key }) {
          // A nested optional would be neither nil nor its value for the caller.
          if let optional = child.value as? any OptionalValue { return optional.anyValue }
          return child.value
        }
        mirror = current.superclassMirror
      }
      throw .unknownKey(key, type: "\(type(of: object))")
    }
  }
}
