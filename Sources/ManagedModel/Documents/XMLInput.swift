import Foundation
package import FoundationXML

/// XML in memory that's larger than Foundation's parser accepts at once.
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
}
