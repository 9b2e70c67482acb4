package import Foundation
import OpenCoreData
import ProfileEvents
package import RunResults
import SQLiteDriver
package import ScenarioLanguage
import Synchronization
import WorkbenchText

/// Runs a scenario: generates its data once, and then runs each variant cold on a copy of the data.
package struct ScenarioRunner {
  private let scenario: Scenario
  private let scale: Int
  private let scales: [Int]
  private let seed: UInt64
  private let repeats: Int
  private let outputDirectory: URL
  private let name: String
  private let log: RunLog?
  private let force: Bool
  private let recordsWork: Bool
  private let engine: any StoreEngine

  /// Creates a runner for a scenario.
  ///
  /// - Parameters:
  ///   - scenario: The scenario to run.
  ///   - scale: The value of `scale` in counts and formulas, at least 1.
  ///   - scales: The scales of all runs whose results are joined, for the command that repeats
  ///     them; `nil` if this is the only one.
  ///   - seed: The seed of the data, or `nil` for the scenario's own.
  ///   - repeats: The number of iterations of each variant, at least 1. Counts must not vary
  ///     between them.
  ///   - outputDirectory: The directory for the store, which is created if it doesn't exist.
  ///   - name: The name of the store without its extension, or `nil` for the scenario file's name.
  ///   - force: Whether to replace a store that `cdprof` didn't write.
  ///   - log: The log that receives the first iteration of each variant, in a section with its
  ///     name.
  ///   - recordsWork: Whether to record what each variant reads and leaves in the store.
  ///   - engine: The engine of the stores; only SQLite's data is written to the output directory.
  package init(
    scenario: Scenario, scale: Int = 1, of scales: [Int]? = nil, seed: UInt64? = nil,
    repeats: Int = 1, outputDirectory: URL, name: String? = nil, force: Bool = false,
    log: RunLog? = nil, recordsWork: Bool = false, engine: any StoreEngine = SQLiteEngine()
  ) {
    guard scale >= 1 else { fatalError("scale must be at least 1") }
    guard repeats >= 1 else { fatalError("repeats must be at least 1") }
    self.scenario = scenario
    self.scale = scale
    self.scales = scales ?? [scale]
    self.seed = seed ?? scenario.data.seed
    self.repeats = repeats
    self.outputDirectory = outputDirectory
    self.name = name ?? scenario.fileName
    self.force = force
    self.log = log
    self.recordsWork = recordsWork
    self.engine = engine
  }

  /// The URL of the store in the output directory, such as `faults.sqlite`.
  package var storeURL: URL {
    outputDirectory.appendingPathComponent("\(name).sqlite")
  }

  /// Runs all variants in the order of the file.
  ///
  /// This method writes to the output directory only after the data is complete. The variants'
  /// copies are temporary stores, which are removed even if the process is terminated.
  ///
  /// - Parameters:
  ///   - progress: A closure that's called with the progress of the run.
  ///   - examine: A closure that's called with the result and the original data, before that's
  ///     removed.
  /// - Throws: `ScenarioDiagnostics` if a formula has no value at this scale, if the model doesn't
  ///   allow the generated rows, or if the engine can't run a step; a `StepFailure`; an `NSError`
  ///   of the framework or the file system; or the closure's error.
  package func run(
    progress: (RunProgress) -> Void = { _ in },
    examining examine: (RunResult, URL) throws -> Void = { _, _ in }
  ) throws -> RunResult {
    do {
      return try result(progress: progress, examining: examine)
    } catch let error as CountExpressionError {
      throw ScenarioDiagnostics([diagnostic(error)])
    } catch let error as GeneratedRowsError {
      throw error.diagnostics(in: scenario)
    }
  }

  private func result(
    progress: (RunProgress) -> Void, examining examine: (RunResult, URL) throws -> Void
  ) throws -> RunResult {
    try EngineCheck(scenario, on: engine).check()
    let description = try engine.description()
    let data = try engine.makeStoreURL()
    defer { engine.removeStore(at: data) }
    var plan = scenario.data
    plan.seed = seed
    let contents = try ScenarioData.make(
      plan, model: scenario.dataModel, scale: scale, at: data, type: engine.storeType,
      options: engine.storeOptions
    ) { progress(.data(rows: $0, of: $1)) }
    for expectation in scenario.expectations {
      _ = try expectation.constraint.bounds(in: contents.scope)
    }
    let steps = try scenario.variants.map { variant in
      try variant.steps(sharing: scenario.steps).map { try $0.resolved(in: contents.scope) }
    }
    try keep(data)
    let named = scenario.namedMetrics
    var variants: [VariantResult] = []
    for (index, variant) in scenario.variants.enumerated() {
      progress(
        .variant(name: variant.name, number: index + 1, of: scenario.variants.count))
      let run = VariantRun(
        variant: variant, steps: steps[index], dataModel: scenario.dataModel,
        configuration: contents.configuration, model: scenario.model, versions: scenario.versions,
        scope: contents.scope, path: scenario.path, silence: scenario.silence, named: named,
        recordsWork: recordsWork, engine: engine)
      let results = try (0..<repeats).map { turn in
        let copy = try engine.copyStore(at: data)
        defer { engine.removeStore(at: copy) }
        guard turn == 0, let log else { return try run.result(on: copy, copiedFrom: data) }
        return try log.section(variant.name) {
          try run.result(on: copy, copiedFrom: data, emittingTo: log.sink)
        }
      }
      variants.append(VariantResult(repeated: results, in: scenario.path, line: variant.line))
    }
    var result = RunResult(
      scenario: scenario.name, file: scenario.path, chapter: scenario.chapter,
      story: scenario.story, covers: scenario.covers, seed: seed, scale: scale,
      data: contents.counts, variants: FixVerification.noting(in: variants, steps: steps),
      environment: .current, command: command)
    result.engine = description
    result.metric = scenario.metric
    result.headline = scenario.headline?.text { metric, name in
      guard engine.counts(metric.metric) else { return nil }
      return result.variants.first { $0.name == name }.map { $0.value(of: metric) ?? 0 }
    }
    result.predictions = scenario.predictions.filter(hasAnswer).compactMap {
      PredictionResult($0, of: result.variants)
    }
    result.exercise = scenario.exercise.map(ExerciseText.init)
    try examine(result, data)
    return result
  }

  /// Returns whether the engine has the count or the plans that a question asks for.
  private func hasAnswer(_ prediction: Prediction) -> Bool {
    switch prediction.subject {
    case .least(let metric), .most(let metric), .count(let metric, _):
      engine.counts(metric.metric)
    case .index: engine.obstacleToPlans == nil
    }
  }

  /// Copies the data to the output directory, unless it was copied from that store.
  private func keep(_ data: URL) throws {
    guard keepsData else { return }
    try OutputFile.makeFolder(outputDirectory)
    try OutputFile.copyStore(data, to: storeURL, marks: true, force: force)
  }

  /// Whether the data is written to the output directory: it's a file, and not the one that was
  /// copied.
  package var keepsData: Bool { hasFile && !keepsItsSource }

  /// Whether the data is a file in the output directory after the run.
  package var hasFile: Bool { engine.storeType == .sqlite }

  /// Whether the output store is the one that the data was copied from.
  private var keepsItsSource: Bool {
    guard case .copied(let store) = scenario.data.source else { return false }
    return store.resolvingSymlinksInPath().standardizedFileURL
      == storeURL.resolvingSymlinksInPath().standardizedFileURL
  }

  /// Checks, before anything runs, whether the store can be written to the output directory.
  ///
  /// - Throws: An `InvalidInputError` if there's a file that `cdprof` didn't write, unless `force`
  ///   is set.
  package func checkOutput() throws {
    guard keepsData else { return }
    try OutputFile.checkStore(storeURL, force: force)
  }

  private func diagnostic(_ error: CountExpressionError) -> ScenarioDiagnostic {
    let lines = Scenario.lines(of: scenario.text)
    let index = error.range.line - 1
    return ScenarioDiagnostic(
      file: scenario.path, keyPath: "",
      problem: LanguageProblem(
        "`\(error.text)` has no value at scale \(scale): \(error.message)", at: error.range,
        nextStep: "run it with another --scale, or change the expression"),
      sourceLine: lines.indices.contains(index) ? lines[index] : nil)
  }

  private var command: String {
    "\(engine.command.program) run \(CommandWord.quoted(scenario.path))"
      + " --scale \(scales.map(String.init).joined(separator: ",")) --seed \(seed)"
      + (repeats > 1 ? " --repeat \(repeats)" : "") + engine.command.options + " --report html"
  }
}

/// The progress of a run.
package enum RunProgress: Sendable, Equatable {
  /// The data is being generated, with the number of rows so far and in total.
  case data(rows: Int, of: Int)
  /// A variant is running, with its name, its number from 1, and the number of variants.
  case variant(name: String, number: Int, of: Int)
}

/// The SQL log of a run, with a section for each variant that `cdprof log` can read and evaluate.
package struct RunLog: Sendable {
  let sink: SQLDebugLog
  private let write: @Sendable (String) -> Void

  /// Creates a log.
  ///
  /// - Parameters:
  ///   - level: The level from 1 to 4, as for SQLDebug.
  ///   - showsBinds: Whether the log contains bound values.
  ///   - write: A closure that receives one line at a time, without a newline.
  package init(level: Int, showsBinds: Bool, write: @escaping @Sendable (String) -> Void) {
    sink = SQLDebugLog(level: level, showsBinds: showsBinds, write: write)
    self.write = write
  }

  /// Runs a body between the lines that begin and end its section, even if it throws an error.
  func section<R>(_ name: String, _ body: () throws -> R) rethrows -> R {
    write("cdprof: begin \(name)")
    defer { write("cdprof: end") }
    return try body()
  }
}

/// Runs tasks on several threads, and delivers their results in the order of the tasks.
package enum OrderedRuns {
  /// Runs all tasks.
  ///
  /// With one job, the tasks run one after another on the calling thread.
  ///
  /// - Parameters:
  ///   - tasks: The tasks to run.
  ///   - jobs: The number of threads, at least 1.
  ///   - work: A closure that runs a task. It's called concurrently on several threads.
  ///   - done: A closure that receives one result at a time on the calling thread.
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
      // The same size as that of the program's worker thread, because predicates can be deeply
      // nested.
      thread.stackSize = 8 << 20
      thread.start()
    }
    for index in tasks.indices { done(board.wait(for: index)) }
  }

  /// A counter that returns each number once.
  private final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    func next(below limit: Int) -> Int? {
      let index = value.add(1, ordering: .relaxed).oldValue
      return index < limit ? index : nil
    }
  }

  /// The results that threads post.
  private final class Board<Outcome: Sendable>: @unchecked Sendable {
    // `condition` guards `outcomes`.
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
