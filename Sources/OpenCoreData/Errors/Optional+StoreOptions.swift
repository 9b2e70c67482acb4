extension Optional<[AnyHashable: Any]> {
  /// Returns whether an option of a store is true; false if it's missing.
  func isSet(_ option: String) -> Bool {
    let value = self?[option]
    return value as? Bool ?? (value as? NSNumber)?.boolValue ?? false
  }
}
