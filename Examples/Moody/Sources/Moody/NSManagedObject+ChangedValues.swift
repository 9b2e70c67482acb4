import OpenCoreData

extension NSManagedObject {
  /// Returns the unsaved value of a key, or `nil` if it isn't changed.
  func changedValue(forKey key: String) -> Any? {
    changedValues()[key]
  }

  /// Returns the value of a key when the object was last saved or fetched.
  func committedValue(forKey key: String) -> Any? {
    committedValues(forKeys: [key])[key]
  }
}
