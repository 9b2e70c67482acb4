import Foundation
package import ManagedModel

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
  package init(_ value: Any?) {
    // Swift's casts would turn the number 1 into a Boolean.
    if let value, type(of: value) is NSNumber.Type, let number = value as? NSNumber {
      self = RowText.number(number)
      return
    }
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
    case let value as any URIRepresentable: self = .object(value.uri)
    case let value as [String: Any]: self = .group(value.mapValues { RowText($0) })
    case .some(let value): self = .text("\(value)")
    case nil: self = .null
    }
  }

  /// Creates a value from a relationship's objects, sorted by entity and primary key unless it's
  /// ordered.
  package init(_ value: Any?, of relationship: NSRelationshipDescription) {
    guard relationship.isToMany else {
      self = (value as? any URIRepresentable).map { .object($0.uri) } ?? .null
      return
    }
    if let ordered = value as? NSOrderedSet {
      self = .objects(RowText.uris(ordered.array))
    } else {
      let uris = RowText.uris((value as? Set<AnyHashable>).map(Array.init) ?? [])
      self = .objects(
        uris.map { (identity: RowText.identity(of: $0), uri: $0) }
          .sorted { $0.identity < $1.identity }
          .map(\.uri))
    }
  }

  private static func uris(_ objects: [Any]) -> [String] {
    objects.compactMap { ($0 as? any URIRepresentable)?.uri }
  }

  /// Returns the entity and the primary key, which is the number after the `p`, of a URI.
  private static func identity(of uri: String) -> (entity: Substring, key: Int64) {
    let parts = uri.split(separator: "/").suffix(2)
    return (parts.first ?? "", parts.last.flatMap { Int64($0.dropFirst()) } ?? 0)
  }

  private static func number(_ number: NSNumber) -> RowText {
    if let decimal = number as? NSDecimalNumber { return .decimal(decimal.decimalValue) }
    switch String(cString: number.objCType) {
    case "c", "B": return .bool(number.boolValue)
    case "f", "d": return .real(number.doubleValue)
    default: return .integer(number.int64Value)
    }
  }
}

extension RowText {
  /// The value on one line for reading: strings in quotation marks, of binary data only the size.
  ///
  /// Long strings are truncated, and control characters are escaped.
  package var line: String {
    switch self {
    case .null: "nil"
    case .text(let value): "\"\(RowText.short(value))\""
    case .bytes(let value): NumberText.counted(value.count, "byte")
    case .objects(let values): RowText.list(values)
    case .group(let values):
      values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.line)" }
        .joined(separator: ", ")
    case .bool, .integer, .real, .decimal, .date, .object: plain
    }
  }

  /// The value in a cell of a table: `NULL`, strings without quotation marks, the beginning of
  /// binary data in hexadecimal and its size, and objects without their store: `Country/p7`.
  package var cell: String {
    switch self {
    case .null: "NULL"
    case .text(let value): RowText.short(value)
    case .bytes(let value) where value.count > RowText.shownBytes:
      "x'\(RowText.hex(value.prefix(RowText.shownBytes)))…' "
        + "(\(NumberText.counted(value.count, "byte")))"
    case .object(let value): RowText.reference(value)
    case .objects(let values): RowText.list(values.map(RowText.reference))
    case .group(let values):
      values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.cell)" }
        .joined(separator: ", ")
    case .bool, .integer, .real, .decimal, .date, .bytes: plain
    }
  }

  /// The complete value; an empty string for a missing value.
  package var plain: String {
    switch self {
    case .null: ""
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .date(let value): RowText.date(value)
    case .text(let value), .object(let value): value
    case .bytes(let value): "x'\(RowText.hex(value))'"
    case .objects(let values): values.joined(separator: " ")
    case .group: json
    }
  }

  /// The value as JSON: dates as ISO 8601 with milliseconds in UTC, binary data as Base64, objects
  /// as URIs.
  ///
  /// A date outside of the years 1 to 9999 is its seconds since 2001-01-01 UTC, as a number.
  package var json: String {
    switch self {
    case .null: "null"
    case .real(let value): RowText.number(value)
    case .decimal(let value) where value.isNaN: "null"
    case .date(let value):
      RowText.isInCalendar(value)
        ? JSONText.quoted(plain) : RowText.number(value.timeIntervalSinceReferenceDate)
    case .text(let value), .object(let value): JSONText.quoted(value)
    case .bytes(let value): JSONText.quoted(value.base64EncodedString())
    case .objects(let values): "[\(values.map(JSONText.quoted).joined(separator: ", "))]"
    case .group(let values):
      "{"
        + values.sorted { $0.key < $1.key }.map { "\(JSONText.quoted($0.key)): \($0.value.json)" }
        .joined(separator: ", ") + "}"
    case .bool, .integer, .decimal: plain
    }
  }

  /// Returns the entity and primary key of an object's URI: `Country/p7`, or `Country/t…507` for an
  /// object that was never saved, whose URI is long.
  package static func reference(_ uri: String) -> String {
    let parts = uri.split(separator: "/").suffix(2).map(String.init)
    guard let key = parts.last, key.hasPrefix("t"), key.count > 8 else {
      return parts.joined(separator: "/")
    }
    return "\(parts[0])/t…\(key.suffix(3))"
  }

  /// The approximate size of the value in memory, in bytes.
  package var size: Int {
    switch self {
    case .text(let value), .object(let value): 16 + value.utf8.count
    case .bytes(let value): 16 + value.count
    case .objects(let values): values.reduce(16) { $0 + 16 + $1.utf8.count }
    case .group(let values): values.values.reduce(16) { $0 + 16 + $1.size }
    case .null, .bool, .integer, .real, .decimal, .date: 16
    }
  }

  /// The maximum length of a string on a line, in characters.
  private static let shownText = 100
  /// The maximum number of bytes of binary data in a cell.
  private static let shownBytes = 16

  /// The range of the years 1 to 9999, in seconds since 2001-01-01 UTC.
  private static let calendar = -63_114_076_800.0..<252_423_993_600.0

  private static func isInCalendar(_ date: Date) -> Bool {
    calendar.contains(date.timeIntervalSinceReferenceDate)
  }

  /// Returns a date with its nearest millisecond, or the last one of the year 9999.
  private static func date(_ value: Date) -> String {
    let seconds = value.timeIntervalSinceReferenceDate
    guard isInCalendar(value) else { return "\(seconds) seconds since 2001-01-01" }
    // The format truncates: a part of a millisecond more makes up for the error of the number.
    let nearest = (seconds * 1_000).rounded() / 1_000 + 0.000_25
    let shown = Date(timeIntervalSinceReferenceDate: nearest)
    return (isInCalendar(shown) ? shown : value)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// Returns a number as JSON, with infinity and NaN, which JSON can't represent, as strings.
  private static func number(_ value: Double) -> String {
    value.isFinite ? "\(value)" : JSONText.quoted("\(value)")
  }

  private static func short(_ text: String) -> String {
    let scalars = text.unicodeScalars
    let start = PrintableText.line(String(String.UnicodeScalarView(scalars.prefix(shownText))))
    return scalars.count > shownText ? start + "…" : start
  }

  private static func list(_ objects: [String]) -> String {
    let shown = objects.prefix(3).joined(separator: ", ")
    return objects.count > 3
      ? "\(shown) and \(NumberText.grouped(objects.count - 3)) more"
      : objects.isEmpty ? "none" : shown
  }

  private static func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

extension RowText {
  /// The length of a part, in scalars of text and bytes of binary data.
  ///
  /// It's a multiple of 3, so that the Base64 of the parts is that of the data.
  private static let partLength = 48 << 10

  /// Calls a closure with the parts of `json`, so that a long value isn't copied as a whole.
  package func forEachPartOfJSON(_ body: (String) -> Void) {
    switch self {
    case .text(let value):
      body("\"")
      RowText.forEachPart(of: value) { body(JSONText.escaped($0)) }
      body("\"")
    case .bytes(let value):
      body("\"")
      RowText.forEachPart(of: value) { body($0.base64EncodedString()) }
      body("\"")
    case .group(let values):
      for (index, element) in values.sorted(by: { $0.key < $1.key }).enumerated() {
        body("\(index == 0 ? "{" : ", ")\(JSONText.quoted(element.key)): ")
        element.value.forEachPartOfJSON(body)
      }
      body(values.isEmpty ? "{}" : "}")
    case .null, .bool, .integer, .real, .decimal, .date, .object, .objects: body(json)
    }
  }

  /// Calls a closure with the parts of `plain` as a value of `CSVText`, so that a long value isn't
  /// copied as a whole.
  package func forEachPartOfCSV(_ body: (String) -> Void) {
    switch self {
    case .text(let value):
      guard CSVText.needsQuotes(value) else { return RowText.forEachPart(of: value, body) }
      body("\"")
      RowText.forEachPart(of: value) { body(CSVText.escaped($0)) }
      body("\"")
    case .bytes(let value):
      body("x'")
      RowText.forEachPart(of: value) { body(RowText.hex($0)) }
      body("'")
    case .group(let values) where !values.isEmpty:
      body("\"")
      forEachPartOfJSON { body(CSVText.escaped($0)) }
      body("\"")
    case .null, .bool, .integer, .real, .decimal, .date, .object, .objects, .group:
      body(CSVText.quoted(plain))
    }
  }

  private static func forEachPart(of text: String, _ body: (String) -> Void) {
    var rest = text.unicodeScalars[...]
    while !rest.isEmpty {
      let end = rest.index(rest.startIndex, offsetBy: partLength, limitedBy: rest.endIndex)
      body(String(rest[..<(end ?? rest.endIndex)]))
      rest = rest[(end ?? rest.endIndex)...]
    }
  }

  private static func forEachPart(of bytes: Data, _ body: (Data) -> Void) {
    var rest = bytes[...]
    while !rest.isEmpty {
      body(rest.prefix(partLength))
      rest = rest.dropFirst(partLength)
    }
  }
}

/// Collects text, and passes it on as parts of about 64 KB in UTF-8.
package struct PartedText {
  private var part = Data()
  private let body: (Data) -> Void

  /// Creates an instance without text.
  ///
  /// - Parameter body: A closure that's called with each part.
  package init(_ body: @escaping (Data) -> Void) {
    self.body = body
  }

  /// Adds text.
  package mutating func add(_ text: String) {
    part.append(contentsOf: text.utf8)
    if part.count >= 1 << 16 { end() }
  }

  /// Passes on the last part.
  package mutating func end() {
    guard !part.isEmpty else { return }
    body(part)
    part = Data()
  }
}

/// Formats rows as comma-separated values (RFC 4180).
package enum CSVText {
  /// Returns the lines of a row, without line feeds; a quoted value can contain line feeds.
  package static func lines(_ values: [String]) -> [String] {
    let text = values.map(quoted).joined(separator: ",")
    guard text.utf8.contains(0x0A) else { return [text] }
    // A carriage return and a line feed are one character.
    return text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0) }
  }

  /// Returns a value, in quotation marks if it needs them.
  static func quoted(_ text: String) -> String {
    needsQuotes(text) ? "\"\(escaped(text))\"" : text
  }

  /// Returns whether a value contains a comma, a quotation mark, or the end of a line.
  static func needsQuotes(_ text: String) -> Bool {
    text.utf8.contains { byte in
      switch byte {
      case UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A...0x0D: true
      default: false
      }
    }
  }

  /// Returns what's between the quotation marks of a quoted value, or of a part of it.
  static func escaped(_ text: String) -> String {
    text.utf8.contains(UInt8(ascii: "\"")) ? text.replacingScalars(["\"": "\"\""]) : text
  }
}
