package import OpenCoreData

/// A merge policy as a step names it: `policy overwrite`.
package enum MergePolicyName: String, CaseIterable, Sendable {
  case error
  case rollback
  case overwrite
  /// By property; the store's value stands where both changed.
  case store
  /// By property; the object's value stands where both changed.
  case object

  /// The policy.
  package var policy: NSMergePolicy {
    switch self {
    case .error: .error
    case .rollback: .rollback
    case .overwrite: .overwrite
    case .store: .mergeByPropertyStoreTrump
    case .object: .mergeByPropertyObjectTrump
    }
  }
}
