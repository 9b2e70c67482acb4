/// Lays compact JSON out in lines: an object or list that holds no other stands on one.
struct JSONLayout {
  private var result: [UInt8] = []
  private var depth = 0
  /// Whether the innermost container stands on one line.
  private var isFlat = false

  /// The same JSON, indented by two blanks, with a newline at its end.
  ///
  /// - Parameter json: valid, without blanks between its tokens.
  static func bytes(of json: [UInt8]) -> [UInt8] {
    var layout = JSONLayout()
    layout.result.reserveCapacity(json.count * 3 / 2)
    let flat = flatContainers(in: json)
    var scan = TextScan()
    for (index, byte) in json.enumerated() {
      if scan.isInText(byte) {
        layout.result.append(byte)
      } else {
        layout.add(byte, isFlat: flat[index])
      }
    }
    layout.result.append(UInt8(ascii: "\n"))
    return layout.result
  }

  private mutating func add(_ byte: UInt8, isFlat: Bool) {
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      result.append(byte)
      self.isFlat = isFlat
      if !isFlat {
        depth += 1
        breakLine()
      }
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      if !self.isFlat {
        depth -= 1
        breakLine()
      }
      self.isFlat = false
      result.append(byte)
    case UInt8(ascii: ","):
      result.append(byte)
      if self.isFlat { result.append(UInt8(ascii: " ")) } else { breakLine() }
    case UInt8(ascii: ":"):
      result += [byte, UInt8(ascii: " ")]
    default:
      result.append(byte)
    }
  }

  private mutating func breakLine() {
    result.append(UInt8(ascii: "\n"))
    result.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
  }

  /// For the place of each opening bracket, whether nothing nested lies behind it.
  private static func flatContainers(in json: [UInt8]) -> [Bool] {
    var flat = [Bool](repeating: false, count: json.count)
    var open: [Int] = []
    var scan = TextScan()
    for (index, byte) in json.enumerated() where !scan.isInText(byte) {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        if let outer = open.last { flat[outer] = false }
        flat[index] = true
        open.append(index)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        open.removeLast()
      default: break
      }
    }
    return flat
  }

  /// Tells bytes inside of quotation marks from those outside.
  private struct TextScan {
    private var isOpen = false
    private var isEscaped = false

    /// Whether the next byte belongs to a text, its quotation marks included.
    mutating func isInText(_ byte: UInt8) -> Bool {
      guard isOpen else {
        isOpen = byte == UInt8(ascii: "\"")
        return isOpen
      }
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isOpen = false
      }
      return true
    }
  }
}
