package import OpenCoreData
import ProfileEvents
import Profiling
import SQLiteDriver
import ScenarioFiles
package import ScenarioLanguage
package import WorkbenchText

/// The data that the shell works on: a store, or a scenario's data in a scratch store.
///
/// Opening a store doesn't modify any file. A scratch store is in a temporary folder until
/// `close()`.
package final class ShellWorkspace {
  /// The opened store or scenario.
  package enum Subject: Sendable {
    case store(URL)
    case scenario(Scenario)
  }

  /// Where changes are saved.
  package enum Writing: String, Sendable {
    /// Nowhere: the store is open read-only.
    case never
    /// In a copy of the store, which is deleted when the shell quits.
    case copy = "write"
    /// In the store itself.
    case inPlace = "in-place"

    /// The arguments of `open` that allow changes.
    static let words = [copy.rawValue, inPlace.rawValue]
  }

  package let subject: Subject
  /// The path as typed.
  package let path: String
  package let model: NSManagedObjectModel
  /// The path that the model was read from: the model of a scenario, or the store itself.
  package var modelPath: String {
    guard case .scenario(let scenario) = subject, let url = scenario.modelURL else { return path }
    return url.relativePath
  }
  /// Whether the model is inferred from tables.
  ///
  /// This is the case for a store without a readable model.
  package let isInferred: Bool
  /// The configuration of the model that the store was made with; `nil` for all entities.
  package let configuration: String?
  /// The rows of each entity without its subentities, in the order of the scenario's data or
  /// alphabetically.
  package let counts: [EntityCount]
  /// The values of names in expressions: the rows of each entity when opened, and the scale.
  let scope: CountExpressionScope
  /// Whether a temporary copy is read because the store has a hot journal.
  package let isTemporaryCopy: Bool

  /// The original data, which a run changes only in place.
  private let data: URL
  private let scratch: URL?
  private var copies = 0
  private let writing: Writing
  /// Whether a run has saved changes to the store itself.
  private(set) var wasChanged = false

  /// Opens a scenario if the file's name ends in `.yml` or `.yaml`, or otherwise a store.
  ///
  /// - Parameters:
  ///   - path: The path, which appears in call sites and messages.
  ///   - writing: Where changes are saved; ignored for a scenario, whose scratch store can be
  ///     changed.
  /// - Throws: `InvalidInputError`, `ScenarioDiagnostics`, `CountExpressionError`, or an `NSError`
  ///   of OpenCoreData or the file system.
  package convenience init(opening path: String, writing: Writing = .never) throws {
    try InvalidInputError.checkRegularFile(path)
    let url = URL(fileURLWithPath: path)
    if ["yml", "yaml"].contains(url.pathExtension.lowercased()) {
      try self.init(scenario: try ScenarioReader.read(url, path: path))
    } else {
      try self.init(store: url, path: path, writing: writing, guesses: writing == .never)
    }
  }

  /// Opens a store with the model that it contains, and with the configuration that it was made
  /// with.
  ///
  /// **Cost:** copies the file if `writing` is `copy`; inferring a model runs several SELECTs for
  /// each table.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - path: The path, which appears in call sites and messages.
  ///   - writing: Where changes are saved.
  ///   - guesses: Whether to infer the model from the tables if the store doesn't contain one.
  /// - Throws: An `InvalidInputError`, or an `NSError` of OpenCoreData.
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
        (model, isInferred) = (read.model, read.isInferred)
        configuration = read.configuration
      } else {
        (model, isInferred) = (try NSManagedObjectModel.inStore(at: store), false)
        configuration = try model.configuration(ofStoreAt: store)
      }
    } catch let error as NSError
      where error.code == CocoaError.Code.fileWriteOutOfSpace.rawValue
      || StoreFileInspection.readingError(path: store.path) != nil
    {
      throw error
    } catch {
      throw InvalidInputError(
        kind: .unusable, message: ErrorText.of(error),
        nextStep: (writing == .never ? "" : "open it read-only, which requires no model, or ")
          + "use a scenario with `model: FILE.xcdatamodeld` and `data: {store: FILE}`")
    }
    counts = try ScenarioData.counts(
      in: store, model: model, configuration: configuration, ignoringVersions: isInferred)
    scope = CountExpressionScope(rows: EntityCount.totals(counts, in: model))
    isTemporaryCopy = try StoreFileInspection(path: store.path).method == .temporaryCopy
    guard writing == .copy else {
      data = store
      scratch = nil
      return
    }
    let folder = try ScratchFolders.make()
    scratch = folder
    data = folder.appendingPathComponent("data.sqlite")
    do {
      try StoreFile.copy(from: store, to: data, isSynced: false)
    } catch {
      ScratchFolders.remove(folder)
      throw error
    }
  }

  /// Opens a scenario and generates its data in a scratch store.
  ///
  /// **Cost:** generates all rows.
  package init(scenario: Scenario, scale: Int = 1) throws {
    let folder = try ScratchFolders.make()
    subject = .scenario(scenario)
    path = scenario.path
    writing = .copy
    model = scenario.dataModel
    isInferred = false
    isTemporaryCopy = false
    data = folder.appendingPathComponent("data.sqlite")
    scratch = folder
    do {
      let contents = try ScenarioData.make(
        scenario.data, model: scenario.dataModel, scale: scale, at: data)
      (counts, scope) = (contents.counts, contents.scope)
      configuration = contents.configuration
    } catch {
      ScratchFolders.remove(folder)
      if let invalid = error as? GeneratedRowsError { throw invalid.diagnostics(in: scenario) }
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

  /// Returns whether the store at a path is open itself, and not a copy of it.
  func uses(_ path: String) -> Bool {
    guard scratch == nil, case .store(let url) = subject else { return false }
    return url.resolvingSymlinksInPath().path
      == URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  }

  /// Whether the store is open read-only.
  package var isReadOnly: Bool { writing == .never }

  /// Whether the saves of a run are kept for the next one.
  var keepsChanges: Bool { writing == .inPlace }

  /// The versions that `migrate` can migrate a scenario's store to; `nil` for a store.
  private var versions: VersionedModel? {
    if case .scenario(let scenario) = subject { scenario.versions } else { nil }
  }

  /// The findings that the scenario suppresses; none for a store.
  var silence: [FindingSuppression] {
    if case .scenario(let scenario) = subject { scenario.silence } else { [] }
  }

  /// Records that a run has saved changes.
  func noteChange() {
    if keepsChanges { wasChanged = true }
  }

  /// Creates a cold session on the data, or on a new copy of it if the workspace has a scratch
  /// folder.
  ///
  /// This method removes the copy of the previous session, which must be closed immediately.
  func makeSession(
    sinks: [any EventSink], interruption: StepInterruption
  ) throws -> Session {
    guard let scratch else {
      return try Session(
        storeURL: data, model: model, configuration: configuration, readOnly: isReadOnly,
        ignoresVersions: isInferred, sinks: sinks, interruption: interruption)
    }
    let copy = scratch.appendingPathComponent("try-\(copies + 1).sqlite")
    try StoreFile.copy(from: data, to: copy, isSynced: false)
    let session = try Session(
      storeURL: copy, model: model, configuration: configuration, versions: versions,
      readOnly: false, sinks: sinks, interruption: interruption)
    if copies > 0 {
      try StoreFile.remove(at: scratch.appendingPathComponent("try-\(copies).sqlite"))
    }
    copies += 1
    return session
  }

  /// The name of the store file or scenario: `Moody.moody`, `Fault storm (chapter 15)`.
  package var title: String {
    switch subject {
    case .store(let url): url.lastPathComponent
    case .scenario(let scenario):
      scenario.name + (scenario.chapter.map { " (chapter \($0))" } ?? "")
    }
  }

  /// The name of the file without its extension.
  package var baseName: String {
    URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
  }

  /// The entities that have rows, with their row counts: `Continent 6, Country 60, Mood 5,000`.
  package var contents: String {
    let parts = counts.filter { $0.count > 0 }.map { "\($0.name) \(NumberText.grouped($0.count))" }
    return parts.isEmpty ? "no rows" : parts.joined(separator: ", ")
  }

  /// A short description of whether and where data is modified, and the configuration.
  package var state: String {
    configuration.map { "\(access); configuration \($0)" } ?? access
  }

  private var access: String {
    switch (subject, writing) {
    case (.scenario, _): return "scratch store, nothing cached"
    case (.store, .copy): return "working on a copy; the original store isn't modified"
    case (.store, .inPlace): return "changes are saved to the store itself"
    case (.store, .never): break
    }
    let state =
      isTemporaryCopy
      ? "has a hot journal, so a temporary copy is read; no file is modified"
      : "open read-only; no file is modified"
    return isInferred ? "\(state); no readable model, so property names are inferred" : state
  }
}

/// An open store or scenario of the shell: its name, workspace, session, and runs.
final class ShellTarget {
  let name: String
  let workspace: ShellWorkspace
  var session: Session
  /// The finished runs; each ran at least one step.
  var runs: [ShellRun] = []
  var current = ShellRun(number: 1)

  init(name: String, workspace: ShellWorkspace, session: Session) {
    self.name = name
    self.workspace = workspace
    self.session = session
  }

  /// A description: `Moody.moody · Continent 2, Mood 4 · open read-only; no file is modified`.
  var line: String {
    "\(workspace.title) · \(workspace.contents) · \(workspace.state)"
  }
}
