internal import FoundationXML

/// Parses the XML of a model document into elements.
///
/// Entities aren't expanded, and no other file is read. The depth and number of elements are
/// limited.
final class DocumentParser: NSObject, XMLParserDelegate {
  private let text: DocumentText
  private let keepsCharacters: Bool
  private var open: [DocumentElement] = []
  private var root: DocumentElement?
  private var count = 0
  private var tagEnd = 0
  private var failure: ModelError?

  private init(text: DocumentText, keepsCharacters: Bool) {
    self.text = text
    self.keepsCharacters = keepsCharacters
  }

  /// Parses a document.
  ///
  /// - Parameters:
  ///   - bytes: Valid UTF-8; the parser would trap for names and values that aren't.
  ///   - keepsCharacters: Whether to keep the elements' `characters`, which models don't have.
  /// - Throws: An error with the first position at which the document isn't well-formed XML.
  static func parse(
    _ bytes: [UInt8], text: DocumentText, keepsCharacters: Bool = false
  ) throws(ModelErrors) -> DocumentElement {
    let delegate = DocumentParser(text: text, keepsCharacters: keepsCharacters)
    let parser = XMLInput.parser(of: Data(bytes))
    parser.delegate = delegate
    let succeeded = parser.parse()
    if let failure = delegate.failure { throw ModelErrors(failure) }
    guard succeeded, let root = delegate.root, delegate.open.isEmpty else {
      delegate.fail("The document is empty or truncated.", at: parser)
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
    guard open.count < ModelLimits.elementDepth else {
      fail(
        "The elements are nested more than \(ModelLimits.elementDepth) levels deep.", at: parser)
      return parser.abortParsing()
    }
    guard count <= ModelLimits.elements else {
      fail("The document has more than \(ModelLimits.elements) elements.", at: parser)
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

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    if keepsCharacters { open.last?.characters += string }
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    let code = (error as NSError).code
    if Self.limitCodes.contains(code) {
      fail(
        "The document is too large for the XML parser: an attribute value or a comment can have "
          + "10 MB, and a name 50,000 bytes.",
        nextStep: "Shorten the value or name.", at: parser)
    } else {
      fail("The document isn't well-formed XML: \(Self.reason(code))", at: parser)
    }
    // Text after an error could be parsed as an instruction, for which the parser can crash.
    parser.abortParsing()
  }

  private func fail(
    _ message: String,
    nextStep: String = "Repair it in a text editor, or save it again in the model editor.",
    at parser: XMLParser
  ) {
    guard failure == nil else { return }
    let position = text.position(
      of: text.offset(line: parser.lineNumber, column: parser.columnNumber))
    failure = ModelError(
      message, nextStep: nextStep, file: text.file, line: position.line, column: position.column)
  }

  /// The codes of the parser for input beyond its own limits: an internal error, a name that's too
  /// long, and a resource limit.
  private static let limitCodes: Set = [1, 110, 114]

  /// Returns the reason for an error of the parser, for the codes that are common in model
  /// documents.
  private static func reason(_ code: Int) -> String {
    switch code {
    case 4, 5: "it ends too early."
    case 9: "a character isn't allowed."
    case 26, 27, 28: "an XML entity isn't defined."
    case 38: "a \"<\" is inside an attribute value."
    case 39: "an attribute value isn't quoted."
    case 40: "an attribute value isn't quoted, or has more than 10 MB."
    case 41: "an attribute has no value."
    case 42: "an attribute is specified twice."
    case 45: "a comment isn't closed, or has more than 10 MB."
    case 65: "a space is missing."
    case 68: "a name is missing."
    case 73: "a tag is incomplete."
    case 76: "the closing tag doesn't match the opening one."
    case 77: "a tag isn't closed."
    case 89: "an XML entity refers to itself, or expands to too many others."
    default: "error \(code) of the XML parser."
    }
  }
}

/// An element of a model document, with its content.
final class DocumentElement {
  /// The name of the tag.
  let name: String
  /// The attributes of the tag.
  let attributes: [String: String]
  /// The offset of the tag in the bytes of the document.
  let offset: Int
  /// The child elements, in document order.
  var children: [DocumentElement] = []
  /// The text of the element, if the parser keeps it.
  var characters = ""
  /// The invalid attributes of the tag, unchanged.
  var unread: [String: String] = [:]

  /// Creates an element without children.
  init(name: String, attributes: [String: String], offset: Int) {
    self.name = name
    self.attributes = attributes
    self.offset = offset
  }

  /// Returns the child elements with a name, in document order.
  func children(named name: String) -> [DocumentElement] {
    children.filter { $0.name == name }
  }
}

/// The text of a model document, which converts offsets to lines and columns.
struct DocumentText {
  /// The file name for errors.
  let file: String
  private let bytes: [UInt8]
  private let lineStarts: [Int]
  /// The number of characters before each block of bytes, so that long lines are counted once.
  private let charactersBefore: [Int]

  private static let blockSize = 256

  /// Creates a text from the bytes of a document, and finds its lines.
  init(file: String, bytes: [UInt8]) {
    self.file = file
    self.bytes = bytes
    lineStarts = bytes.withUnsafeBufferPointer { buffer in
      var (starts, index) = ([0], 0)
      while index < buffer.count {
        if buffer[index] == UInt8(ascii: "\n") { starts.append(index + 1) }
        index += 1
      }
      return starts
    }
    charactersBefore = bytes.withUnsafeBufferPointer { buffer in
      var counts = [0]
      for start in stride(from: 0, to: buffer.count, by: Self.blockSize) {
        let end = min(start + Self.blockSize, buffer.count)
        counts.append(counts[counts.count - 1] + Self.characters(in: buffer[start..<end]))
      }
      return counts
    }
  }

  /// Returns the offset of the last `<name` between two offsets, or the first offset if there's
  /// none.
  func tagOffset(of name: String, from first: Int, to last: Int) -> Int {
    let tag = [UInt8(ascii: "<")] + Array(name.utf8)
    return bytes.withUnsafeBufferPointer { buffer in
      var start = min(last, buffer.count) - tag.count
      while start > first {
        if buffer[start] == tag[0], buffer[start..<start + tag.count].elementsEqual(tag) {
          return start
        }
        start -= 1
      }
      return first
    }
  }

  /// Returns the offset of an attribute's value in the tag at an offset, or that of the tag.
  func valueOffset(of attribute: String, inTagAt offset: Int) -> Int {
    let name = Array(attribute.utf8)
    var index = offset
    var quote: UInt8?
    while index < bytes.count {
      let byte = bytes[index]
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
        var end = index - 1
        while end > offset, bytes[end] == UInt8(ascii: "=") || bytes[end] <= 32 { end -= 1 }
        let start = end - name.count + 1
        if start > offset, bytes[start...end].elementsEqual(name), bytes[start - 1] <= 32 {
          return index + 1
        }
      } else if byte == UInt8(ascii: ">") {
        break
      }
      index += 1
    }
    return offset
  }

  /// Returns the line and the column of an offset, in characters and counted from 1.
  func position(of offset: Int) -> (line: Int, column: Int) {
    let line = Self.lastIndex(of: lineStarts, upTo: offset)
    let end = min(max(offset, lineStarts[line]), bytes.count)
    return (line + 1, characters(before: end) - characters(before: lineStarts[line]) + 1)
  }

  /// Returns the byte offset of a position that the parser reports, in characters and counted from
  /// 1.
  func offset(line: Int, column: Int) -> Int {
    guard lineStarts.indices.contains(line - 1) else { return bytes.count }
    let start = lineStarts[line - 1]
    let isASCII = charactersBefore.last == bytes.count
    guard !isASCII else { return min(start + max(column - 1, 0), bytes.count) }
    return offset(ofCharacter: characters(before: start) + max(column - 1, 0))
  }

  /// Returns the byte offset of a character, counted from 0, or the end of the text.
  private func offset(ofCharacter number: Int) -> Int {
    let block = Self.lastIndex(of: charactersBefore, upTo: number)
    var rest = number - charactersBefore[block]
    for offset in block * Self.blockSize..<max(bytes.count, block * Self.blockSize)
    where bytes[offset] & 0xC0 != 0x80 {
      if rest == 0 { return offset }
      rest -= 1
    }
    return bytes.count
  }

  private func characters(before offset: Int) -> Int {
    let block = offset / Self.blockSize
    return charactersBefore[block]
      + bytes.withUnsafeBufferPointer {
        Self.characters(in: $0[block * Self.blockSize..<offset])
      }
  }

  private static func characters(in bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
    let bytes = UnsafeBufferPointer(rebasing: bytes)
    var (count, index) = (0, 0)
    while index < bytes.count {
      if bytes[index] & 0xC0 != 0x80 { count &+= 1 }
      index &+= 1
    }
    return count
  }

  /// Returns the index of the last number that isn't greater than a limit, or 0; the numbers are in
  /// ascending order.
  private static func lastIndex(of numbers: [Int], upTo limit: Int) -> Int {
    var low = 0
    var high = numbers.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if numbers[middle] <= limit { low = middle } else { high = middle }
    }
    return low
  }
}
