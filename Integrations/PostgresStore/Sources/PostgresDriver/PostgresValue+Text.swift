import Foundation

extension PostgresValue {
  /// The value as text: a number, a string in double quotes, `(null)`, `<0aff>` for bytes, and
  /// `{1,2}` for an array.
  package var text: String {
    guard let bytes else { return "(null)" }
    return bytes.withUnsafeBytes { buffer in Self.text(buffer, oid, isElement: false) }
  }

  private static func text(
    _ bytes: UnsafeRawBufferPointer, _ oid: UInt32, isElement: Bool
  ) -> String {
    switch oid {
    case PostgresType.boolean.oid: bytes.first == 0 ? "false" : "true"
    case PostgresType.integer.oid: Int64(network: bytes).map { "\($0)" } ?? ""
    case PostgresType.real.oid:
      UInt64(network: bytes).map { "\(Double(bitPattern: $0))" } ?? ""
    case PostgresType.numeric.oid: NumericDigits(network: bytes)?.decimal.map { "\($0)" } ?? "NaN"
    case PostgresType.text.oid: quoted(String(decoding: bytes, as: UTF8.self), isElement)
    case PostgresType.uuid.oid:
      bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)).uuidString : ""
    case PostgresType.bytes.oid:
      isElement ? "\"\\\\x\(hexadecimal(bytes))\"" : "<\(hexadecimal(bytes))>"
    default: elements(bytes).map { "{\($0.joined(separator: ","))}" } ?? ""
    }
  }

  private static func quoted(_ text: String, _ isElement: Bool) -> String {
    guard isElement else { return "\"\(text)\"" }
    // A combining mark joins a sign into another `Character`, but the server sees the sign.
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in text.unicodeScalars {
      if scalar == "\\" || scalar == "\"" { quoted.append("\\") }
      quoted.append(scalar)
    }
    quoted.append("\"")
    return String(quoted)
  }

  private static func hexadecimal(_ bytes: UnsafeRawBufferPointer) -> String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  /// Returns the elements of an array of one dimension; nil for other bytes.
  private static func elements(_ bytes: UnsafeRawBufferPointer) -> [String]? {
    var position = 0
    func word() -> Int32? {
      guard position + 4 <= bytes.count else { return nil }
      defer { position += 4 }
      return Int32(network: UnsafeRawBufferPointer(rebasing: bytes[position..<(position + 4)]))
    }
    guard let dimensions = word(), word() != nil, let oid = word() else { return nil }
    guard dimensions == 1 else { return dimensions == 0 ? [] : nil }
    guard let count = word(), word() != nil else { return nil }
    var elements: [String] = []
    for _ in 0..<count {
      guard let length = word() else { return nil }
      guard length >= 0 else {
        elements.append("NULL")
        continue
      }
      let end = position + Int(length)
      guard end <= bytes.count else { return nil }
      elements.append(
        text(
          UnsafeRawBufferPointer(rebasing: bytes[position..<end]), UInt32(bitPattern: oid),
          isElement: true))
      position = end
    }
    return elements
  }
}
