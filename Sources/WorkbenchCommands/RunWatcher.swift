import Foundation
import OpenCoreData
import Profiling
import RunReports
import ScenarioFiles
import ScenarioLanguage
import Synchronization
import WorkbenchText

/// Runs scenarios again each time one of their files is saved, until Ctrl-C.
///
/// Files are compared by date, size, and inode, so it doesn't matter whether an editor writes or
/// replaces them. A change counts once it has been the same for two comparisons, so a file that's
/// being written is rarely read; if it is, its errors are printed, and it's read again when it's
/// complete.
final class RunWatcher {
  /// The time between two comparisons.
  private static let interval: useconds_t = 200_000
  /// What Ctrl-C ends with, and the scripts that it removes.
  private static let ending = Mutex<(status: ExitStatus, scripts: Set<URL>)>((.success, []))

  private let command: Run
  private let engine: any StoreEngine
  private let console: Console
  /// The files of each scenario as they were before its last run, by the scenario's path.
  private var known: [String: WatchedFiles] = [:]
  /// The files that have changed since, as they were at the last comparison.
  private var changing: [String: WatchedFiles] = [:]
  private var entries: [RunIndex.Entry] = []

  init(_ command: Run, on engine: any StoreEngine, _ console: Console) {
    self.command = command
    self.engine = engine
    self.console = console
  }

  /// Runs all scenarios, and then those that change, until Ctrl-C ends the program with the status
  /// of the last run.
  ///
  /// - Returns: The status of a first run that can't start, because a file is missing, nothing
  ///   matches `--only` or `--variant`, or a report can't be written.
  /// - Throws: An `InvalidInputError` for a missing file.
  func watch() throws -> ExitStatus {
    let found = try command.files.flatMap { try ScenarioFinder.files(at: $0) }
    Signals.perform { signal in
      guard signal == SIGINT else { Signals.endProgram(signal) }
      RunWatcher.end()
    }
    if let status = run(found, isFirst: true) { return status }
    while true {
      usleep(RunWatcher.interval)
      let found = command.files.flatMap { (try? ScenarioFinder.files(at: $0)) ?? [] }
      let changed = changes(in: found)
      if !changed.isEmpty {
        let names = Set(found.map(\.name))
        entries.removeAll { !names.contains($0.name) }
        console.write("")
        _ = run(changed, isFirst: false)
      }
    }
  }

  /// Removes the scripts of the pages, which nothing updates any longer, and ends the program.
  private static func end() -> Never {
    let (status, scripts) = ending.withLock { $0 }
    for script in scripts where (try? OutputFile.check(script, force: false)) != nil {
      try? FileManager.default.removeItem(at: script)
    }
    Ending.end(status.rawValue)
  }

  // MARK: Changes

  /// Returns the scenarios with files that have changed and that are complete.
  private func changes(in found: [ScenarioFinder.Found]) -> [ScenarioFinder.Found] {
    found.filter { file in
      let old = known[file.path]
      let now = old?.now ?? WatchedFiles([file.path])
      // A scenario that was deleted may be created again.
      guard now != old, FileManager.default.fileExists(atPath: file.path) else {
        changing[file.path] = nil
        return false
      }
      guard changing[file.path] == now else {
        changing[file.path] = now
        return false
      }
      changing[file.path] = nil
      return true
    }
  }

  // MARK: Runs

  /// Reads and runs scenarios.
  ///
  /// - Returns: The status if watching makes no sense.
  private func run(_ found: [ScenarioFinder.Found], isFirst: Bool) -> ExitStatus? {
    var status = ExitStatus.success
    var scenarios: [Scenario] = []
    var names: [String: String] = [:]
    for file in found {
      names[file.path] = file.name
      do {
        scenarios.append(try read(file.path))
      } catch {
        status = status.worse(command.report(error, console))
      }
    }
    do {
      scenarios = try chosen(scenarios, isFirst: isFirst && status == .success)
    } catch {
      console.writeError(error.description)
      if isFirst { return .usage }
      status = status.worse(.usage)
    }
    for scenario in scenarios {
      console.warn(of: scenario.model, path: scenario.modelURL?.relativePath ?? scenario.path)
    }
    let runs = scenarios.map {
      ScenarioRuns($0, named: names[$0.path] ?? $0.fileName, command, on: engine)
    }
    let index = IndexOutput(command)
    let output = command.checkOutput(of: runs, index, console)
    if output != .success {
      if isFirst { return output }
      status = status.worse(output)
    } else if !runs.isEmpty {
      let scripts = runs.compactMap(\.script) + [index?.script].compactMap(\.self)
      RunWatcher.ending.withLock { $0.scripts.formUnion(scripts) }
      do {
        var records = try RunRecords(command)
        try records?.check(scenarios)
        status = status.worse(
          try ScenarioRuns.run(
            of: runs, index: index, entries: &entries, records: &records, command, console))
      } catch {
        status = status.worse(command.report(error, console))
      }
    }
    RunWatcher.ending.withLock { $0.status = status }
    console.writeMessage(Messages.watching(known.count))
    return nil
  }

  /// Reads a scenario after the states of the files that it names.
  ///
  /// - Throws: The errors of `ScenarioReader.read(_:path:)`.
  private func read(_ path: String) throws -> Scenario {
    let url = URL(fileURLWithPath: path)
    // Until a file is read, it's unknown which others it names; so it's read twice.
    do {
      let named = try ScenarioReader.read(url, path: path)
      known[path] = WatchedFiles(WatchedFiles.paths(of: named))
    } catch {
      let possible = WatchedFiles.paths(ofInvalidScenarioAt: path)
        .union((error as? ScenarioDiagnostics)?.includedFiles ?? [])
      known[path] = WatchedFiles(possible.union(known[path]?.paths ?? []))
    }
    return try ScenarioReader.read(url, path: path)
  }

  /// Returns the scenarios that `--only` and `--variant` select.
  ///
  /// - Parameter isFirst: Whether all scenarios are there, so that nothing selected is an error.
  private func chosen(
    _ scenarios: [Scenario], isFirst: Bool
  ) throws(ScenarioChoice.Empty) -> [Scenario] {
    let choice = ScenarioChoice(only: command.only, variants: command.variant)
    guard !isFirst else { return try choice.scenarios(of: scenarios) }
    let fitting = scenarios.filter { one in
      (try? ScenarioChoice(only: command.only).scenarios(of: [one])) != nil
    }
    guard !fitting.isEmpty else { return [] }
    return try ScenarioChoice(variants: command.variant).scenarios(of: fitting)
  }
}
