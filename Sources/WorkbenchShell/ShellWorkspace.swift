package import OpenCoreData
import ProfileEvents
import Profiling
import SQLiteDriver
package import ScenarioLanguage
package import WorkbenchText

/// What the shell is on: a store that is open read-only, or a scenario's data in a scratch store.
///
/// Opening a store changes no byte. A scratch store lies in a temporary folder until `close()`.
package final class ShellWorkspace {
  /// What was opened.
  package enum Subject: Sendable {
    case store(URL)
    case scenario(Scenario)
  }

  /// What may be changed.
  package enum Writing: String, Sendable {
    /// Nothing: the store is open read-only.
    case never
    /// A copy of the store, which goes with the shell.
    case copy = "write"
    /// The store itself.
    case inPlace = "in-place"

    /// What is typed behind `open` to write.
    static let words = [copy.rawValue, inPlace.rawValue]
  }

  package let subject: Subject
  /// The file as it was given.
  package let path: String
  package let model: NSManagedObjectModel
  /// What the model was read from: the document that a scenario names, or the file itself.
  package var modelPath: String {
    guard case .scenario(let scenario) = subject, let url = scenario.modelURL else { return path }
    return url.relativePath
  }
  /// Whether the store carries no model that can be read: it is looked at with one that was read off
  /// its tables.
  package let isGuessed: Bool
  /// Rows of each entity itself, in the order of the scenario's data or of the alphabet.
  package let counts: [EntityCount]
  /// What the numbers of steps mean: the rows of each entity as it was opened, and a scenario's scale.
  let scope: CountExpressionScope
  /// Whether the store has a transaction to roll back and a private copy is read instead.
  package let isPrivateCopy: Bool

  /// The data as it was generated, which no run changes.
  private let data: URL
  private let scratch: URL?
  private var copies = 0
  private let writing: Writing
  /// Whether a run has written to the store itself.
  private(set) var wasChanged = false

  /// Opens a file: a scenario when its name ends in `.yml` or `.yaml`, a store otherwise.
  ///
  /// - Parameters:
  ///   - path: as it was given; call sites and messages name it.
  ///   - writing: what may be changed; a scenario's scratch store always may.
  /// - Throws: `InvalidInputError`, `ScenarioDiagnostics`, `CountExpressionError`, the framework's or the file system's
  ///   `NSError`. Nothing is written then.
  package convenience init(opening path: String, writing: Writing = .never) throws {
    try InvalidInputError.checkRegularFile(path)
    let url = URL(fileURLWithPath: path)
    if ["yml", "yaml"].contains(url.pathExtension.lowercased()) {
      try self.init(scenario: try ScenarioReader.read(url, path: path))
    } else {
      try self.init(store: url, path: path, writing: writing, guesses: writing == .never)
    }
  }

  /// Looks at a store, or works on it or on a copy of it; its model comes out of the store.
  ///
  /// Cost: for a copy, copying the file; for a guess, some SELECTs a table.
  ///
  /// - Parameter guesses: whether the model of a store without one is inferred from its tables.
  /// - Throws: `InvalidInputError`, the framework's `NSError`.
  package init(
    store: URL, path: String, writing: Writing = .never, guesses: Bool = false
  ) throws {
    try InvalidInputError.check(store)
    subject = .store(store)
    self.path = path
    self.writing = writing
    do {
      if guesses {
        let read = try StoreModel.ofStore(at: store)
        (model, isGuessed) = (read.model, read.isGuessed)
      } else {
        (model, isGuessed) = (try NSManagedObjectModel.inStore(at: store), false)
      }
    } catch let error as NSError where error.code == CocoaError.Code.fileWriteOutOfSpace.rawValue {
      throw error
    } catch {
      throw InvalidInputError(
        kind: .unusable, message: ErrorText.of(error),
        nextStep: "name its model in a scenario, with `model: FILE.xcdatamodeld` and "
          + "`data: {store: FILE}`, and open that; only to look, no model is needed")
    }
    counts = try ScenarioData.counts(in: store, model: model, ignoringVersions: isGuessed)
    scope = CountExpressionScope(rows: EntityCount.totals(counts, in: model))
    isPrivateCopy = try StoreFileInspection(path: store.path).method == .privateCopy
    guard writing == .copy else {
      data = store
      scratch = nil
      return
    }
    let folder = try ScratchFolders.make()
    scratch = folder
    data = folder.appendingPathComponent("data.sqlite")
    do {
      try StoreFile.copy(from: store, to: data)
    } catch {
      ScratchFolders.remove(folder)
      throw error
    }
  }

  /// Makes a scenario's data in a scratch store.
  ///
  /// Cost: making all rows.
  package init(scenario: Scenario, scale: Int = 1) throws {
    let folder = try ScratchFolders.make()
    subject = .scenario(scenario)
    path = scenario.path
    writing = .copy
    model = scenario.model
    isGuessed = false
    isPrivateCopy = false
    data = folder.appendingPathComponent("data.sqlite")
    scratch = folder
    do {
      let contents = try ScenarioData.make(
        scenario.data, model: scenario.model, scale: scale, at: data)
      (counts, scope) = (contents.counts, contents.scope)
    } catch {
      ScratchFolders.remove(folder)
      throw error
    }
  }

  deinit {
    close()
  }

  /// Removes the scratch store; a store that is open read-only isn't changed.
  package func close() {
    if let scratch { ScratchFolders.remove(scratch) }
  }

  /// Whether nothing can be changed.
  package var isReadOnly: Bool { writing == .never }

  /// Whether the next run has what a run saved.
  var keepsChanges: Bool { writing == .inPlace }

  /// The findings that the scenario suppresses; none for a store.
  var silence: [FindingSuppression] {
    if case .scenario(let scenario) = subject { scenario.silence } else { [] }
  }

  /// Notes that a run has saved something.
  func noteChange() {
    if keepsChanges { wasChanged = true }
  }

  /// A cold session on the data: on a fresh copy of it, where a session may write.
  ///
  /// The copy of the session before it goes; close that session at once.
  func makeSession(
    sinks: [any EventSink], interruption: StepInterruption
  ) throws -> Session {
    guard let scratch else {
      return try Session(
        storeURL: data, model: model, readOnly: isReadOnly, ignoresVersions: isGuessed,
        sinks: sinks, interruption: interruption)
    }
    let copy = scratch.appendingPathComponent("try-\(copies + 1).sqlite")
    try StoreFile.copy(from: data, to: copy)
    let session = try Session(
      storeURL: copy, model: model, readOnly: false, sinks: sinks, interruption: interruption)
    if copies > 0 {
      try StoreFile.remove(at: scratch.appendingPathComponent("try-\(copies).sqlite"))
    }
    copies += 1
    return session
  }

  /// The file or scenario by name: `Moody.moody`, `Fault storm (chapter 15)`.
  package var title: String {
    switch subject {
    case .store(let url): url.lastPathComponent
    case .scenario(let scenario):
      scenario.name + (scenario.chapter.map { " (chapter \($0))" } ?? "")
    }
  }

  /// The file's name without its extension.
  package var baseName: String {
    URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
  }

  /// Entities with rows, and how many: `Continent 6, Country 60, Mood 5,000`.
  package var contents: String {
    let parts = counts.filter { $0.count > 0 }.map { "\($0.name) \(NumberText.grouped($0.count))" }
    return parts.isEmpty ? "no rows" : parts.joined(separator: ", ")
  }

  /// How the data is treated, in a few words.
  package var state: String {
    switch (subject, writing) {
    case (.scenario, _): return "scratch store, nothing cached"
    case (.store, .copy): return "working on a copy; the original store isn't modified"
    case (.store, .inPlace): return "the store itself is changed"
    case (.store, .never): break
    }
    let state =
      isPrivateCopy
      ? "has a transaction to roll back, so a private copy is read; no byte changes"
      : "open read-only; no file is modified"
    return isGuessed ? "\(state); it carries no model, names of properties are guesses" : state
  }
}

/// One thing that is open in the shell, under a name: what it is, its session, and what was tried on it.
final class ShellTarget {
  let name: String
  let workspace: ShellWorkspace
  var session: Session
  /// The finished runs; each ran at least one step.
  var tries: [ShellRun] = []
  var current = ShellRun(number: 1)

  init(name: String, workspace: ShellWorkspace, session: Session) {
    self.name = name
    self.workspace = workspace
    self.session = session
  }

  /// `Moody.moody · Continent 2, Mood 4 · open read-only; no file is modified`.
  var line: String {
    "\(workspace.title) · \(workspace.contents) · \(workspace.state)"
  }
}
