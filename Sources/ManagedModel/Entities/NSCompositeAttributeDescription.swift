/// Describes an attribute that is a group of named values, such as an address.
///
/// Its type is composite from the start. Counterpart: `NSCompositeAttributeDescription`.
public final class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  /// The attributes of the group, which may be composite again.
  ///
  /// They belong to no entity: a value of one is reached through the value of the group.
  public var elements: [NSAttributeDescription] = [] { willSet { requireMutable() } }

  /// The leaves of a model in use, which never change again.
  private var frozenLeaves: [NSAttributeDescription]?

  /// Makes a group without a name and without elements.
  public override init() {
    super.init()
    attributeType = .compositeAttributeType
  }

  /// Reads a group; nil, which the unarchiver reports as an error, for bytes that aren't one.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
  }

  /// The values that a store keeps for the group: one attribute for each element that is no group.
  ///
  /// Each is named by its path from the entity, as in `address.city`, belongs to the group's entity
  /// and may be nil, because a group without a value has nil in all of them. Those of a model in use
  /// are the same at each call, others are made anew.
  package var leaves: [NSAttributeDescription] {
    frozenLeaves ?? makeLeaves(path: name, given: defaultValue, of: entity)
  }

  /// Whether the group, or an element of it once it has a value, must not be nil.
  package var isDemanding: Bool {
    !isOptional
      || elements.contains { element in
        !element.isOptional || (element as? NSCompositeAttributeDescription)?.isDemanding == true
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
