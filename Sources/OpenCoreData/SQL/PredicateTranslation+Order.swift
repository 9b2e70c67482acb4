import ManagedModel

extension PredicateTranslation {
  /// What follows `ORDER BY `, empty for no descriptors.
  ///
  /// Tables on the way to a key are outer joined: sorting loses no rows.
  func order(_ descriptors: [NSSortDescriptor]) throws(TranslationError) -> String {
    var terms: [String] = []
    for descriptor in descriptors { terms.append(try term(descriptor)) }
    return terms.joined(separator: ", ")
  }

  private func term(_ descriptor: NSSortDescriptor) throws(TranslationError) -> String {
    guard let key = descriptor.key else {
      throw TranslationError(
        "a sort descriptor without a key", "The store sorts by key paths only.")
    }
    let site = columnSite
    if let name = computed.alias(of: key) {
      let isText = computed.types[key] == .text
      return name + (try collation(descriptor, key, isText: isText))
        + (descriptor.ascending ? "" : "DESC")
    }
    if let place = root.entity.column(named: key)?.orderColumn, let start = root.start {
      // The order of the list that the to-one leads back to.
      let alias = root.alias(of: start, isRequired: false)
      return "\(alias).\(SQLNames.quoted(place))" + (descriptor.ascending ? "" : " DESC")
    }
    let path = PredicateKeyPath(key)
    var column: SQLFragment
    var isText = false
    switch try walk(path.components[...], in: root, at: site, text: key) {
    case .attribute(let found, let attribute):
      column = found
      isText = StoredType(attribute.attributeType) == .text
    case .object(let found, _) where ["self", "SELF", "objectID"].contains(key):
      column = found
    case .toMany(let path) where path.rest.first != nil:
      guard case .computed(let found, _) = try aggregate(path, at: site) else {
        throw TranslationError(key, "The store cannot sort by this.")
      }
      column = found
    case .toMany:
      throw TranslationError(key, "A to-many relationship has no place in an order.")
    case .object(_, let entity):
      throw TranslationError(
        key, "Objects have no order. Sort by an attribute of \(entity.name), such as \(key).name.")
    case .constant, .entity, .computed, .list:
      throw TranslationError(key, "The store cannot sort by this.")
    }
    if column.sql.first == " " { column.sql.removeFirst() }
    return column.sql + (try collation(descriptor, key, isText: isText))
      + (descriptor.ascending ? "" : "DESC")
  }

  /// ` COLLATE … ` for a localized order, with the blanks of Apple's logs; else what comes before
  /// `DESC`.
  private func collation(
    _ descriptor: NSSortDescriptor, _ key: String, isText: Bool
  ) throws(TranslationError) -> String {
    guard let comparison = descriptor.comparison else {
      throw TranslationError(key, "The store cannot sort by a block; it needs SQL.")
    }
    guard isText, let collation = StoreCollation(comparison) else {
      return descriptor.ascending ? "" : " "
    }
    return " COLLATE \(collation.rawValue) "
  }
}
