import ArgumentParser
import Foundation
import RunReports
import StoreTools

/// `cdprof doctor`: checks a store without modifying any file.
struct Doctor: Executable {
  static let configuration = CommandConfiguration(
    abstract:
      "Check a store for corruption, orphaned rows, invalid keys, and missing external files.",
    discussion: """
      The store and the files next to it aren't modified, and nothing is repaired. \
      Exit status: 3 if there are errors, or with --strict any findings; 65 if the file isn't a Core Data store.
      """)

  @Argument(help: ArgumentHelp("The store file.", valueName: "store"), completion: .stores)
  var store: String

  @ArgumentParser.Flag(help: "Also exit with status 3 for warnings and notes.")
  var strict = false

  @Option(
    help: ArgumentHelp(
      "Print Markdown instead: md, for a comment on a pull request.", valueName: "format"))
  var report: DoctorReportFormat?

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    guard report == nil || !json else {
      throw ValidationError("--json and --report exclude each other.")
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let findings = try StoreDoctor.examine(URL(fileURLWithPath: store))
    if json {
      console.say(try DoctorJSON.data(findings))
    } else if report == .md {
      console.say(DoctorMarkdown.data(findings))
    } else {
      console.say(DoctorText.lines(findings))
    }
    return findings.fails(strictly: strict) ? .findings : .success
  }
}

/// The value of `doctor --report`.
enum DoctorReportFormat: String, CaseIterable, ExpressibleByArgument {
  case md
}
