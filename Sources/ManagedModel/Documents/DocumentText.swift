/// The bytes of a model document, for saying where in it something is.
struct DocumentText {
  /// The file name that errors give.
  let file: String
  private let bytes: [UInt8]
  private let lineStarts: [Int]

  /// Takes the bytes of a document and finds its lines.
  init(file: String, bytes: [UInt8]) {
    self.file = file
    self.bytes = bytes
    lineStarts = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  /// The offset of the last `<name` between two offsets, or the first of them.
  func tagOffset(of name: String, from first: Int, to last: Int) -> Int {
    let tag = [UInt8(ascii: "<")] + Array(name.utf8)
    var start = min(last, bytes.count) - tag.count
    while start > first {
      if bytes[start] == tag[0], bytes[start..<start + tag.count].elementsEqual(tag) {
        return start
      }
      start -= 1
    }
    return first
  }

  /// The offset of the value of an attribute of the tag at an offset, or that of the tag.
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

  /// The line and the column, in characters, of an offset; both from 1.
  func place(of offset: Int) -> (line: Int, column: Int) {
    var low = 0
    var high = lineStarts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    let before = bytes[lineStarts[low]..<min(max(offset, lineStarts[low]), bytes.count)]
    return (low + 1, before.count { $0 & 0xC0 != 0x80 } + 1)
  }

  /// The offset of a place that the parser gives, in bytes from 1.
  func offset(line: Int, column: Int) -> Int {
    guard lineStarts.indices.contains(line - 1) else { return bytes.count }
    return min(lineStarts[line - 1] + max(column - 1, 0), bytes.count)
  }
}
