/// Removes constructs that make Foundation's XML parser crash on Linux: a processing instruction
/// without data, an XML declaration of some encodings, and some declarations of a document type.
///
/// Neither a model nor a store contains them.
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
  /// - Throws: The position of an instruction that isn't closed, or of a document type with
  ///   declarations.
  static func blank(in bytes: inout [UInt8]) throws(Problem) {
    var index = 0
    while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
      let rest = bytes[start...]
      if rest.starts(with: "<?".utf8) {
        guard let end = end(of: "?>", in: bytes, from: start + 2) else {
          throw Problem(message: "The instruction that begins here has no \"?>\".", offset: start)
        }
        // Anywhere else, the parser reports a declaration as an error.
        if start == 0 || !isDeclaration(rest) {
          for index in start..<end where bytes[index] != UInt8(ascii: "\n") {
            bytes[index] = UInt8(ascii: " ")
          }
        }
        index = end
      } else if rest.starts(with: "<!--".utf8) {
        guard let end = end(of: "-->", in: bytes, from: start + 4) else { return }
        index = end
      } else if rest.starts(with: "<![CDATA[".utf8) {
        guard let end = end(of: "]]>", in: bytes, from: start + 9) else { return }
        index = end
      } else {
        let end = tagEnd(in: bytes, from: start + 1)
        if rest.starts(with: "<!DOCTYPE".utf8), bytes[end...].first == UInt8(ascii: "[") {
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

  /// Returns the index after the first occurrence of a terminator, or `nil` if there's none.
  private static func end(of terminator: String, in bytes: [UInt8], from start: Int) -> Int? {
    let terminator = Array(terminator.utf8)
    var index = start
    while index + terminator.count <= bytes.count {
      if bytes[index] == terminator[0],
        bytes[index..<(index + terminator.count)].elementsEqual(terminator)
      {
        return index + terminator.count
      }
      index += 1
    }
    return nil
  }

  /// Returns the index of the first `>`, `<`, or `[` outside of quotation marks, or the end.
  private static func tagEnd(in bytes: [UInt8], from start: Int) -> Int {
    var quote: UInt8?
    for index in start..<bytes.count {
      let byte = bytes[index]
      if let open = quote {
        if byte == open { quote = nil }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
      case UInt8(ascii: ">"), UInt8(ascii: "<"), UInt8(ascii: "["): return index
      default: break
      }
    }
    return bytes.count
  }
}
