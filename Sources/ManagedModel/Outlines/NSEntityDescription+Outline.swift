extension NSEntityDescription {
  /// The entity as text, one fact a line; own properties only, sorted.
  package var outline: [String] {
    var facts = ["entity \(name ?? "")", "class \(managedObjectClassName ?? "")"]
    if let superentity { facts.append("below \(superentity)") }
    if isAbstract { facts.append("abstract") }
    facts += Self.facts(
      renaming: explicitRenamingIdentifier, name: name, modifier: versionHashModifier,
      userInfo: userInfo)
    if let shown = coreSpotlightDisplayNameExpression { facts.append("shown as \(shown)") }
    var lines = [facts.joined(separator: ", ")]
    lines += ownProperties.sorted { $0.name < $1.name }.map { "  " + $0.outline }
    lines += indexes.sorted { $0.name < $1.name }.map { "  " + $0.outline }
    lines += compoundIndexNames.map { "  compound index \($0.joined(separator: ", "))" }
    lines += uniquenessConstraintNames.map { "  unique \($0.joined(separator: ", "))" }
    return lines
  }

  static func facts(
    renaming: String?, name: String?, modifier: String?, userInfo: [AnyHashable: Any]?
  ) -> [String] {
    var facts: [String] = []
    if let renaming, renaming != name { facts.append("formerly \(renaming)") }
    if let modifier { facts.append("hash modifier \(modifier)") }
    if let userInfo, !userInfo.isEmpty {
      facts.append("info \(userInfo.map { "\($0.key)=\($0.value)" }.sorted())")
    }
    return facts
  }
}

extension NSFetchIndexDescription {
  /// The index on one line.
  var outline: String { "index \(name): \(parts)" }

  /// What the index covers: its elements in their order, and of which rows.
  package var parts: String {
    let parts = elements.map { element in
      (element.propertyName ?? "?") + (element.isAscending ? "" : " descending")
        + (element.collationType == .rTree ? " range" : "")
    }
    let condition = partialIndexPredicate.map { " where \($0.predicateFormat)" } ?? ""
    return parts.joined(separator: ", ") + condition
  }
}
