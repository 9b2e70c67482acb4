/// Which classes are written for the entities of a model.
package enum ClassStyle: String, CaseIterable, Sendable {
  /// A class and its properties for every entity, as Xcode's "Class Definition".
  case `class`
  /// Only the properties, for classes that are written by hand, as Xcode's "Category/Extension".
  case `extension`
}
