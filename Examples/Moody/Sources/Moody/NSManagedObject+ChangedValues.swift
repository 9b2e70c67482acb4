import OpenCoreData

extension NSManagedObject {
  /// The value of a key that was changed and not saved; nil without a change.
  func changedValue(forKey key: String) -> Any? {
    changedValues()[key]
  }

  /// The value of a key at the last save or fetch.
  func committedValue(forKey key: String) -> Any? {
    committedValues(forKeys: [key])[key]
  }
}
