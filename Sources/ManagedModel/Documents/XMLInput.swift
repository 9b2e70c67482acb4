import Foundation
package import FoundationXML

/// XML in memory, whose size and tags the parser wouldn't accept or bound by itself.
package enum XMLInput {
  /// Returns a parser for a document of any size.
  ///
  /// The parser gets the document in parts: with more than 10 MB at once, it fails at the end.
  package static func parser(of document: Data) -> XMLParser {
    XMLParser(stream: InputStream(data: document))
  }

  /// The size of an attribute's value that the parser reads, in bytes.
  ///
  /// Its limit is 10,000,000, but it also rejects some values that are slightly smaller.
  package static let valueSize = 9_900_000

  /// Returns whether each tag has few enough attributes to be parsed in a short time: the parser
  /// compares each with the others.
  ///
  /// **Cost:** one pass over the bytes.
  package static func hasFewAttributes(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer { buffer in
      var (offset, count, isTag) = (0, 0, false)
      while offset < buffer.count {
        switch buffer[offset] {
        case UInt8(ascii: "<") where !isTag:
          if let end = endOfText(in: buffer, at: offset) {
            offset = end
            continue
          }
          (count, isTag) = (0, true)
        case UInt8(ascii: ">"): isTag = false
        case UInt8(ascii: "=") where isTag:
          count += 1
          if count > ModelLimits.attributes { return false }
        case let quote where isTag && (quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")):
          repeat { offset += 1 } while offset < buffer.count && buffer[offset] != quote
        default: break
        }
        offset += 1
      }
      return true
    }
  }

  /// Returns the end of the comment or CDATA section that begins at an offset; `nil` if none does.
  private static func endOfText(in buffer: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
    for (opening, closing) in [("<!--", "-->"), ("<![CDATA[", "]]>")]
    where buffer[start...].starts(with: opening.utf8) {
      var offset = start + opening.utf8.count
      while offset < buffer.count, !buffer[offset...].starts(with: closing.utf8) { offset += 1 }
      return offset + closing.utf8.count
    }
    return nil
  }
}
