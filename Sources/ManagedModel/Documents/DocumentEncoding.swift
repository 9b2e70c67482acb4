/// Converts the bytes of an XML document to UTF-8 that the parser can read.
///
/// Xcode writes UTF-8. A byte order mark, UTF-16, ASCII, and Latin-1 are also supported.
package enum DocumentEncoding {
  /// Returns the document in UTF-8 without a byte order mark.
  ///
  /// The XML declaration and processing instructions are replaced with spaces, so lines and columns
  /// are those of the original.
  ///
  /// - Parameter file: The file name for errors.
  /// - Throws: An error for an unsupported encoding, for an instruction that isn't closed, for a
  ///   document type with declarations, for an element with too many attributes, or for bytes that
  ///   are invalid in the encoding, with the position of the first.
  package static func utf8(_ data: Data, file: String) throws(ModelErrors) -> [UInt8] {
    var bytes = try converted(Array(data), file)
    if let nul = bytes.firstIndex(of: 0) {
      throw error("A NUL character isn't allowed in XML.", at: nul, of: bytes, file)
    }
    do {
      try DocumentInstructions.blank(in: &bytes)
    } catch {
      throw Self.error(error.message, at: error.offset, of: bytes, file)
    }
    return bytes
  }

  private static func converted(_ data: [UInt8], _ file: String) throws(ModelErrors) -> [UInt8] {
    var bytes = data
    let mark = ByteOrderMark.length(in: bytes)
    if mark > 0 {
      bytes.removeFirst(mark)
    } else if let order = byteOrder(of: bytes) {
      return try fromUTF16(bytes, order, file)
    }
    switch declaredName(in: bytes) {
    case "utf-8", "utf8", "us-ascii", "ascii", nil: return try checked(bytes, file)
    case "iso-8859-1", "latin1", "latin-1": return fromLatin1(bytes)
    case .some(let name):
      throw ModelErrors(
        ModelError(
          "The document's encoding is \(name), which isn't supported.",
          nextStep: "Save it in UTF-8.", file: file, line: 1, column: 1))
    }
  }

  private static func error(
    _ message: String, at offset: Int, of bytes: [UInt8], _ file: String
  ) -> ModelErrors {
    let position = DocumentText(file: file, bytes: bytes).position(of: offset)
    return ModelErrors(
      ModelError(
        message, nextStep: "Repair it in a text editor, or save it again in the model editor.",
        file: file, line: position.line, column: position.column))
  }

  private enum ByteOrder {
    case little
    case big
  }

  /// Returns the byte order of a document in UTF-16, determined from its mark or its first
  /// character, or `nil` for another encoding.
  private static func byteOrder(of bytes: [UInt8]) -> ByteOrder? {
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0x3C, 0x00]) { return .little }
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0x00, 0x3C]) { return .big }
    return nil
  }

  private static func fromUTF16(
    _ bytes: [UInt8], _ order: ByteOrder, _ file: String
  ) throws(ModelErrors) -> [UInt8] {
    var units: [UInt16] = []
    units.reserveCapacity(bytes.count / 2)
    for index in stride(from: 0, to: bytes.count - 1, by: 2) {
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      units.append(order == .little ? second << 8 | first : first << 8 | second)
    }
    if units.first == 0xFEFF { units.removeFirst() }
    guard bytes.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self) else {
      throw ModelErrors(
        ModelError(
          "The document starts as UTF-16 but contains invalid UTF-16.",
          nextStep: "Save it in UTF-8.", file: file, line: 1, column: 1))
    }
    return Array(text.utf8)
  }

  /// Returns a document in Latin-1 in UTF-8, without a character or a string for each byte.
  private static func fromLatin1(_ bytes: [UInt8]) -> [UInt8] {
    let count = bytes.count { $0 >= 0x80 }
    guard count > 0 else { return bytes }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + count)
    for byte in bytes {
      if byte < 0x80 {
        result.append(byte)
      } else {
        result.append(0xC0 | byte >> 6)
        result.append(0x80 | byte & 0x3F)
      }
    }
    return result
  }

  private static func checked(
    _ bytes: [UInt8], _ file: String
  ) throws(ModelErrors) -> [UInt8] {
    if String(validating: bytes, as: UTF8.self) != nil { return bytes }
    throw error(
      "A character here isn't in UTF-8, in which the document is written.",
      at: validPrefixLength(of: bytes), of: bytes, file)
  }

  /// Returns the number of bytes before the first that isn't valid UTF-8.
  private static func validPrefixLength(of bytes: [UInt8]) -> Int {
    var decoder = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var count = 0
    while case .valid(let scalar) = decoder.parseScalar(from: &iterator) { count += scalar.count }
    return count
  }

  /// Returns the encoding that an XML declaration names, in lowercase.
  private static func declaredName(in bytes: [UInt8]) -> String? {
    guard let end = declarationEnd(of: bytes) else { return nil }
    let text = String(decoding: bytes[..<end], as: UTF8.self)
    guard let name = text.firstRange(of: "encoding") else { return nil }
    let rest = text[name.upperBound...].drop { $0 == " " || $0 == "=" || $0 == "\t" }
    guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
    return rest.dropFirst().prefix { $0 != quote }.lowercased()
  }

  /// Returns the length of the XML declaration in bytes, or `nil` if there isn't one.
  private static func declarationEnd(of bytes: [UInt8]) -> Int? {
    guard bytes.starts(with: Array("<?xml".utf8)) else { return nil }
    let end = bytes.indices.dropFirst().first { index in
      bytes[index] == UInt8(ascii: ">") && bytes[index - 1] == UInt8(ascii: "?")
    }
    return end.map { $0 + 1 }
  }
}

/// The byte order mark with which a text in UTF-8 can begin, and which isn't part of the text.
package enum ByteOrderMark {
  private static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the number of bytes of the mark at the start of a text: 3, or 0 if there's none.
  package static func length(in text: some Sequence<UInt8>) -> Int {
    text.starts(with: bytes) ? bytes.count : 0
  }
}
