package import Foundation
package import Profiling
import ScenarioLanguage
import WorkbenchText

/// Reads results that were written with `--report json`.
package enum ResultFile {
  /// Reads a result from data.
  ///
  /// - Parameters:
  ///   - data: The content of the file.
  ///   - path: The path of the file, for error messages.
  /// - Throws: `ScenarioDiagnostics` with the line and column of an error.
  package static func read(_ data: Data, path: String) throws -> RunResult {
    let text = Text(bytes: [UInt8](data), path: path)
    if let fault = JSONScanner.fault(in: text.bytes) {
      throw text.problem(
        "invalid JSON: \(fault.message)", at: fault.offset, keyPath: "",
        nextStep: "use a complete file written by `cdprof run --report json`")
    }
    let decoder = JSONDecoder()
    do {
      let head = try decoder.decode(Head.self, from: data)
      guard head.version == JSONDocument.version else {
        throw text.problem(
          "result version \(head.version) isn't supported; this cdprof reads version "
            + "\(JSONDocument.version)",
          at: JSONScanner.offset(of: [.key("version")], in: text.bytes) ?? 0, keyPath: "version",
          nextStep: "run the scenario again, or use the version of cdprof that wrote the file")
      }
      return try decoder.decode(JSONDocument.self, from: data).result
    } catch let error as DecodingError {
      throw text.problem(error)
    }
  }

  /// Reads a result from a file, a pipe, or standard input.
  ///
  /// - Throws: An `InvalidInputError` if the file can't be read; `ScenarioDiagnostics` if it isn't
  ///   a result.
  package static func read(at path: String) throws -> RunResult {
    try read(InputFile.read(path, limit: InputLimits.resultSize), path: path)
  }

  private struct Head: Decodable {
    var version: Int
  }

  /// The content of the file, which converts byte offsets to lines and columns.
  private struct Text {
    let bytes: [UInt8]
    let path: String

    func problem(
      _ message: String, at offset: Int, keyPath: String, nextStep: String
    ) -> ScenarioDiagnostics {
      let before = bytes.prefix(offset)
      let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      let range = SourceRange(
        line: before.count { $0 == UInt8(ascii: "\n") } + 1,
        column: String(decoding: bytes[start..<offset], as: UTF8.self).count + 1)
      return ScenarioDiagnostics([
        ScenarioDiagnostic(
          file: path, keyPath: keyPath,
          problem: LanguageProblem(message, at: range, nextStep: nextStep),
          sourceLine: String(decoding: bytes[start..<end], as: UTF8.self))
      ])
    }

    func problem(_ error: DecodingError) -> ScenarioDiagnostics {
      let (message, path) = describe(error)
      let parts = path.map { key in
        key.intValue.map(JSONScanner.Part.index) ?? .key(key.stringValue)
      }
      let keyPath = path.reduce("") { text, key in
        if let index = key.intValue { return "\(text)[\(index)]" }
        return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
      }
      return problem(
        message, at: JSONScanner.offset(of: parts, in: bytes) ?? 0, keyPath: keyPath,
        nextStep: "use an unmodified file written by `cdprof run --report json`")
    }

    private func describe(_ error: DecodingError) -> (String, [any CodingKey]) {
      switch error {
      case .keyNotFound(let key, let context):
        let hint = key.stringValue == "version" ? ", so the file isn't a cdprof result" : ""
        return ("the key `\(key.stringValue)` is missing" + hint, context.codingPath)
      case .typeMismatch(let type, let context):
        return ("expected \(word(for: type))", context.codingPath)
      case .valueNotFound(let type, let context):
        return ("expected \(word(for: type)), but there's no value", context.codingPath)
      case .dataCorrupted(let context):
        // The standard library's message for an enumeration names a Swift type.
        let value = context.debugDescription.firstMatch(of: /invalid String value (.*)/)?.1
        return (
          value.map { "`\($0)` isn't a valid value" } ?? context.debugDescription,
          context.codingPath
        )
      @unknown default:
        return ("the value can't be read", [])
      }
    }

    private func word(for type: any Any.Type) -> String {
      switch type {
      case is String.Type: "a string"
      case is any FixedWidthInteger.Type: "an integer"
      case is Bool.Type: "true or false"
      case is [Any].Type: "a list"
      default: "a value of another type"
      }
    }
  }
}

/// Scans JSON token by token to find the position of a value or an error.
struct JSONScanner {
  /// A syntax error and its byte offset.
  struct Fault: Error {
    var message: String
    var offset: Int
  }

  /// A component of the path to a value.
  enum Part: Equatable {
    case key(String)
    case index(Int)
  }

  private let bytes: [UInt8]
  private var position = 0
  /// The path of the value to find; `nil` to only check the syntax.
  private let wanted: [Part]?
  private var way: [Part] = []
  private var found: Int?
  private var sum = 0.0

  private init(_ bytes: [UInt8], wanted: [Part]?) {
    self.bytes = bytes
    self.wanted = wanted
  }

  /// Returns the first error in JSON, or `nil` if it's valid.
  static func fault(in bytes: [UInt8]) -> Fault? {
    var scanner = JSONScanner(bytes, wanted: nil)
    do {
      try scanner.value()
      scanner.skipBlanks()
      return scanner.position == bytes.count
        ? nil : Fault(message: "unexpected data after the end", offset: scanner.position)
    } catch {
      return error
    }
  }

  /// Returns the byte offset of the value at a path, or `nil` if there is no such value.
  static func offset(of path: [Part], in bytes: [UInt8]) -> Int? {
    var scanner = JSONScanner(bytes, wanted: path)
    // `fault(in:)` has checked the syntax.
    try? scanner.value()
    return scanner.found
  }

  private mutating func value() throws(Fault) {
    skipBlanks()
    if way == wanted, found == nil { found = position }
    guard position < bytes.count else { throw fault("expected a value, but the text ends here") }
    guard way.count <= InputLimits.jsonDepth else {
      throw fault("objects and lists are nested more than \(InputLimits.jsonDepth) deep, the limit")
    }
    switch bytes[position] {
    case UInt8(ascii: "{"): try object()
    case UInt8(ascii: "["): try list()
    case UInt8(ascii: "\""): _ = try text()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
    default: throw fault("expected a value")
    }
  }

  private mutating func object() throws(Fault) {
    position += 1
    if isNext("}") { return }
    repeat {
      skipBlanks()
      guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
        throw fault("expected a key in quotation marks")
      }
      way.append(.key(try text()))
      guard isNext(":") else { throw fault("expected a colon") }
      try value()
      way.removeLast()
    } while isNext(",")
    guard isNext("}") else { throw fault("expected a comma or }") }
  }

  private mutating func list() throws(Fault) {
    position += 1
    if isNext("]") { return }
    var index = 0
    repeat {
      way.append(.index(index))
      try value()
      way.removeLast()
      index += 1
    } while isNext(",")
    guard isNext("]") else { throw fault("expected a comma or ]") }
  }

  /// Reads a string without resolving its escapes; the keys of a result contain none.
  private mutating func text() throws(Fault) -> String {
    let start = position
    position += 1
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      guard bytes[position] >= 0x20 else { break }
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
      throw Fault(message: "the string that starts here isn't terminated", offset: start)
    }
    position += 1
    return String(decoding: bytes[(start + 1)..<(position - 1)], as: UTF8.self)
  }

  /// Reads a number, and checks it and the sum of all numbers against their limits.
  ///
  /// The limits rule out an overflow when numbers of a result are added.
  private mutating func number() throws(Fault) {
    let start = position
    while position < bytes.count, "+-.eE0123456789".utf8.contains(bytes[position]) { position += 1 }
    // A seed can be any 64-bit integer; it's never added to anything.
    guard way.last != .key("seed") else { return }
    let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)) ?? .infinity
    sum += abs(number)
    let limit = InputLimits.value
    guard abs(number) <= Double(limit), sum <= 1_000 * Double(limit) else {
      throw Fault(
        message:
          "a number exceeds the limit, \(NumberText.grouped(limit)), or the sum of all numbers "
          + "exceeds a thousand times that", offset: start)
    }
  }

  private mutating func word(_ word: StaticString) throws(Fault) {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count, bytes[position..<end].elementsEqual("\(word)".utf8) else {
      throw fault("expected a value")
    }
    position = end
  }

  /// Skips a punctuation mark if it comes next, and returns whether it did.
  private mutating func isNext(_ mark: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard position < bytes.count, bytes[position] == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }

  private mutating func skipBlanks() {
    while position < bytes.count, " \t\r\n".utf8.contains(bytes[position]) { position += 1 }
  }

  private func fault(_ message: String) -> Fault {
    Fault(message: message, offset: position)
  }
}
