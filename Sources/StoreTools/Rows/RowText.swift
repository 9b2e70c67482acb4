package import OpenCoreData

/// A property's value, to be printed.
package enum RowText: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  /// A number with all its digits.
  case decimal(Decimal)
  case date(Date)
  case text(String)
  case bytes(Data)
  /// The URIs of a relationship's objects; a to-one's has one.
  case object(String)
  case objects([String])
  /// The values of a composite attribute's elements, by name.
  case group([String: RowText])

  /// A value of an attribute, in the Swift type that the framework gives it in.
  init(_ value: Any?) {
    switch value {
    case let value as Bool: self = .bool(value)
    case let value as Int16: self = .integer(Int64(value))
    case let value as Int32: self = .integer(Int64(value))
    case let value as Int64: self = .integer(value)
    case let value as Float: self = .real(Double(value))
    case let value as Double: self = .real(value)
    case let value as Decimal: self = .decimal(value)
    case let value as Date: self = .date(value)
    case let value as String: self = .text(value)
    case let value as UUID: self = .text(value.uuidString)
    case let value as URL: self = .text(value.absoluteString)
    case let value as Data: self = .bytes(value)
    case let value as [String: Any]: self = .group(value.mapValues { RowText($0) })
    case .some(let value): self = .text("\(value)")
    case nil: self = .null
    }
  }

  /// The objects of a relationship: an ordered one's in order, others by entity and key.
  init(_ value: Any?, of relationship: NSRelationshipDescription) {
    guard relationship.isToMany else {
      self = (value as? NSManagedObject).map { .object(RowText.uri($0)) } ?? .null
      return
    }
    if let ordered = value as? NSOrderedSet {
      self = .objects(ordered.array.compactMap { ($0 as? NSManagedObject).map(RowText.uri) })
    } else {
      let objects = (value as? Set<NSManagedObject>) ?? []
      self = .objects(
        objects.map { (entity: $0.entity.name ?? "", key: $0.objectID.key, uri: RowText.uri($0)) }
          .sorted { ($0.entity, $0.key) < ($1.entity, $1.key) }.map(\.uri))
    }
  }

  private static func uri(_ object: NSManagedObject) -> String {
    object.objectID.uriRepresentation().absoluteString
  }
}

extension NSManagedObjectID {
  /// The number behind the `p` of the URI.
  fileprivate var key: Int64 {
    Int64(uriRepresentation().lastPathComponent.dropFirst()) ?? 0
  }
}
