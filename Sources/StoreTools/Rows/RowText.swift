package import Foundation
import OpenCoreData
import WorkbenchText

/// The value of a property in a form that can be printed.
package enum RowText: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  /// A decimal number with all digits.
  case decimal(Decimal)
  case date(Date)
  case text(String)
  case bytes(Data)
  /// The URI of a to-one relationship's object.
  case object(String)
  /// The URIs of a to-many relationship's objects.
  case objects([String])
  /// The values of a composite attribute's elements, by name.
  case group([String: RowText])

  /// Creates a value from an attribute's value, in the Swift type that the framework returns.
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

  /// Creates a value from a relationship's objects, sorted by entity and primary key unless it's
  /// ordered.
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
  /// The primary key, which is the number after the `p` in the URI.
  fileprivate var key: Int64 {
    Int64(uriRepresentation().lastPathComponent.dropFirst()) ?? 0
  }
}

/// The text format of a row.
package enum RowsText {
  /// Returns a line with the row's URI, and one for each value.
  ///
  /// Long strings are truncated; of binary data, only the size is included.
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

  /// The range of the years 1 to 9999, in seconds since 2001-01-01 UTC.
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

/// The JSON format of rows: an array with one object for each row, which is written row by row.
///
/// Dates are seconds since 2001-01-01 UTC, as in the file. Binary data is Base64. A to-one
/// relationship is a URI, and a to-many relationship an array of URIs.
package struct RowsJSON {
  private var isFirst = true

  /// Creates a writer that hasn't written any rows.
  package init() {}

  /// Returns the JSON of a row, after a separator.
  package mutating func row(_ row: StoreRow) -> Data {
    let values = row.values.map { "\(quoted($0.name)): \(text($0.value))" }
    let line =
      "{\"entity\": \(quoted(row.entity)), \"id\": \(quoted(row.id)), "
      + "\"values\": {\(values.joined(separator: ", "))}}"
    defer { isFirst = false }
    return Data(((isFirst ? "[\n  " : ",\n  ") + line).utf8)
  }

  /// Returns the JSON after the last row.
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

  /// Returns a number as JSON, with infinity and NaN, which JSON can't represent, as strings.
  private func number(_ value: Double) -> String {
    value.isFinite ? "\(value)" : quoted("\(value)")
  }

  private func quoted(_ text: String) -> String { JSONText.quoted(text) }
}

/// The text format of errors for rows that couldn't be read.
package enum DamagedRowsText {
  private static let most = 20

  /// Returns the first errors, one on each line, and the number of further errors.
  package static func list(_ errors: [NSError]) -> String {
    let shown = errors.prefix(most).map { ErrorText.of($0) }.joined(separator: "\n  ")
    return errors.count <= most ? shown : "\(shown)\n  … and \(errors.count - most) more"
  }
}
