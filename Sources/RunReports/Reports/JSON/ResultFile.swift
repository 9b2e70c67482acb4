package import Foundation
package import Profiling
import ScenarioLanguage
import WorkbenchText

/// A result that was written with `--report json`, read back.
package enum ResultFile {
  /// Reads a result.
  ///
  /// - Parameters:
  ///   - data: the file's bytes.
  ///   - path: the file as it was given; errors name it.
  /// - Throws: `ScenarioDiagnostics` with line and column of what is wrong.
  package static func read(_ data: Data, path: String) throws -> RunResult {
    let text = Text(bytes: [UInt8](data), path: path)
    if let fault = JSONScanner.fault(in: text.bytes) {
      throw text.problem(
        "this is no JSON: \(fault.message)", at: fault.offset, keyPath: "",
        nextStep: "give a file that `cdprof run --report json` wrote, whole")
    }
    let decoder = JSONDecoder()
    do {
      let head = try decoder.decode(Head.self, from: data)
      guard head.version == JSONDocument.version else {
        throw text.problem(
          "version \(head.version) of the result is not known: this cdprof reads version "
            + "\(JSONDocument.version)",
          at: JSONScanner.offset(of: [.key("version")], in: text.bytes) ?? 0, keyPath: "version",
          nextStep: "run the scenario again, or use the cdprof that wrote the file")
      }
      return try decoder.decode(JSONDocument.self, from: data).result
    } catch let error as DecodingError {
      throw text.problem(error)
    }
  }

  /// Reads a result from a file, a pipe, or standard input.
  ///
  /// - Throws: `InputRefusal` when it can't be read, `ScenarioDiagnostics`.
  package static func read(at path: String) throws -> RunResult {
    try read(InputFile.read(path, limit: maximumSize), path: path)
  }

  /// In bytes; a result of many events has some megabytes.
  static let maximumSize = 256 << 20

  private struct Head: Decodable {
    var version: Int
  }

  /// The file's text, which knows the lines of its bytes.
  private struct Text {
    let bytes: [UInt8]
    let path: String

    func problem(
      _ message: String, at offset: Int, keyPath: String, nextStep: String
    ) -> ScenarioDiagnostics {
      let before = bytes.prefix(offset)
      let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      let place = SourcePlace(
        line: before.count { $0 == UInt8(ascii: "\n") } + 1,
        column: String(decoding: bytes[start..<offset], as: UTF8.self).count + 1)
      return ScenarioDiagnostics([
        ScenarioDiagnostic(
          file: path, keyPath: keyPath,
          problem: LanguageProblem(message, at: place, nextStep: nextStep),
          sourceLine: String(decoding: bytes[start..<end], as: UTF8.self))
      ])
    }

    func problem(_ error: DecodingError) -> ScenarioDiagnostics {
      let (message, path) = told(error)
      let parts = path.map { key in
        key.intValue.map(JSONScanner.Part.index) ?? .key(key.stringValue)
      }
      let keyPath = path.reduce("") { text, key in
        if let index = key.intValue { return "\(text)[\(index)]" }
        return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
      }
      return problem(
        message, at: JSONScanner.offset(of: parts, in: bytes) ?? 0, keyPath: keyPath,
        nextStep: "give a file that `cdprof run --report json` wrote, unchanged")
    }

    private func told(_ error: DecodingError) -> (String, [any CodingKey]) {
      switch error {
      case .keyNotFound(let key, let context):
        let hint = key.stringValue == "version" ? ", so it is no result of cdprof's" : ""
        return ("the key `\(key.stringValue)` is missing" + hint, context.codingPath)
      case .typeMismatch(let type, let context):
        return ("this is no \(word(for: type))", context.codingPath)
      case .valueNotFound(let type, let context):
        return ("a \(word(for: type)) is missing", context.codingPath)
      case .dataCorrupted(let context):
        return (context.debugDescription, context.codingPath)
      @unknown default:
        return ("this cannot be read", [])
      }
    }

    private func word(for type: any Any.Type) -> String {
      switch type {
      case is String.Type: "text"
      case is any FixedWidthInteger.Type: "whole number"
      case is Bool.Type: "true or false"
      case is [Any].Type: "list"
      default: "value of the kind that belongs here"
      }
    }
  }
}
