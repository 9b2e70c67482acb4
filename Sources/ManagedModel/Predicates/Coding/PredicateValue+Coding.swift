internal import Foundation

extension PredicateValue {
  private typealias Key = PredicateArchiveKey

  /// Writes a constant: an object of Foundation's, a number with its class, a list of constants.
  ///
  /// Decimals are texts: Foundation's archiver on Linux does not survive an `NSDecimalNumber`.
  func encode(with coder: NSCoder) {
    switch self {
    case .null: break
    case .bool(let value): coder.encode(NSNumber(value: value), forKey: Key.constant)
    case .integer(let value): coder.encode(NSNumber(value: value), forKey: Key.constant)
    case .double(let value): coder.encode(NSNumber(value: value), forKey: Key.constant)
    case .decimal(let value):
      coder.encode(NSString(string: "\(value)"), forKey: Key.constant)
      coder.encode(NSString(string: "NSDecimalNumber"), forKey: Key.constantClass)
    case .string(let value): coder.encode(NSString(string: value), forKey: Key.constant)
    case .date(let value):
      let seconds = value.timeIntervalSinceReferenceDate
      coder.encode(NSDate(timeIntervalSinceReferenceDate: seconds), forKey: Key.constant)
    case .data(let value): coder.encode(NSData(data: value), forKey: Key.constant)
    case .uuid(let value):
      coder.encode(NSUUID(uuidString: value.uuidString), forKey: Key.constant)
    case .url(let value):
      coder.encode(NSString(string: value.absoluteString), forKey: Key.constant)
      coder.encode(NSString(string: "NSURL"), forKey: Key.constantClass)
    case .collection(let collection):
      encode(collection.elements, collection.isOrdered ? "NSArray" : "NSSet", with: coder)
    case .dictionary(let entries, _):
      let sorted = entries.sorted { $0.key < $1.key }
      coder.encode(NSArray(array: sorted.map { NSString(string: $0.key) }), forKey: Key.keys)
      encode(sorted.map(\.value), "NSDictionary", with: coder)
    case .object(let object):
      guard let coded = object.base as? NSObject, coded is any NSCoding else {
        preconditionFailure("a \(type(of: object.base)) in a predicate cannot be archived")
      }
      coder.encode(coded, forKey: Key.constant)
    case .placeholder(let text):
      preconditionFailure("the placeholder \(text) has no argument and cannot be archived")
    }
  }

  private func encode(_ elements: [PredicateValue], _ className: String, with coder: NSCoder) {
    let constants = elements.map { NSExpression(.constant($0)) }
    coder.encode(NSArray(array: constants), forKey: Key.collection)
    coder.encode(NSString(string: className), forKey: Key.constantClass)
  }

  /// Reads a constant; nil for what is missing or of a class that is not Foundation's.
  init(coder: NSCoder) {
    let elements = (coder.archivedExpressions(Key.collection) ?? []).map { element in
      if case .constant(let value) = element.node { value } else { PredicateValue.null }
    }
    switch coder.archivedText(Key.constantClass) {
    case "NSArray": self = .collection(PredicateCollection(constant: elements, isOrdered: true))
    case "NSSet": self = .collection(PredicateCollection(constant: elements, isOrdered: false))
    case "NSDictionary":
      let entries = Dictionary(
        zip(coder.archivedTexts(Key.keys), elements), uniquingKeysWith: { first, _ in first })
      self = .dictionary(entries, original: entries.mapValues { $0.original ?? NSNull() })
    case "NSDecimalNumber":
      self =
        coder.archivedText(Key.constant).flatMap { Decimal(string: $0) }
        .map(PredicateValue.decimal) ?? .null
    case "NSURL":
      self =
        coder.archivedText(Key.constant).flatMap { URL(string: $0) }.map(PredicateValue.url)
        ?? .null
    default: self = PredicateValue(constant: coder.archivedValue(Key.constant))
    }
  }
}
