internal import FoundationXML

/// Turns the XML of a model document into elements.
///
/// Entities are not expanded and nothing outside the document is read. Depth and number of
/// elements are bounded.
final class DocumentParser: NSObject, XMLParserDelegate {
  private static let maximumDepth = 64
  private static let maximumElements = 500_000

  private let text: DocumentText
  private var open: [DocumentElement] = []
  private var root: DocumentElement?
  private var count = 0
  private var tagEnd = 0
  private var failure: ModelError?

  private init(text: DocumentText) {
    self.text = text
  }

  /// Parses a document.
  ///
  /// Fails with the first place where it is no well-formed XML.
  ///
  /// - Parameter bytes: Sound UTF-8: names and values of other bytes would trap in the parser.
  static func parse(_ bytes: [UInt8], text: DocumentText) throws(ModelErrors) -> DocumentElement {
    let delegate = DocumentParser(text: text)
    let parser = XMLParser(data: Data(bytes))
    parser.delegate = delegate
    let succeeded = parser.parse()
    if let failure = delegate.failure { throw ModelErrors(failure) }
    guard succeeded, let root = delegate.root, delegate.open.isEmpty else {
      delegate.fail("The document is empty or ends too early.", at: parser)
      throw ModelErrors(delegate.failure ?? ModelError("The document is empty.", file: text.file))
    }
    return root
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String] = [:]
  ) {
    count += 1
    guard failure == nil else { return }
    guard open.count < Self.maximumDepth, count <= Self.maximumElements else {
      fail("The document is too large or nested too deeply for a model.", at: parser)
      return parser.abortParsing()
    }
    let end = text.offset(line: parser.lineNumber, column: parser.columnNumber)
    let element = DocumentElement(
      name: name, attributes: attributes,
      offset: text.tagOffset(of: name, from: tagEnd, to: end))
    tagEnd = end
    if let parent = open.last {
      parent.children.append(element)
    } else if root == nil {
      root = element
    }
    open.append(element)
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    _ = open.popLast()
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    let code = (error as NSError).code
    fail("The document is no well-formed XML: \(Self.reason(code))", at: parser)
  }

  private func fail(_ message: String, at parser: XMLParser) {
    guard failure == nil else { return }
    let place = text.place(
      of: text.offset(line: parser.lineNumber, column: parser.columnNumber))
    failure = ModelError(
      message, nextStep: "Repair it in a text editor, or save it anew in the model editor.",
      file: text.file, line: place.line, column: place.column)
  }

  /// The reasons a model document is usually broken for, by the parser's codes.
  private static func reason(_ code: Int) -> String {
    switch code {
    case 4, 5: "it ends too early."
    case 9: "a character is not allowed."
    case 26, 27, 28: "an entity is not known."
    case 38: "a \"<\" stands inside an attribute value."
    case 39, 40: "an attribute value is not in quotes."
    case 41: "an attribute has no value."
    case 42: "an attribute is given twice."
    case 65: "a blank is missing."
    case 68: "a name is missing."
    case 73: "a tag is not finished."
    case 76: "the closing tag does not match the opening one."
    case 77: "a tag is not closed."
    case 89: "an entity is made of itself, or of too many others."
    default: "error \(code) of the XML parser."
    }
  }
}
