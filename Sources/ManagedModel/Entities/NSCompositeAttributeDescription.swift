/// Describes an attribute that is a group of named values, such as an address.
///
/// Its type is `.compositeAttributeType`. Counterpart: `NSCompositeAttributeDescription`.
public final class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  /// The attributes of the group, which can be composite themselves.
  ///
  /// They don't belong to an entity: the value of an element is read from the value of the group.
  public var elements: [NSAttributeDescription] = [] { willSet { requireMutable() } }

  /// The leaves of a model in use, which is immutable.
  private var frozenLeaves: [NSAttributeDescription]?

  /// Creates a composite attribute without a name and without elements.
  public override init() {
    super.init()
    attributeType = .compositeAttributeType
  }

  /// Decodes a composite attribute.
  ///
  /// Returns `nil`, which the unarchiver reports as an error, if the bytes aren't a composite
  /// attribute.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
  }

  /// The stored attributes of the composite: one for each element that isn't a composite.
  ///
  /// Each is named by its path from the entity, such as `address.city`, belongs to the composite's
  /// entity, and is optional, because all of them are `nil` if the composite is `nil`. For a model
  /// in use, each call returns the same instances; otherwise, they're created at each call.
  package var leaves: [NSAttributeDescription] {
    frozenLeaves ?? makeLeaves(path: name, given: defaultValue, of: entity)
  }

  /// Returns whether a path, from the composite, is that of an element that isn't a composite.
  ///
  /// Doesn't create the leaves: a model can name many elements in indexes and constraints.
  func hasLeaf(at path: Substring) -> Bool {
    elements.contains { element in
      let name = element.name
      if path == name { return !(element is NSCompositeAttributeDescription) }
      guard path.hasPrefix(name), let group = element as? NSCompositeAttributeDescription else {
        return false
      }
      let rest = path.dropFirst(name.count)
      return rest.first == "." && group.hasLeaf(at: rest.dropFirst())
    }
  }

  /// Whether the composite is required, or has a required element.
  package var hasRequiredElement: Bool {
    !isOptional
      || elements.contains { element in
        !element.isOptional
          || (element as? NSCompositeAttributeDescription)?.hasRequiredElement == true
      }
  }

  private func makeLeaves(
    path: String, given: Any?, of entity: NSEntityDescription?
  ) -> [NSAttributeDescription] {
    let values = given as? [String: Any]
    return elements.flatMap { element -> [NSAttributeDescription] in
      let name = "\(path).\(element.name)"
      let value = values?[element.name] ?? element.defaultValue
      if let group = element as? NSCompositeAttributeDescription {
        return group.makeLeaves(path: name, given: value, of: entity)
      }
      guard let leaf = element.bareCopy() as? NSAttributeDescription else { return [] }
      leaf.name = name
      leaf.isOptional = true
      leaf.defaultValue = value
      leaf.explicitRenamingIdentifier = element.explicitRenamingIdentifier.map { "\(path).\($0)" }
      leaf.entity = entity
      return [leaf]
    }
  }

  override func freeze() {
    let leaves = self.leaves
    for leaf in leaves { leaf.freeze() }
    frozenLeaves = leaves
    for element in elements { element.freeze() }
    super.freeze()
  }
}

/// The reason that a value is invalid for a composite attribute.
package struct CompositeValueError: Error, CustomStringConvertible {
  /// The description of the error, as a sentence.
  package let description: String
}

extension NSAttributeDescription {
  /// Whether new objects have a value: for a composite attribute, that of an element.
  package var hasDefaultValue: Bool {
    (self as? NSCompositeAttributeDescription).map { $0.initialValue != nil }
      ?? (typedDefaultValue != nil)
  }
}

extension NSCompositeAttributeDescription {
  /// The value of a new object: the default values of the elements that have one; `nil` if none
  /// has.
  package var initialValue: [String: Any]? {
    var values: [String: Any] = [:]
    for leaf in leaves { values[leaf.name] = leaf.typedDefaultValue }
    return gathered { values[$0] }
  }

  /// Returns the composite's value from those of its leaves; `nil` if all of them are `nil`.
  ///
  /// - Parameter value: Returns the value of a leaf by its path, such as `address.city`.
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

  /// Returns the values of the leaves, by path, for a value of the composite.
  ///
  /// - Parameter value: A dictionary by element name, in which missing elements are `nil`, or
  ///   `nil`.
  /// - Throws: An error if the value isn't a dictionary or has a key that isn't an element.
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
          description: "'\(path)' is a composite attribute: set it to a dictionary, not \(value).")
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

  /// Returns the paths of the required elements that are missing in a value of the composite.
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
