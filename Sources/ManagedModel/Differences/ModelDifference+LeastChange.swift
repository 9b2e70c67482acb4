extension ModelDifference {
  /// The least change of the later model that makes the migration lightweight, as a sentence; nil if it's
  /// lightweight already.
  package var leastChange: String? {
    guard effect == .custom else { return nil }
    let detail = detail ?? ""
    let property = name ?? ""
    if subject == .entity {
      return detail.hasPrefix("abstract")
        ? "Leave \(path) concrete."
        : "Leave the parent of \(path) as it was, and declare common properties in each entity."
    }
    if detail.hasPrefix("type of element") {
      return "Leave the element as it was, and add one with another name."
    }
    if detail.hasPrefix("type from") {
      return
        "Leave the type of \(property), and add an attribute of the new type with another name, "
        + "which your code fills."
    }
    if detail.hasPrefix("external storage") {
      return "Leave external storage of \(property) on."
    }
    if detail.hasPrefix("to one now") {
      return
        "Leave \(property) to-many, and add a to-one relationship with another name, which your code "
        + "sets."
    }
    if detail.hasPrefix("inverse from") {
      return "Leave the inverse of \(property) to-many."
    }
    if detail.hasPrefix("destination from") {
      return
        "Leave the destination of \(property), and add a relationship with another name, which your "
        + "code sets."
    }
    return "Give the new \(property) another name and no renaming identifier."
  }
}
