internal import Foundation

extension NSPropertyDescription: KeyValueReadable {
  /// What a predicate reads of a description, as `$FETCHED_PROPERTY.userInfo.color` does.
  ///
  /// The keys are `name`, `entity`, `userInfo` and the keys within it; nil for others.
  public func value(forKey key: String) -> Any? {
    switch key {
    case "name": return name
    case "entity": return entity
    case "userInfo":
      let pairs = (userInfo ?? [:]).compactMap { key, value in
        (key.base as? String).map { ($0, value) }
      }
      return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    default: return nil
    }
  }
}
