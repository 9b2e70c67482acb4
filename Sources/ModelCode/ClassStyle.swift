/// The kinds of source code to generate for the entities of a model.
package enum ClassStyle: String, CaseIterable, Sendable {
  /// A class with its properties for every entity, like Xcode's "Class Definition".
  case `class`
  /// Only the properties, for handwritten classes, like Xcode's "Category/Extension".
  case `extension`
}
