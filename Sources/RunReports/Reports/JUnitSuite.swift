import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// A document of JUnit XML with one suite.
struct JUnitSuite {
  /// A test case.
  struct Case {
    /// The outcome of a test case.
    enum Outcome {
      case passed
      case skipped(String)
      case failed(message: String, text: String)
    }

    var group: String
    var name: String
    /// Where the expectation is written, or `nil` for a case without one.
    var location: CallSite?
    var outcome = Outcome.passed
  }

  var name: String
  var nanoseconds: UInt64
  var properties: [(name: String, value: String)]
  var cases: [Case]

  /// The document, which ends with a line feed.
  var text: String {
    let failures = cases.count { if case .failed = $0.outcome { true } else { false } }
    let skipped = cases.count { if case .skipped = $0.outcome { true } else { false } }
    let numbers =
      "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"0\""
      + (skipped == 0 ? "" : " skipped=\"\(skipped)\"")
      + " time=\"\(Self.seconds(nanoseconds))\""
    let lines =
      [
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites name=\"cdprof\" \(numbers)>",
        "  <testsuite name=\"\(Self.escaped(name))\" \(numbers)>", "    <properties>",
      ]
      + properties.map {
        "      <property name=\"\($0.name)\" value=\"\(Self.escaped($0.value))\"/>"
      }
      + ["    </properties>"] + distinctCases.map(Self.element)
      + ["  </testsuite>", "</testsuites>"]
    return lines.joined(separator: "\n") + "\n"
  }

  /// The cases with different names, by which CI services tell them apart.
  ///
  /// A case whose name occurs again in its group, such as an expectation of each repetition of a
  /// step, is `NAME (2)`.
  private var distinctCases: [Case] {
    var counts: [[String]: Int] = [:]
    return cases.map { one in
      let number = counts[[one.group, one.name], default: 0] + 1
      counts[[one.group, one.name]] = number
      var copy = one
      if number > 1 { copy.name += " (\(number))" }
      return copy
    }
  }

  private static func element(_ one: Case) -> String {
    let location = one.location.map { "file=\"\(escaped($0.file))\" line=\"\($0.line)\" " } ?? ""
    let open =
      "    <testcase classname=\"\(escaped(one.group))\" name=\"\(escaped(one.name))\" "
      + "\(location)time=\"0\""
    switch one.outcome {
    case .passed:
      return open + "/>"
    case .skipped(let message):
      return """
        \(open)>
              <skipped message="\(escaped(message))"/>
            </testcase>
        """
    case .failed(let message, let text):
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

extension JUnitSuite.Case {
  /// Creates a case from the result of an expectation.
  init(_ expectation: ExpectationResult, in group: String) {
    self.init(
      group: group, name: "\(expectation.metric): \(expectation.formula)",
      location: expectation.location)
    if let obstacle = expectation.obstacle {
      outcome = .skipped("not evaluated: \(obstacle)")
    } else if !expectation.isMet {
      let message = "expected \(expectation.expectedText), actual \(expectation.actualText)"
      outcome = .failed(
        message: message,
        text: (["\(expectation.location): \(message)"] + expectation.differences)
          .joined(separator: "\n"))
    }
  }
}
