/// What happens to the objects at the other end of a relationship when an object is deleted.
///
/// Counterpart: `NSDeleteRule`, with its raw values.
public enum NSDeleteRule: UInt, Sendable, CaseIterable {
  /// Nothing. The other objects keep pointing at the deleted one.
  case noActionDeleteRule = 0
  /// The inverse of the other objects is emptied.
  case nullifyDeleteRule = 1
  /// The other objects are deleted too.
  case cascadeDeleteRule = 2
  /// The deletion is refused at save while there are other objects.
  case denyDeleteRule = 3

  /// The name that a model document gives the rule, such as `No Action`.
  package var documentName: String {
    switch self {
    case .noActionDeleteRule: "No Action"
    case .nullifyDeleteRule: "Nullify"
    case .cascadeDeleteRule: "Cascade"
    case .denyDeleteRule: "Deny"
    }
  }
}
