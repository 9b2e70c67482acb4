import Foundation
import WorkbenchFixtures
import Yams

/// How plain YAML scalars become JSON values; editors differ in this.
enum YAMLReading: CaseIterable {
  /// `no` is a string.
  case core
  /// `no` and `off` are false, and `yes` and `on` are true, as in YAML 1.1.
  case yaml11

  /// Returns the only document of the text as JSON.
  func value(of text: String) throws -> JSONValue {
    try Yams.compose(yaml: text).map(value) ?? .null
  }

  private func value(_ node: Node) -> JSONValue {
    switch node {
    case .mapping(let mapping):
      .object(
        Dictionary(
          mapping.map { ($0.key.scalar?.string ?? "", value($0.value)) },
          uniquingKeysWith: { first, _ in first }))
    case .sequence(let sequence): .array(sequence.map(value))
    case .scalar(let scalar): scalar.style == .plain ? plain(scalar.string) : .text(scalar.string)
    case .alias: .null
    }
  }

  private func plain(_ text: String) -> JSONValue {
    switch text {
    case "", "~", "null", "Null", "NULL": return .null
    case "true", "True", "TRUE": return .flag(true)
    case "false", "False", "FALSE": return .flag(false)
    case "yes", "on", "Yes", "On":
      if self == .yaml11 { return .flag(true) }
    case "no", "off", "No", "Off":
      if self == .yaml11 { return .flag(false) }
    default: break
    }
    let isNumber = text.wholeMatch(of: /[-+]?(\d+|\d*\.\d+|\d+\.)([eE][-+]?\d+)?/) != nil
    return isNumber ? Double(text).map(JSONValue.number) ?? .text(text) : .text(text)
  }
}
