/// Removes constructs that make Foundation's XML parser crash on Linux: a processing instruction
/// without data, an XML declaration of some encodings, and some declarations of a document type.
///
/// Elements with so many attributes that the parser would take minutes are rejected. Neither a
/// model nor a store contains them.
enum DocumentInstructions {
  /// A construct that can't be removed, at a byte offset.
  struct Problem: Error {
    let message: String
    let offset: Int
  }

  /// Replaces the processing instructions of a document with spaces, so that positions don't
  /// change.
  ///
  /// The XML declaration is one of them. Other XML that isn't well-formed is left to the parser.
  ///
  /// - Throws: The position of an instruction that isn't closed, of a document type with
  ///   declarations, or of an element with too many attributes.
  static func blank(in bytes: inout [UInt8]) throws(Problem) {
    var index = 0
    while let start = offset(of: "<", in: bytes, from: index) {
      if starts(with: "<?", at: start, in: bytes) {
        guard let end = end(of: "?>", in: bytes, from: start + 2) else {
          throw Problem(message: "The instruction that begins here has no \"?>\".", offset: start)
        }
        // Anywhere else, the parser reports a declaration as an error.
        if start == 0 || !isDeclaration(bytes[start...]) {
          for index in start..<end where bytes[index] != UInt8(ascii: "\n") {
            bytes[index] = UInt8(ascii: " ")
          }
        }
        index = end
      } else if starts(with: "<!--", at: start, in: bytes) {
        guard let end = end(of: "-->", in: bytes, from: start + 4) else { return }
        index = end
      } else if starts(with: "<![CDATA[", at: start, in: bytes) {
        guard let end = end(of: "]]>", in: bytes, from: start + 9) else { return }
        index = end
      } else {
        let (end, attributes) = tagEnd(in: bytes, from: start + 1)
        guard attributes <= ModelLimits.attributes else {
          throw Problem(
            message: "An element has more than \(ModelLimits.attributes) attributes.",
            offset: start)
        }
        if starts(with: "<!DOCTYPE", at: start, in: bytes),
          bytes[end...].first == UInt8(ascii: "[")
        {
          throw Problem(
            message: "Declarations in the document type aren't supported.", offset: end)
        }
        index = end
      }
    }
  }

  /// Returns whether an instruction is an XML declaration.
  private static func isDeclaration(_ instruction: ArraySlice<UInt8>) -> Bool {
    instruction.starts(with: "<?xml".utf8)
      && instruction.dropFirst(5).first.map { " \t\r\n?".utf8.contains($0) } == true
  }

  /// Returns the index after the first occurrence of a mark, or `nil` if there's none.
  private static func end(of mark: StaticString, in bytes: [UInt8], from start: Int) -> Int? {
    offset(of: mark, in: bytes, from: start).map { $0 + mark.utf8CodeUnitCount }
  }

  /// Returns the index of the first occurrence of a mark, or `nil` if there's none.
  private static func offset(of mark: StaticString, in bytes: [UInt8], from start: Int) -> Int? {
    bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return nil }
      var start = start
      while start < buffer.count,
        let found = memchr(base + start, Int32(mark.utf8Start[0]), buffer.count - start)
      {
        start = UnsafeRawPointer(found) - base
        if starts(with: mark, at: start, in: bytes) { return start }
        start += 1
      }
      return nil
    }
  }

  /// Returns whether a mark is at an index.
  private static func starts(with mark: StaticString, at start: Int, in bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress, buffer.count - start >= mark.utf8CodeUnitCount else {
        return false
      }
      return memcmp(base + start, mark.utf8Start, mark.utf8CodeUnitCount) == 0
    }
  }

  /// Returns the index of the first `>`, `<`, or `[` outside of quotation marks, or the end, and
  /// the number of attributes before it.
  private static func tagEnd(
    in bytes: [UInt8], from start: Int
  ) -> (index: Int, attributes: Int) {
    bytes.withUnsafeBufferPointer { bytes in
      var quote: UInt8?
      var index = start
      var attributes = 0
      while index < bytes.count {
        let byte = bytes[index]
        if let open = quote {
          if byte == open { quote = nil }
        } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
          quote = byte
        } else if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "<")
          || byte == UInt8(ascii: "[")
        {
          return (index, attributes)
        } else if byte == UInt8(ascii: "=") {
          attributes += 1
        }
        index += 1
      }
      return (bytes.count, attributes)
    }
  }
}
