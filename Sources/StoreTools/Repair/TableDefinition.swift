import OpenCoreData
import SQLiteDriver

/// The columns of a `CREATE TABLE` statement in a file that can't be trusted.
///
/// The statement isn't executed.
struct TableDefinition {
  struct Column: Hashable {
    let name: String
    /// The declared type, without characters that SQL would interpret.
    let type: String

    /// Returns whether Core Data stores such a value in a column of this type.
    func accepts(_ value: SQLiteValue) -> Bool {
      switch value {
      case .null: true
      case .integer: type != "VARCHAR" && type != "BLOB"
      case .real: ["FLOAT", "DECIMAL", "TIMESTAMP", ""].contains(type)
      case .text: ["VARCHAR", "DECIMAL", ""].contains(type)
      case .blob: ["BLOB", ""].contains(type)
      }
    }
  }

  /// The name of the table; empty if it isn't known.
  private(set) var name = ""
  private(set) var columns: [Column] = []

  /// The types that Core Data declares.
  static let types: Set = ["INTEGER", "FLOAT", "DECIMAL", "TIMESTAMP", "VARCHAR", "BLOB"]
  private static let constraints: Set = ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"]

  /// Reads a statement; `nil` if it has no list of columns.
  init?(_ sql: String) {
    let text = Array(sql.utf8)
    guard text.count <= StoreLimits.definitionSize, sql.uppercased().hasPrefix("CREATE TABLE")
    else {
      return nil
    }
    name = Self.word(text.dropFirst("CREATE TABLE".utf8.count)).0.text
    for part in Self.parts(text) {
      let (name, rest) = Self.word(part[...])
      guard !name.text.isEmpty else { continue }
      if !name.isQuoted, Self.constraints.contains(name.text.uppercased()) { continue }
      let type = Self.word(rest).0.text.uppercased()
      columns.append(
        Column(name: name.text, type: type.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }))
    }
    guard !columns.isEmpty else { return nil }
  }

  /// Creates the definition of a table in a file that SQLite can read.
  init(columns: [Column]) { self.columns = columns }

  /// Returns the parts between the commas of the first parenthesis.
  private static func parts(_ text: [UInt8]) -> [[UInt8]] {
    var (parts, part, depth): ([[UInt8]], [UInt8], Int) = ([], [], 0)
    var quote: UInt8?
    for byte in text {
      if let open = quote {
        if byte == open { quote = nil }
        if depth > 0 { part.append(byte) }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): quote = byte
      case UInt8(ascii: "["): quote = UInt8(ascii: "]")
      case UInt8(ascii: "("):
        depth += 1
        if depth == 1 { continue }
      case UInt8(ascii: ")"):
        depth -= 1
        if depth == 0 { return parts + [part] }
      case UInt8(ascii: ",") where depth == 1:
        parts.append(part)
        part = []
        continue
      default: break
      }
      if depth > 0 { part.append(byte) }
    }
    return parts + [part]
  }

  private static func word(
    _ text: ArraySlice<UInt8>
  ) -> ((text: String, isQuoted: Bool), rest: ArraySlice<UInt8>) {
    let trimmed = text.drop { $0 <= 0x20 }
    guard let first = trimmed.first else { return (("", false), []) }
    if let close = [0x22: 0x22, 0x27: 0x27, 0x60: 0x60, 0x5B: 0x5D][first].map(UInt8.init) {
      let inner = trimmed.dropFirst().prefix { $0 != close }
      let rest = trimmed.dropFirst(inner.count + 2)
      return ((String(decoding: inner, as: UTF8.self), true), rest)
    }
    let word = trimmed.prefix { $0 > 0x20 && $0 != UInt8(ascii: "(") }
    return ((String(decoding: word, as: UTF8.self), false), trimmed.dropFirst(word.count))
  }
}
