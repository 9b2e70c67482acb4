import Foundation
import ScenarioLanguage
import WorkbenchText

/// JSON that was read from a file, whose errors have a line, a column, and the path of the key.
struct JSONSource {
  /// The kind of file, for error messages.
  struct Kind {
    /// What the file is.
    let noun: String
    /// The key that only files of this kind have.
    let key: String
    /// What to do about a syntax error.
    let repair: String
    /// What to do about an invalid value.
    let correction: String

    static let result = Kind(
      noun: "cdprof result", key: "version",
      repair: "use a complete file written by `cdprof run --report json`",
      correction: "use an unmodified file written by `cdprof run --report json`")
  }

  private let bytes: [UInt8]
  private let path: String
  private let kind: Kind
  /// The number of the first line, for a part of a file.
  private let firstLine: Int

  /// Checks the syntax and the size of the numbers.
  ///
  /// - Throws: `ScenarioDiagnostics` with the line and column of the first error.
  init(_ data: Data, path: String, kind: Kind, firstLine: Int = 1) throws {
    bytes = [UInt8](data)
    self.path = path
    self.kind = kind
    self.firstLine = firstLine
    if let error = JSONScanner.firstError(in: bytes) {
      throw problem("invalid JSON: \(error.message)", offset: error.offset, nextStep: kind.repair)
    }
  }

  /// Decodes a value.
  ///
  /// - Throws: `ScenarioDiagnostics` with the line and column of the value that can't be decoded.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch let error as DecodingError {
      let (message, path) = describe(error)
      throw problem(
        message,
        at: path.map { key in
          key.intValue.map(JSONScanner.PathComponent.index) ?? .key(key.stringValue)
        })
    }
  }

  /// Returns the error about a value.
  ///
  /// - Parameters:
  ///   - message: What's wrong.
  ///   - path: The path of the value.
  ///   - nextStep: What to do; `nil` for what the kind of file suggests.
  func problem(
    _ message: String, at path: [JSONScanner.PathComponent], nextStep: String? = nil
  ) -> ScenarioDiagnostics {
    let keyPath = path.reduce("") { text, part in
      switch part {
      case .index(let index): "\(text)[\(index)]"
      case .key(let key): text.isEmpty ? key : "\(text).\(key)"
      }
    }
    return problem(
      message, offset: JSONScanner.offset(of: path, in: bytes) ?? 0, keyPath: keyPath,
      nextStep: nextStep ?? kind.correction)
  }

  private func problem(
    _ message: String, offset: Int, keyPath: String = "", nextStep: String
  ) -> ScenarioDiagnostics {
    let before = bytes.prefix(offset)
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    let range = SourceRange(
      line: before.count { $0 == UInt8(ascii: "\n") } + firstLine,
      column: String(decoding: bytes[start..<offset], as: UTF8.self).count + 1)
    return ScenarioDiagnostics([
      ScenarioDiagnostic(
        file: path, keyPath: keyPath,
        problem: LanguageProblem(message, at: range, nextStep: nextStep),
        sourceLine: String(decoding: bytes[start..<end], as: UTF8.self))
    ])
  }

  private func describe(_ error: DecodingError) -> (String, [any CodingKey]) {
    switch error {
    case .keyNotFound(let key, let context):
      let hint = key.stringValue == kind.key ? ", so the file isn't a \(kind.noun)" : ""
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
