internal import Foundation

/// Reading of archives that anyone may have written: what is missing is nil, and a tree that holds
/// itself ends.
extension NSCoder {
  @TaskLocal private static var depth = 0

  /// Reads one level of a tree; nil below the height that a parsed tree may have.
  func descending<Result>(_ body: () -> Result?) -> Result? {
    guard Self.depth < PredicateParser.maximumDepth else { return nil }
    return Self.$depth.withValue(Self.depth + 1, operation: body)
  }

  func archivedInteger(_ key: String) -> Int {
    containsValue(forKey: key) ? decodeInteger(forKey: key) : -1
  }

  func archivedText(_ key: String) -> String? {
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: NSString.self, forKey: key).map { String(describing: $0) }
  }

  func archivedExpression(_ key: String) -> NSExpression? {
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: NSExpression.self, forKey: key)
  }

  func archivedPredicate(_ key: String) -> NSPredicate? {
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: NSPredicate.self, forKey: key)
  }

  func archivedExpressions(_ key: String) -> [NSExpression]? {
    guard containsValue(forKey: key) else { return nil }
    let list = decodeObject(of: [NSArray.self, NSExpression.self], forKey: key) as? NSArray
    return list?.map { $0 } as? [NSExpression]
  }

  func archivedTexts(_ key: String) -> [String] {
    guard containsValue(forKey: key) else { return [] }
    let list = decodeObject(of: [NSArray.self, NSString.self], forKey: key) as? NSArray
    return (list ?? []).compactMap { $0 as? String }
  }

  func archivedPredicates(_ key: String) -> [NSPredicate]? {
    guard containsValue(forKey: key) else { return nil }
    let list = decodeObject(of: [NSArray.self, NSPredicate.self], forKey: key) as? NSArray
    return list?.map { $0 } as? [NSPredicate]
  }

  /// A constant of Foundation's own classes.
  func archivedValue(_ key: String) -> Any? {
    guard containsValue(forKey: key) else { return nil }
    let classes: [AnyClass] = [
      NSString.self, NSNumber.self, NSDate.self, NSData.self, NSUUID.self, NSURL.self, NSNull.self,
      NSArray.self, NSSet.self, NSDictionary.self,
    ]
    return decodeObject(of: classes, forKey: key)
  }
}
