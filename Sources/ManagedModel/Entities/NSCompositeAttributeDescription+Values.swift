/// Why a value is none of a composite attribute.
package struct CompositeValueError: Error, CustomStringConvertible {
  /// A sentence.
  package let description: String
}

extension NSCompositeAttributeDescription {
  /// The group's value, made of those of its leaves; nil when all of them are nil.
  ///
  /// - Parameter value: The value of a leaf, given its path such as `address.city`.
  package func gathered(_ value: (_ path: String) -> Any?) -> [String: Any]? {
    gathered(path: name, value)
  }

  private func gathered(path: String, _ value: (String) -> Any?) -> [String: Any]? {
    var result: [String: Any] = [:]
    for element in elements {
      let inner = "\(path).\(element.name)"
      if let group = element as? NSCompositeAttributeDescription {
        if let values = group.gathered(path: inner, value) { result[element.name] = values }
      } else if let found = value(inner) {
        result[element.name] = found
      }
    }
    return result.isEmpty ? nil : result
  }

  /// The values of the leaves, by their paths, that make up a value of the group.
  ///
  /// - Parameter value: A dictionary by the names of the elements; nil, or an element that it lacks,
  ///   stands for nil.
  /// - Throws: An error for what is no dictionary, and for a key that is no element.
  package func spread(
    _ value: Any?
  ) throws(CompositeValueError) -> [(path: String, value: Any?)] {
    try spread(value, path: name)
  }

  private func spread(
    _ value: Any?, path: String
  ) throws(CompositeValueError) -> [(path: String, value: Any?)] {
    var given: [String: Any] = [:]
    if let value, !(value is NSNull) {
      guard let dictionary = value as? [String: Any] else {
        throw CompositeValueError(
          description: "'\(path)' is a group of values: give it a dictionary, not \(value).")
      }
      given = dictionary
    }
    let names = elements.map(\.name)
    if let unknown = given.keys.sorted().first(where: { !names.contains($0) }) {
      throw CompositeValueError(
        description: "'\(path)' has no element '\(unknown)'. "
          + "Its elements are: \(names.sorted().joined(separator: ", ")).")
    }
    var result: [(path: String, value: Any?)] = []
    for element in elements {
      let inner = "\(path).\(element.name)"
      if let group = element as? NSCompositeAttributeDescription {
        result += try group.spread(given[element.name], path: inner)
      } else {
        result.append((inner, given[element.name]))
      }
    }
    return result
  }

  /// The paths of the elements that must have a value and have none in a value of the group.
  package func missingPaths(in value: [String: Any]) -> [String] {
    missingPaths(in: value, path: name)
  }

  private func missingPaths(in value: [String: Any], path: String) -> [String] {
    elements.flatMap { element -> [String] in
      let inner = "\(path).\(element.name)"
      let found = value[element.name]
      guard let found, !(found is NSNull) else { return element.isOptional ? [] : [inner] }
      guard let group = element as? NSCompositeAttributeDescription,
        let values = found as? [String: Any]
      else { return [] }
      return group.missingPaths(in: values, path: inner)
    }
  }
}
