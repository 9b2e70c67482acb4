internal import Foundation

/// Reads key paths from objects, dictionaries, collections and Swift values.
enum KeyPathReader {
  /// The value at the end of the path.
  ///
  /// A nil on the way is the result; a collection on the way gives the values of its elements, in
  /// order, nils included.
  static func value(
    of path: PredicateKeyPath, from object: Any?
  ) throws(PredicateEvaluationError) -> PredicateValue {
    PredicateValue(try read(path.components[...], from: object))
  }

  /// The same for Apple's API: a value that was read is left as it is.
  static func plainValue(
    of path: PredicateKeyPath, from object: Any?
  ) throws(PredicateEvaluationError) -> Any? {
    let value = try read(path.components[...], from: object)
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
        if let readable = current as? any KeyValueReadable {
          object = readable.value(forKey: key)
          rest = rest.dropFirst()
        } else if let dictionary = current as? [String: Any] {
          object = dictionary[key]
          rest = rest.dropFirst()
        } else if let optional = current as? any OptionalValue {
          object = optional.anyValue
        } else if case .collection(let collection) = PredicateValue(current) {
          return try values(rest, of: collection).original
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

  /// The path of each element.
  ///
  /// A path's operator applies to the values found before it.
  private static func values(
    _ components: ArraySlice<PredicateKeyPath.Component>, of collection: PredicateCollection
  ) throws(PredicateEvaluationError) -> PredicateValue {
    let keys = components.prefix { if case .key = $0 { true } else { false } }
    var values: [PredicateValue] = []
    values.reserveCapacity(collection.elements.count)
    for element in collection.elements {
      values.append(PredicateValue(try read(keys, from: element.original)))
    }
    let mapped = PredicateValue.collection(
      PredicateCollection(values, isOrdered: collection.isOrdered))
    let rest = components.dropFirst(keys.count)
    return rest.isEmpty ? mapped : PredicateValue(try read(rest, from: mapped.original))
  }

  private static func apply(
    _ operation: CollectionOperator, _ rest: ArraySlice<PredicateKeyPath.Component>,
    to object: Any
  ) throws(PredicateEvaluationError) -> Any? {
    let value = PredicateValue(object)
    guard case .collection(let collection) = value else {
      throw .wrongOperand(value.kindText, operator: operation.rawValue)
    }
    if operation == .count {
      let count = PredicateValue.integer(Int64(collection.elements.count))
      return try read(rest, from: count.original)
    }
    guard case .collection(let inner) = try values(rest, of: collection) else { return nil }
    let values = inner.elements.filter { !$0.isNull }
    switch operation {
    case .count: return values.count
    case .sum: return try FunctionEvaluator.value(of: .sum, [list(values)]).original
    case .average: return try FunctionEvaluator.value(of: .average, [list(values)]).original
    case .min: return try FunctionEvaluator.value(of: .min, [list(values)]).original
    case .max: return try FunctionEvaluator.value(of: .max, [list(values)]).original
    case .unionOfObjects: return list(values).original
    case .distinctUnionOfObjects: return list(distinct(values)).original
    case .unionOfArrays, .unionOfSets: return list(opened(values)).original
    case .distinctUnionOfArrays, .distinctUnionOfSets:
      return list(distinct(opened(values))).original
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

  /// A key of a value that does not read keys itself: an entry of an `NSDictionary`, a property
  /// that Foundation's own class would have, a stored property.
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
        if let child = current.children.first(where: { $0.label == key }) { return child.value }
        mirror = current.superclassMirror
      }
      throw .unknownKey(key, type: "\(type(of: object))")
    }
  }
}
