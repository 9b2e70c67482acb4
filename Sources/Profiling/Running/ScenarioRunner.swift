package import Foundation
import OpenCoreData
import ProfileEvents
import SQLiteDriver
package import ScenarioLanguage
import Synchronization
import WorkbenchText

/// Runs a scenario: makes its data once, then each variant cold on a copy of it.
package struct ScenarioRunner {
  private let scenario: Scenario
  private let scale: Int
  private let seed: UInt64
  private let repeats: Int
  private let outputDirectory: URL
  private let name: String
  private let log: RunLog?
  private let force: Bool

  /// - Parameters:
  ///   - scale: the value of `scale` in counts and formulas; at least 1.
  ///   - seed: nil for the scenario's own.
  ///   - repeats: how often each variant runs; its counts must be the same each time. At least 1.
  ///   - outputDirectory: where the store is left; made when it does not exist.
  ///   - name: what the store is called; the scenario file's name if left out.
  ///   - force: whether a store that `cdprof` didn't write may be replaced.
  ///   - log: hears of the first run of each variant, in a section of its name.
  package init(
    scenario: Scenario, scale: Int = 1, seed: UInt64? = nil, repeats: Int = 1,
    outputDirectory: URL, name: String? = nil, force: Bool = false, log: RunLog? = nil
  ) {
    precondition(scale >= 1, "a scale is at least 1")
    precondition(repeats >= 1, "a variant runs at least once")
    self.scenario = scenario
    self.scale = scale
    self.seed = seed ?? scenario.data.seed
    self.repeats = repeats
    self.outputDirectory = outputDirectory
    self.name = name ?? scenario.fileName
    self.force = force
    self.log = log
  }

  /// Where the data file is left: `faults.sqlite` in the output directory.
  package var storeURL: URL {
    outputDirectory.appendingPathComponent("\(name).sqlite")
  }

  /// Runs all variants, in the order of the file.
  ///
  /// Nothing appears in the output directory before the data is complete; the variants' copies live in
  /// a temporary folder that is removed, however the process ends.
  /// - Throws: `ScenarioDiagnostics` for a formula without a value at this scale, `StepFailure`, the
  ///   framework's or the file system's `NSError`.
  package func run(progress: (RunProgress) -> Void = { _ in }) throws -> RunResult {
    do {
      return try result(progress: progress)
    } catch let error as CountExpressionError {
      throw ScenarioDiagnostics([diagnostic(error)])
    }
  }

  private func result(progress: (RunProgress) -> Void) throws -> RunResult {
    let folder = try ScratchFolders.make()
    defer { ScratchFolders.remove(folder) }
    let data = folder.appendingPathComponent("data.sqlite")
    var plan = scenario.data
    plan.seed = seed
    let contents = try ScenarioData.make(
      plan, model: scenario.model, scale: scale, at: data
    ) { progress(.data(rows: $0, of: $1)) }
    for expectation in scenario.expectations {
      _ = try expectation.law.bounds(in: contents.scope)
    }
    let steps = try scenario.variants.map { variant in
      try variant.steps(sharing: scenario.steps).map { try $0.resolved(in: contents.scope) }
    }
    try keep(data)
    let pages = Set(
      scenario.variants.flatMap(\.expect.expectations).map(\.scoped)
        .filter { $0.scope == .all && $0.metric.isOfPages }.map(\.metric))
    var variants: [VariantResult] = []
    for (index, variant) in scenario.variants.enumerated() {
      progress(
        .variant(name: variant.name, number: index + 1, of: scenario.variants.count))
      let copy = folder.appendingPathComponent("variant.sqlite")
      let run = VariantRun(
        variant: variant, steps: steps[index], model: scenario.model,
        scope: contents.scope, path: scenario.path, silence: scenario.silence, pages: pages)
      let results = try (0..<repeats).map { turn in
        try StoreFile.copy(from: data, to: copy)
        guard turn == 0, let log else { return try run.result(on: copy) }
        return try log.section(variant.name) { try run.result(on: copy, telling: log.sink) }
      }
      variants.append(VariantResult(repeated: results, in: scenario.path, line: variant.line))
    }
    return RunResult(
      scenario: scenario.name, file: scenario.path, chapter: scenario.chapter,
      story: scenario.story, covers: scenario.covers, seed: seed, scale: scale,
      data: contents.counts, variants: FixVerification.noting(in: variants, steps: steps),
      environment: .current, command: command)
  }

  /// Leaves the data next to the reports; a store that was copied from there isn't changed.
  private func keep(_ data: URL) throws {
    guard !keepsItsSource else { return }
    try OutputFile.makeFolder(outputDirectory)
    try OutputFile.copyStore(data, to: storeURL, marks: true, force: force)
  }

  /// Whether the store would be left where it was copied from.
  private var keepsItsSource: Bool {
    guard case .copied(let store) = scenario.data.source else { return false }
    return store.resolvingSymlinksInPath().standardizedFileURL
      == storeURL.resolvingSymlinksInPath().standardizedFileURL
  }

  /// Checks, before anything runs, that the store can be left in the output directory.
  ///
  /// - Throws: `InvalidInputError` for a file that `cdprof` didn't write, unless `force` is given.
  package func checkOutput() throws {
    guard !keepsItsSource else { return }
    try OutputFile.checkStore(storeURL, force: force)
  }

  private func diagnostic(_ error: CountExpressionError) -> ScenarioDiagnostic {
    ScenarioDiagnostic(
      file: scenario.path, keyPath: "",
      problem: LanguageProblem(
        "`\(error.text)` has no value at scale \(scale): \(error.message)", at: error.place,
        nextStep: "run it with another --scale, or change the expression"),
      sourceLine: nil)
  }

  private var command: String {
    "cdprof run \(scenario.path) --scale \(scale) --seed \(seed)"
      + (repeats > 1 ? " --repeat \(repeats)" : "") + " --report html"
  }
}

/// How far a run has come.
package enum RunProgress: Sendable, Equatable {
  /// Making the data file: rows made, of how many.
  case data(rows: Int, of: Int)
  /// Running a variant: its name and number, counted from 1, of how many.
  case variant(name: String, number: Int, of: Int)
}

/// The SQL log of a run: each variant a section that `cdprof log` reads and can judge.
package struct RunLog: Sendable {
  let sink: SQLDebugLog
  private let write: @Sendable (String) -> Void

  /// - Parameters:
  ///   - level: 1 to 4, as SQLDebug's.
  ///   - showsBinds: whether bound values are written.
  ///   - write: gets one line at a time, without a line feed.
  package init(level: Int, showsBinds: Bool, write: @escaping @Sendable (String) -> Void) {
    sink = SQLDebugLog(level: level, showsBinds: showsBinds, write: write)
    self.write = write
  }

  /// Runs a body between the lines that begin and end its section, however it ends.
  func section<R>(_ name: String, _ body: () throws -> R) rethrows -> R {
    write("cdprof: begin \(name)")
    defer { write("cdprof: end") }
    return try body()
  }
}

/// Runs tasks on several threads, and hands what came of them over in the order of the tasks.
package enum OrderedRuns {
  /// Runs all tasks.
  ///
  /// With one job they run on the caller's thread, one after the other.
  /// - Parameters:
  ///   - jobs: how many threads take tasks; at least 1.
  ///   - work: called on any of the threads, for several tasks at once.
  ///   - done: called on the caller's thread, for one result after the other.
  package static func run<Task: Sendable, Outcome: Sendable>(
    _ tasks: [Task], jobs: Int, work: @escaping @Sendable (Task) -> Outcome,
    done: (Outcome) -> Void
  ) {
    guard jobs > 1, tasks.count > 1 else {
      for task in tasks { done(work(task)) }
      return
    }
    let board = Board<Outcome>(count: tasks.count)
    let counter = Counter()
    for _ in 0..<min(jobs, tasks.count) {
      let thread = Thread {
        while let index = counter.next(below: tasks.count) {
          board.post(work(tasks[index]), at: index)
        }
      }
      // As large as that of the program's own worker: predicates may be nested deeply.
      thread.stackSize = 8 << 20
      thread.start()
    }
    for index in tasks.indices { done(board.wait(for: index)) }
  }

  /// Gives each number once.
  private final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    func next(below limit: Int) -> Int? {
      let index = value.add(1, ordering: .relaxed).oldValue
      return index < limit ? index : nil
    }
  }

  /// Where threads leave what they have.
  private final class Board<Outcome: Sendable>: @unchecked Sendable {
    // `outcomes` is behind `condition`
    private let condition = NSCondition()
    private var outcomes: [Outcome?]

    init(count: Int) {
      outcomes = Array(repeating: nil, count: count)
    }

    func post(_ outcome: Outcome, at index: Int) {
      condition.lock()
      outcomes[index] = outcome
      condition.broadcast()
      condition.unlock()
    }

    func wait(for index: Int) -> Outcome {
      condition.lock()
      defer { condition.unlock() }
      while true {
        if let outcome = outcomes[index] { return outcome }
        condition.wait()
      }
    }
  }
}

extension RunEnvironment {
  /// This process on this machine.
  package static var current: RunEnvironment {
    RunEnvironment(
      cdprof: ToolVersion.current, sqlite: SQLiteLibrary.version, swift: swiftVersion,
      machine: machine, build: build)
  }

  private static var machine: String {
    let process = ProcessInfo.processInfo
    let cores = NumberText.counted(process.activeProcessorCount, "core")
    return "\(process.operatingSystemVersionString), \(processor), \(cores)"
  }

  private static var processor: String {
    #if arch(x86_64)
      "x86_64"
    #elseif arch(arm64)
      "arm64"
    #else
      "another processor"
    #endif
  }

  private static var swiftVersion: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }

  private static var build: String {
    #if DEBUG
      "debug"
    #else
      "release"
    #endif
  }
}
