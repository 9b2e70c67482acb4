package import Foundation
import OpenCoreData
import WorkbenchText

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

/// A row as a person reads it in a terminal.
package enum RowsText {
  /// The row's URI, then a line a value; long texts are cut short, bytes are counted.
  package static func lines(_ row: StoreRow) -> [String] {
    let width = row.values.map(\.name.count).max() ?? 0
    return [row.id] + row.values.map { "  \(NumberText.left($0.name, width))   \(text($0.value))" }
  }

  private static let limit = 100

  private static func text(_ value: RowText) -> String {
    switch value {
    case .null: "nil"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .date(let value): date(value)
    case .text(let value): "\"\(short(value))\""
    case .bytes(let value): NumberText.counted(value.count, "byte")
    case .object(let value): value
    case .objects(let values): list(values)
    case .group(let values):
      values.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }
        .joined(separator: ", ")
    }
  }

  /// The seconds of the years 1 to 9999, for which there are dates of four digits.
  private static let calendar = -63_114_076_800.0..<252_423_993_600.0

  private static func date(_ value: Date) -> String {
    let seconds = value.timeIntervalSinceReferenceDate
    return calendar.contains(seconds)
      ? value.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
      : "\(seconds) seconds from 2001-01-01"
  }

  private static func short(_ text: String) -> String {
    let scalars = text.unicodeScalars
    let start = PrintableText.line(String(String.UnicodeScalarView(scalars.prefix(limit))))
    return scalars.count > limit ? start + "…" : start
  }

  private static func list(_ uris: [String]) -> String {
    let shown = uris.prefix(3).joined(separator: ", ")
    return uris.count > 3
      ? "\(shown) and \(NumberText.grouped(uris.count - 3)) more"
      : uris.isEmpty ? "none" : shown
  }
}

/// Rows as JSON: an array with an object a row, written row by row.
///
/// Dates are seconds since 2001-01-01 UTC, as in the file; bytes are in base 64; a relationship is
/// the URI of its object, a to-many one an array of them.
package struct RowsJSON {
  private var isFirst = true

  /// Before the first row.
  package init() {}

  /// One row, with the separator before it.
  package mutating func row(_ row: StoreRow) -> Data {
    let values = row.values.map { "\(quoted($0.name)): \(text($0.value))" }
    let line =
      "{\"entity\": \(quoted(row.entity)), \"id\": \(quoted(row.id)), "
      + "\"values\": {\(values.joined(separator: ", "))}}"
    defer { isFirst = false }
    return Data(((isFirst ? "[\n  " : ",\n  ") + line).utf8)
  }

  /// What follows the last row.
  package func end() -> Data {
    Data((isFirst ? "[]\n" : "\n]\n").utf8)
  }

  private func text(_ value: RowText) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .real(let value): number(value)
    case .decimal(let value): value.isNaN ? "null" : "\(value)"
    case .date(let value): number(value.timeIntervalSinceReferenceDate)
    case .text(let value), .object(let value): quoted(value)
    case .bytes(let value): quoted(value.base64EncodedString())
    case .objects(let values): "[\(values.map(quoted).joined(separator: ", "))]"
    case .group(let values):
      "{"
        + values.sorted { $0.key < $1.key }.map { "\(quoted($0.key)): \(text($0.value))" }
        .joined(separator: ", ") + "}"
    }
  }

  /// JSON has no infinity and no NaN; they are texts.
  private func number(_ value: Double) -> String {
    value.isFinite ? "\(value)" : quoted("\(value)")
  }

  private func quoted(_ text: String) -> String { JSONText.quoted(text) }
}

/// Rows that could not be read, in words.
package enum DamagedRowsText {
  private static let most = 20

  /// The errors behind each other, and how many more there are.
  package static func list(_ errors: [NSError]) -> String {
    let shown = errors.prefix(most).map { ErrorText.of($0) }.joined(separator: "\n  ")
    return errors.count <= most ? shown : "\(shown)\n  … and \(errors.count - most) more"
  }
}
