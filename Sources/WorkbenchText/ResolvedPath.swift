package import OpenCoreData

/// A key path as properties of a model.
package struct ResolvedPath: Sendable {
  /// The relationships followed before the last part.
  package var steps: [NSRelationshipDescription]
  /// The property at the end; nil only for a path without parts.
  package var last: NSPropertyDescription?

  package init(steps: [NSRelationshipDescription], last: NSPropertyDescription?) {
    self.steps = steps
    self.last = last
  }

  /// Whether a to-many relationship is followed on the way.
  package var passesToMany: Bool {
    steps.contains(where: \.isToMany)
  }
}
