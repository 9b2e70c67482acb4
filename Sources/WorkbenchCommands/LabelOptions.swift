import ArgumentParser
import RunReports
import WorkbenchText

/// The labels of a report as JSON Lines.
struct LabelOptions: ParsableArguments {
  @Option(
    name: .customLong("label"),
    help: ArgumentHelp(
      "With --report jsonl, add a label such as release=1.4 to each line. Repeatable.",
      valueName: "key=value"))
  var texts: [String] = []

  /// The labels, in the order of the arguments.
  var all: [ReportLabel] { texts.compactMap(ReportLabel.init) }

  func validate() throws {
    guard texts.count <= InputLimits.labels else {
      throw ValidationError("At most \(InputLimits.labels) --label options are allowed.")
    }
    var keys: Set<String> = []
    for text in texts {
      guard let label = ReportLabel(text) else {
        throw ValidationError(
          "--label must be KEY=VALUE, not `\(text)`; KEY has letters, digits, and _, and doesn't "
            + "begin with a digit.")
      }
      guard label.value.utf8.count <= InputLimits.labelValue else {
        throw ValidationError(
          "The value of --label \(label.key) must have at most \(InputLimits.labelValue) bytes, not "
            + "\(label.value.utf8.count).")
      }
      guard keys.insert(label.key).inserted else {
        throw ValidationError("There are two --label options with the key \(label.key).")
      }
    }
  }

  /// Checks that a report that contains the labels is written.
  func check(writesLines: Bool) throws {
    guard writesLines || texts.isEmpty else {
      throw ValidationError("--label requires --report jsonl.")
    }
  }
}
