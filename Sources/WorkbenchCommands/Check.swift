import ArgumentParser
import Foundation
import Profiling
import RunReports
import RunResults
import ScenarioFiles
import ScenarioLanguage
import WorkbenchText

/// `cdprof check`: checks a reader's solution of an exercise.
struct Check: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Check your solution of a scenario's exercise against its budget.",
    discussion: """
      Runs the variant of the exercise as it is in the lesson and as it is in the file, on the \
      data of the lesson. The file must read the same values and leave the same rows.

      Exit status: 3 if the budget isn't met or the work differs, 1 if a step fails, 65 if a \
      file is invalid or there's no exercise.
      """)

  @Argument(
    help: ArgumentHelp("Your copy of the scenario, with the variant changed.", valueName: "file"),
    completion: .scenarios)
  var file: String

  @Option(
    help: ArgumentHelp(
      """
      The scenario with the exercise; by default, the one with the same name in the folder \
      Scenarios, among the installed ones, or next to the file, or else the file itself.
      """, valueName: "file"), completion: .scenarios)
  var lesson: String?

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func execute(_ console: Console) throws -> ExitStatus {
    let attempt = try ScenarioReader.read(URL(fileURLWithPath: file), path: file)
    let check = try ExerciseCheck(of: attempt, against: lesson(of: attempt))
    if json {
      console.write(try ExerciseReport.data(check))
    } else {
      console.write(ExerciseReport.lines(check))
    }
    return check.passes ? .success : .findings
  }

  private func lesson(of attempt: Scenario) throws -> Scenario {
    if let lesson {
      return try ScenarioReader.read(URL(fileURLWithPath: lesson), path: lesson)
    }
    var folders: [ScenarioList.Folder] = []
    do {
      folders = try ScenarioList(installed: List.installed).folders
    } catch let error as InvalidInputError where error.kind == .missing {
      // Neither folder has scenarios.
    }
    let own = attempt.file.resolvingSymlinksInPath().path
    func isLesson(_ scenario: Scenario) -> Bool {
      scenario.name == attempt.name && scenario.exercise != nil
        && scenario.file.resolvingSymlinksInPath().path != own
    }
    if let found = folders.flatMap(\.entries).map(\.scenario).first(where: isLesson) {
      return found
    }
    let folder = attempt.file.deletingLastPathComponent()
    let others = ScenarioFinder.scenarios(directlyIn: folder.path).compactMap { name in
      let url = folder.appendingPathComponent(name)
      // The text of one that's invalid can't be the lesson.
      return try? ScenarioReader.read(url, path: url.relativePath)
    }
    .filter(isLesson)
    guard others.count < 2 else {
      let names = others.map(\.file.lastPathComponent).joined(separator: ", ")
      throw InvalidInputError(
        kind: .unusable,
        message: "several scenarios next to \(file) have its exercise: \(names)",
        nextStep: "specify the lesson with --lesson")
    }
    return others.first ?? attempt
  }
}
