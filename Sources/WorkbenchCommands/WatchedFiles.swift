import Foundation
import OpenCoreData
import ScenarioLanguage
import WorkbenchText

/// The files that a scenario depends on, and their states at some time.
struct WatchedFiles: Equatable {
  /// What changes when a file is written, or replaced by another one.
  private struct State: Equatable {
    let inode: UInt64
    let size: Int64
    let seconds: Int
    let nanoseconds: Int
  }

  /// The paths of the files and folders.
  let paths: Set<String>
  private let states: [String: State]

  /// Reads the states of files, and of all files in folders.
  ///
  /// **Cost:** a `stat` for each file, and the contents of each folder.
  ///
  /// - Parameter paths: The paths; files that don't exist can be created later.
  init(_ paths: Set<String>) {
    self.paths = paths
    var states: [String: State] = [:]
    for path in paths {
      states[path] = WatchedFiles.state(of: path)
      guard let mode = FileKind.mode(of: path, followingLinks: true), mode & S_IFMT == S_IFDIR
      else { continue }
      let files = FileManager.default.enumerator(atPath: path)
      while states.count < InputLimits.watchedFiles, let name = files?.nextObject() as? String {
        states["\(path)/\(name)"] = WatchedFiles.state(of: "\(path)/\(name)")
      }
    }
    self.states = states
  }

  /// The states of the same files now.
  var now: WatchedFiles { WatchedFiles(paths) }

  /// Returns the files that a valid scenario names, with its own.
  static func paths(of scenario: Scenario) -> Set<String> {
    var paths: Set = [scenario.path]
    if let model = scenario.modelURL { paths.insert(model.path) }
    if let included = scenario.data.includedFile { paths.insert(included.path) }
    if case .copied(let store) = scenario.data.source {
      paths.formUnion([store.path, store.path + "-wal"])
    }
    let steps = scenario.steps + scenario.variants.flatMap { $0.first + $0.then }
    for step in steps {
      guard let name = step.text(of: .mapping), let url = scenario.versions?.mappingURL(name)
      else { continue }
      paths.insert(url.path)
    }
    return paths
  }

  /// Returns the files that an invalid scenario might name: its own, and all that are called
  /// `Models` and are searched for its model.
  static func paths(ofInvalidScenarioAt path: String) -> Set<String> {
    let folder = path.deletingLastPathComponent
    let start = folder.isEmpty ? "." : folder
    return [path, "\(start)/Models", "\(start)/../Models"]
  }

  private static func state(of path: String) -> State? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return State(
      inode: UInt64(status.st_ino), size: Int64(status.st_size),
      seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
  }
}
