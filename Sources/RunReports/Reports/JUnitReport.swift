import ProfileEvents
package import Profiling
import ScenarioLanguage

/// The result of a run as JUnit XML: one suite per scenario, and one test case per expectation.
package enum JUnitReport {
  /// Returns a result as a document that ends with a line feed.
  package static func text(_ result: RunResult) -> String {
    let cases = result.variants.flatMap { Self.cases(of: $0.name, $0.expectations, in: result) }
    let scaled = result.scales.flatMap { run in
      run.variants.flatMap { variant in
        Self.cases(
          of: "\(variant.name) at scale \(run.scale)", variant.expectations, in: result)
      }
    }
    let all = cases + scaled
    let failures = result.expectations - result.metExpectations
    let time = seconds(result.variants.reduce(0) { $0 + $1.nanoseconds })
    let left = result.unevaluatedExpectations
    let skipped = left == 0 ? "" : " skipped=\"\(left)\""
    let numbers =
      "tests=\"\(all.count)\" failures=\"\(failures)\" errors=\"0\"\(skipped) time=\"\(time)\""
    let environment = result.environment
    let engine = result.engine.map { [("engine", $0.text)] } ?? []
    let properties =
      ([
        ("command", result.command), ("seed", String(result.seed)), ("scale", String(result.scale)),
        ("cdprof", environment.cdprof), ("sqlite", environment.sqlite),
        ("swift", environment.swift), ("machine", environment.machine),
        ("build", environment.build),
      ] + engine).map { "      <property name=\"\($0.0)\" value=\"\(escaped($0.1))\"/>" }
    let lines =
      [
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites name=\"cdprof\" \(numbers)>",
        "  <testsuite name=\"\(escaped(result.scenario))\" \(numbers)>", "    <properties>",
      ] + properties + ["    </properties>"] + all + ["  </testsuite>", "</testsuites>"]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns a test case for each expectation, or one that passes if there are none.
  private static func cases(
    of variant: String, _ expectations: [ExpectationResult], in result: RunResult
  ) -> [String] {
    let name = result.file.split(separator: "/").last.map(String.init) ?? result.scenario
    let head = "    <testcase classname=\"\(escaped("\(name).\(variant)"))\" name="
    guard !expectations.isEmpty else { return [head + "\"runs\" time=\"0\"/>"] }
    return expectations.map { expectation in
      let title = escaped("\(expectation.metric): \(expectation.formula)")
      let location = expectation.location
      let open =
        head + "\"\(title)\" file=\"\(escaped(location.file))\" "
        + "line=\"\(location.line)\" time=\"0\""
      if let obstacle = expectation.obstacle {
        return """
          \(open)>
                <skipped message="\(escaped("not evaluated: \(obstacle)"))"/>
              </testcase>
          """
      }
      guard !expectation.isMet else { return open + "/>" }
      let message = "expected \(expectation.expectedText), actual \(expectation.actualText)"
      let text = (["\(location): \(message)"] + expectation.differences).joined(separator: "\n")
      return """
        \(open)>
              <failure type="expectation" message="\(escaped(message))">\(escaped(text))</failure>
            </testcase>
        """
    }
  }

  private static func seconds(_ nanoseconds: UInt64) -> String {
    let microseconds = nanoseconds / 1_000
    let decimals = String(1_000_000 + microseconds % 1_000_000).dropFirst()
    return "\(microseconds / 1_000_000).\(decimals)"
  }

  /// Escapes text for XML, including attributes, and replaces characters that XML doesn't allow.
  private static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": result.append(contentsOf: "&lt;".unicodeScalars)
      case ">": result.append(contentsOf: "&gt;".unicodeScalars)
      case "&": result.append(contentsOf: "&amp;".unicodeScalars)
      case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
      case "\n": result.append(contentsOf: "&#10;".unicodeScalars)
      case "\t": result.append(contentsOf: "&#9;".unicodeScalars)
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
        result.append("\u{FFFD}")
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
